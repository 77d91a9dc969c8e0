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
 * @property {string} [exact] Debian's version, where the release carries several of the package
 * @property {string[]} [members] unpack only these folders
 * @property {string} [folder] kept under this name, for several suites
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
 * @typedef {object} GitSource a repository, for a suite that no registry has
 * @property {'git'} kind
 * @property {string} name
 * @property {string} version
 * @property {string} url
 * @property {string} commit of that version; Git compares the files with it
 */

/**
 * @typedef {object} OwnSource programs of this repository, see test/differential
 * @property {'own'} kind
 * @property {string} name
 * @property {string} version
 * @property {string} programs their folder
 * @property {string} [lock] the folder of the lock file with what they require
 * @property {string} [node] major version of Node that installs and builds that, and runs it
 */

/**
 * @typedef {object} FolderSource a checkout that the user names
 * @property {'folder'} kind
 * @property {string} name
 * @property {string} version
 * @property {string} folder
 */

/**
 * @typedef {object} Suite
 * @property {string} name on the command line and in the table
 * @property {DebianSource | NpmSource | PypiSource | GitSource | OwnSource | FolderSource} source
 * @property {'mocha' | 'node-test' | 'node-core' | 'wire' | 'cache-tests' | 'differential' | 'one-port'} runner
 * @property {string[]} files arguments of mocha; globs below the suite for node-test, byFile and wire; a pattern for node-core
 * @property {string} [version] of the suite, where the package that brings it has one of its own
 * @property {number} [limitSeconds] for one run of all tests
 * @property {string} [node] major version of Node whose suite it is
 * @property {string} [mentions] node-core: only files in whose text this pattern is found
 * @property {string} [preload] a file beside this one, loaded after the engine took the place of http
 * @property {'https' | 'http2'} [over] what ours speaks in place of plain HTTP/1.1
 * @property {string} [base] the suite that is run over something else
 * @property {NpmSource} [target] laid over the suite: its tests are run against this package
 * @property {string[]} [byFile] mocha, once for each file, with these arguments: some files may not even load
 * @property {string} [mocha] the version it needs, where ours cannot run it
 * @property {number} [share] node-core: of the files that reach a server and pass on stock, at least this part passes on ours
 * @property {boolean} [elsewhere] run in a copy in the temporary folder: its tests serve files by absolute paths, of which
 *   the folder `.cache` would make hidden files
 * @property {string[]} [needs] packages that its tests require, where its package.json names many more; with versions
 * @property {'rfc9111'} [cache] cache-tests: the rules of the cache that ours has
 * @property {number} [requiredLeast] cache-tests: the part of the required tests that ours must pass
 * @property {number} [optimalLost] cache-tests: how many of the optimal tests ours may fail
 * @property {Partial<Suite>} [fast] belongs to the fast part, with these properties
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
  const { version } = require('../../packages/core-native/package.json')
  return { name, source: { kind: 'own', name, version, programs, lock }, runner: 'differential', files: [] }
}

/** @returns {Suite} programs that share a port by HTTPSYS_LISTEN */
function onePort () {
  const { version } = require('../../packages/core-native/package.json')
  const lock = path.join(kRoot, 'test', 'compat', 'one-port')
  return { name: 'one-port', source: { kind: 'own', name: 'one-port', version, programs: path.join(lock, 'programs'), lock, node: '24' }, runner: 'one-port', files: [] }
}

const kRequireEnv = ['--require', './test/support/env.js']
const kEnv = [...kRequireEnv, 'test/']

/** The tests of express 4.18.2 against another express. @param {string} name @param {string} version @param {Partial<Suite>} [more] @returns {Suite} */
function expressOver (name, version, more) {
  return { ...mocha('express', '4.18.2', ['test/*.js', 'test/acceptance/*.js']), name, target: npm('express', version), byFile: kRequireEnv, ...more }
}

