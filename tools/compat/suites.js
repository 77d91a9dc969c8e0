'use strict'

// The suites: other people's tests and our own differential programs. Where each comes from, at which
// version, and how it is run.

const path = require('node:path')
const { kRoot } = require('../lib/project')

/**
 * @typedef {object} DebianSource the upstream tarball of a Debian source package
 * @property {'debian'} kind
 * @property {string} name of the source package
 * @property {string} release that carries it
 * @property {string} version upstream's
 * @property {string[]} [members] unpack only these folders
 */

/**
 * @typedef {object} NpmSource a tarball of the npm registry that contains its tests
 * @property {'npm'} kind
 * @property {string} name
 * @property {string} version
 */

/**
 * @typedef {object} PypiSource a source distribution of PyPI
 * @property {'pypi'} kind
 * @property {string} name
 * @property {string} version
 * @property {string} sha256 of its tarball
 * @property {string[]} members unpack only these folders
 */

/**
 * @typedef {object} OwnSource programs of this repository, see test/differential
 * @property {'own'} kind
 * @property {string} name
 * @property {string} version
 * @property {string} programs their folder
 * @property {string} [lock] the folder of the lock file with what they require
 */

/**
 * @typedef {object} Suite
 * @property {string} name on the command line and in the table
 * @property {DebianSource | NpmSource | PypiSource | OwnSource} source
 * @property {'mocha' | 'node-test' | 'node-core' | 'wire' | 'differential'} runner
 * @property {string[]} files arguments of mocha; globs below the suite for node-test and wire; a pattern for node-core
 * @property {string} [version] of the suite, where the package that brings it has one of its own
 * @property {number} [limitSeconds] for one run of all tests
 * @property {string} [node] major version of Node whose suite it is
 * @property {string} [with] a package@version to install beside what the suite asks for
 */

const kDifferential = path.join(kRoot, 'test', 'differential')

/** Dependencies are resolved as of this day, so that a suite stays what it was. */
const kRegistryDate = '2026-11-20'

/** One mocha for all: it runs what was written for the older ones, and on every Node from 20. */
const kMocha = '10.8.2'

/** Linters, coverage, types and benchmarks of the suites: not needed to run tests. */
const kNotNeeded = new RegExp('^(eslint.*|@types/.*|@stylistic/.*|nyc|istanbul|c8|coveralls|neostandard|standard|prettier|' +
  'tstyche|typescript|tsd|ts-node|benchmark|autocannon|borp|cross-env|concurrently|branch-comparer|markdownlint-cli2|' +
  'semantic-release|pre-commit|auto-changelog|bufferutil|utf-8-validate|mocha|climem|globals)$')

/** @param {string} name @param {string} version @param {string} [release] @returns {DebianSource} */
const debian = (name, version, release = 'bookworm') => ({ kind: 'debian', name, release, version })

/** @param {string} name @param {string} version @returns {NpmSource} */
const npm = (name, version) => ({ kind: 'npm', name, version })

/** @param {string} name @param {string} version @param {string[]} [files] @param {string} [release] @returns {Suite} */
function mocha (name, version, files = ['test/'], release = 'bookworm') {
  return { name, source: debian(`node-${name}`, version, release), runner: 'mocha', files }
}

/** @param {string} name @param {string} version @param {string[]} [files] @returns {Suite} */
function nodeTest (name, version, files = ['test/**/*.test.js']) {
  return { name, source: npm(name, version), runner: 'node-test', files, limitSeconds: 300 }
}

/** @param {string} name @param {string} programs @param {string} [lock] @returns {Suite} */
function differential (name, programs, lock) {
  const { version } = require('@httpsys/core-native/package.json')
  return { name, source: { kind: 'own', name, version, programs, lock }, runner: 'differential', files: [] }
}

const kEnv = ['--require', './test/support/env.js', 'test/']

/** @type {Suite[]} */
const kSuites = [
  differential('differential', path.join(kDifferential, 'programs')),
  differential('frameworks', path.join(kDifferential, 'frameworks', 'programs'), path.join(kDifferential, 'frameworks')),
  mocha('express', '4.18.2', [...kEnv, 'test/acceptance/']),
  mocha('connect', '3.7.0', kEnv),
  mocha('ws', '8.18.1', ['test/*.test.js'], 'trixie'),
  mocha('body-parser', '1.20.1', kEnv),
  mocha('compression', '1.7.4'),
  mocha('errorhandler', '1.5.1'),
  mocha('finalhandler', '1.2.0'),
  mocha('morgan', '1.10.0'),
  mocha('on-finished', '2.4.1'),
  mocha('on-headers', '1.0.2'),
  mocha('raw-body', '2.5.1'),
  mocha('response-time', '2.3.2'),
  mocha('serve-index', '1.9.1', ['test/'], 'sid'),
  mocha('vhost', '3.0.2'),
  { name: 'terminus', source: npm('@godaddy/terminus', '4.12.1'), runner: 'mocha', files: ['index.spec.js', 'lib/**/*.spec.js'] },
  nodeTest('pino-http', '11.0.0', ['test/test.js']),
  { ...nodeTest('fastify', '5.12.8'), limitSeconds: 900 },
  nodeTest('@fastify/express', '4.0.7'),
  nodeTest('@fastify/middie', '9.3.6'),
  nodeTest('@fastify/websocket', '11.3.6'),
  nodeTest('@fastify/static', '10.1.11'),
  nodeTest('@fastify/multipart', '10.1.9'),
  {
    name: 'node-http',
    source: { ...debian('nodejs', '20.19.2', 'trixie'), members: ['test/common', 'test/fixtures', 'test/parallel', 'test/sequential'] },
    runner: 'node-core',
    files: ['^(parallel|sequential)/test-http-'],
    node: '20',
    limitSeconds: 900,
  },
  {
    // llhttp's fixtures come with aiohttp, which has it as a submodule.
    name: 'wire',
    version: '9.4.2',
    source: {
      kind: 'pypi',
      name: 'aiohttp',
      version: '3.14.5',
      sha256: '5558a7f5a05af9ecf744af91e5baefc436f93c9333e656c27ec253f9a6bbe178',
      members: ['vendor/llhttp/test'],
    },
    runner: 'wire',
    files: ['vendor/llhttp/test/request/*.md'],
  },
]

module.exports = { kMocha, kNotNeeded, kRegistryDate, kSuites }