/**
 * Which release of Debian has the tests of a line of Node. sid has more than one line, and apt takes the newest unless it
 * is told the version; forky's 24 is older than that of sid, whose tarball left the archive before its index did.
 *
 * @type {Record<string, { version: string, release: string, exact?: string }>}
 */
const kNodeSources = {
  20: { version: '20.19.2', release: 'trixie' },
  22: { version: '22.22.2', release: 'sid', exact: '22.22.2+dfsg+~cs22.19.15-3' },
  24: { version: '24.21.0', release: 'forky' },
}

/** @param {string} line of Node, its major version @param {string} name @param {string} files @param {Partial<Suite>} [more] @returns {Suite} some of Node's own tests */
function nodeCore (line, name, files, more) {
  const members = ['common', 'fixtures', 'parallel', 'sequential', 'async-hooks'].map((member) => `test/${member}`)
  const { version, release, exact } = kNodeSources[line]
  const source = { ...debian('nodejs', version, release), exact, folder: 'nodejs', members }
  return { name, source, runner: 'node-core', files: [files], node: line, limitSeconds: 900, ...more }
}

/**
 * @param {string} line
 * @param {string} name before those of the three
 * @param {Partial<Suite>} [http] of the first
 * @returns {Suite[]} what of Node's own tests is about servers of HTTP
 */
const nodeSuites = (line, name, http) => [
  nodeCore(line, `${name}-http`, '^(parallel|sequential)/test-http-', { share: 0.98, ...http }),
  // 48 to 54 files reach a server: one of them is 2 %.
  nodeCore(line, `${name}-https`, '^(parallel|sequential)/test-https-', { share: 0.97 }),
  // Cluster, domains, streams, async_hooks, https and http2: whatever else of Node's uses node:http.
  nodeCore(line, `${name}-more`, '^(parallel|sequential|async-hooks)/test-(?!http-)', { mentions: 'require\\([\'"](node:)?http[\'"]\\)' }),
]

/** Of the required tests of the repository; the package has fewer. */
const kCacheRequired = 155 / 160
/** Of its 105 optimal tests: 20 ask for what the rules of safety forbid, or an option allows. The package has the same ones. */
const kCacheOptimalLost = 25

/** The npm package lacks the newest tests; a checkout of github.com/http-tests/cache-tests has all. @type {string | undefined} */
const kCacheCheckout = process.env.HTTPSYS_CACHE_TESTS

/** @type {Pick<Suite, 'source' | 'runner' | 'files' | 'needs'>} */
const kCacheTests = kCacheCheckout === undefined
  ? { source: npm('http-cache-tests', '0.4.5'), runner: 'cache-tests', files: [], needs: ['node-fetch@2'] }
  : { source: { kind: 'folder', name: 'cache-tests', version: 'checkout', folder: kCacheCheckout }, runner: 'cache-tests', files: [], needs: ['undici@7'] }

/** @type {Suite[]} */
const kPlain = [
  differential('differential', path.join(kDifferential, 'programs')), // npm test runs these by themselves
  differential('frameworks', path.join(kDifferential, 'frameworks', 'programs'), path.join(kDifferential, 'frameworks')),
  onePort(),
  { ...mocha('express', '4.18.2', [...kEnv, 'test/acceptance/']), fast: {} },
  expressOver('express-4.22', '4.22.3'),
  expressOver('express-5', '5.3.0', { fast: {} }),
  { ...mocha('connect', '3.7.0', kEnv), fast: {} },
  { ...mocha('ws', '8.18.1', ['test/*.test.js'], 'trixie'), fast: {} },
  {
    // Those of its tests that have servers, with ours in their place, built on the ws that we install.
    ...mocha('ws', '8.18.1', ['test/websocket.test.js', 'test/websocket-server.test.js', 'test/create-websocket-stream.test.js'], 'trixie'),
    name: 'ws-fast-path',
    target: npm('ws', '8.23.0'),
    preload: 'websocket-preload.js',
    fast: {},
  },
  mocha('body-parser', '1.20.1', kEnv),
  mocha('compression', '1.7.4'),
  mocha('errorhandler', '1.5.1'),
  mocha('finalhandler', '1.2.0'),
  mocha('morgan', '1.10.0'),
  mocha('on-finished', '2.4.1'),
  mocha('on-headers', '1.0.2'),
  mocha('raw-body', '2.5.1'),
  mocha('response-time', '2.3.2'),
  { ...mocha('send', '1.2.1', ['test/'], 'forky'), elsewhere: true },
  mocha('serve-index', '1.9.1', ['test/'], 'sid'),
  mocha('serve-static', '2.2.1', ['test/'], 'forky'),
  {
    // Neither npm's nor Debian's package of koa-send has its tests.
    name: 'koa-send',
    source: { kind: 'git', name: 'koa-send', version: '5.0.1', url: 'https://github.com/koajs/send', commit: 'e9c33460ac6d41512661d44c4ca445199bdafaa1' },
    runner: 'mocha',
    files: ['--require', path.join(__dirname, 'brotli-stand-in.js'), 'test/'],
    elsewhere: true,
  },
  { ...nodeTest('@fastify/send', '4.2.1', ['test/*.test.js']), elsewhere: true },
  mocha('vhost', '3.0.2'),
  // The redirect test fails on every Node 20, and its second answer throws when another test already runs.
  { ...mocha('http-proxy', '1.18.1', ['--grep', 'follow redirects', '--invert', 'test/*-test.js']), mocha: '3.5.3' },
  { name: 'terminus', source: npm('@godaddy/terminus', '4.12.1'), runner: 'mocha', files: ['index.spec.js', 'lib/**/*.spec.js'] },
  nodeTest('pino-http', '11.0.0', ['test/test.js']),
  { ...nodeTest('fastify', '5.12.8'), limitSeconds: 900 },
  nodeTest('@fastify/express', '4.0.7'),
  nodeTest('@fastify/middie', '9.3.6'),
  nodeTest('@fastify/websocket', '11.3.6'),
  nodeTest('@fastify/static', '10.1.11'),
  nodeTest('@fastify/multipart', '10.1.9'),
  nodeTest('@fastify/compress', '9.2.0'),
  nodeTest('@fastify/http-proxy', '11.6.3'),
  nodeTest('@fastify/reply-from', '12.6.5'),
  // Those without a server, and those that wait for real time, are left to the complete run.
  ...nodeSuites('20', 'node', { fast: { files: ['^parallel/test-http-'], mentions: 'Server' } }),
  // The same of newer lines, each on its own Node. Of 22, the six known differences of 299 files are 2.007 %.
  ...nodeSuites('22', 'node22', { share: 0.979 }),
  ...nodeSuites('24', 'node24'),
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
  // The same tests twice: behind our cache, and on our server without one, where each must come out as on stock Node.
  { name: 'cache-tests', ...kCacheTests, cache: 'rfc9111', requiredLeast: kCacheRequired, optimalLost: kCacheOptimalLost },
  { name: 'cache-tests-uncached', base: 'cache-tests', ...kCacheTests },
]

/** Run once more with another protocol on ours and the same one on stock: the same tests count. Node has test-https-* of its own. */
const kOver = {
  https: ['express', 'express-4.22', 'express-5', 'connect'],
  http2: ['express', 'express-4.22', 'express-5', 'connect', 'node-http']
}
/** What of these `npm test -- --all` has time for. */
const kOverFast = ['connect', 'express']

/** @param {'https' | 'http2'} over @returns {Suite[]} */
const suitesOver = (over) => kPlain.filter(({ name }) => kOver[over].includes(name)).map(({ fast, share, ...suite }) => ({
  ...suite, name: `${suite.name}-${over}`, base: suite.name, over, preload: 'over-preload.js', ...kOverFast.includes(suite.name) ? { fast: {} } : {}
}))

const kSuites = [...kPlain, ...suitesOver('https'), ...suitesOver('http2')]

module.exports = { kMocha, kNotNeeded, kRegistryDate, kSuites }
