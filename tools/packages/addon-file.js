'use strict'

// What a prebuilt addon for Linux may ask of the system and of Node, and what it may show: Node-API's promise covers neither the
// functions of libuv, OpenSSL, zlib and nghttp2 that it takes from Node, nor its C library.

const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const { cacheFolder } = require('../lib/packages')
const { kRoot } = require('../lib/project')

/** @typedef {import('../lib/targets').Target} Target */

const kExported = ['napi_register_module_v1', 'node_api_module_get_api_version_v1']
/** The oldest glibc that our packages promise to run on. */
const kGlibcMax = [2, 28]
const kLibraries = {
  glibc: /^(lib(c|m|pthread|dl)\.so\.\d|ld-linux-.+\.so\.\d)$/,
  musl: /^libc\.so$/
}

/** Node exports tens of thousands of names. */
const kOutputBytesMax = 256 * 1024 * 1024

/** @param {string} program of binutils @param {string[]} args @returns {string[]} the lines that it prints */
function linesOf (program, args) {
  const { status, stdout } = spawnSync(program, args, { encoding: 'utf8', maxBuffer: kOutputBytesMax, stdio: ['ignore', 'pipe', 'inherit'] })
  if (status !== 0) throw new Error(`${program} ${args.join(' ')} failed`)
  return stdout.split('\n').filter((line) => line !== '')
}

/** @typedef {{ name: string, version: string, type: string }} DynamicSymbol */

/** @param {Target} target @param {string} file @param {'--defined-only' | '--undefined-only'} which @returns {DynamicSymbol[]} */
function symbolsOf ({ binutils }, file, which) {
  return linesOf(`${binutils}-nm`, ['-D', which, file]).map((line) => {
    const [full, type] = line.trim().split(/\s+/).reverse()
    const [name, version = ''] = full.split(/@+/)
    return { name, version, type }
  })
}

/** @param {Target} target @param {string} file @returns {Set<string>} names that others may use */
const exportsOf = (target, file) => new Set(symbolsOf(target, file, '--defined-only').map(({ name }) => name))

/** @param {string} version of a symbol, such as GLIBC_2.17 @returns {boolean} whether it is newer than what is promised */
function isTooNew (version) {
  const [, major, minor] = /^GLIBC_(\d+)\.(\d+)/.exec(version) ?? []
  if (major === undefined) return false
  return Number(major) > kGlibcMax[0] || (Number(major) === kGlibcMax[0] && Number(minor) > kGlibcMax[1])
}

/** @param {Target} target @param {string} file @returns {string[]} the libraries that it asks for */
const neededBy = ({ binutils }, file) =>
  linesOf(`${binutils}-readelf`, ['-d', file]).flatMap((line) => /\(NEEDED\).*\[(.+)\]/.exec(line)?.[1] ?? [])

/** @param {string[]} files @returns {string[]} those that name a folder of the machine that has built them */
const filesWithPaths = (files) => files.filter((file) => {
  const content = fs.readFileSync(file)
  return [kRoot, cacheFolder()].some((folder) => content.includes(folder))
})

/**
 * @param {Target} target of Linux @param {string} addon
 * @returns {string[]} what is wrong with the file itself; none: nothing
 */
function problemsOf (target, addon) {
  const exported = [...exportsOf(target, addon)].sort()
  const tooNew = symbolsOf(target, addon, '--undefined-only').filter(({ version }) => isTooNew(version))
  const strange = neededBy(target, addon).filter((name) => !kLibraries[/** @type {'glibc' | 'musl'} */ (target.libc)].test(name))
  const withPaths = filesWithPaths([addon, `${addon}.debug`].filter((file) => fs.existsSync(file)))
  return [
    ...(exported.join() === kExported.join() ? [] : [`it exports ${exported.join(', ')}`]),
    ...tooNew.map(({ name, version }) => `${name} is of ${version}`),
    ...strange.map((name) => `it needs ${name}`),
    ...withPaths.map((file) => `${file} names a folder of this machine`)
  ]
}

/**
 * @param {Target} target of Linux @param {string} addon @param {string} node a program for that platform
 * @param {string} [libc] of musl, whose symbols have no versions to know them by
 * @returns {{ total: number, missing: string[] }} the functions that the addon takes from Node, and those that this Node has not
 */
function takenFromNode (target, addon, node, libc) {
  const ofLibc = libc === undefined ? new Set() : exportsOf(target, libc)
  const isWeak = (/** @type {string} */ type) => /^[vw]$/.test(type)
  const taken = symbolsOf(target, addon, '--undefined-only')
    .filter(({ name, version, type }) => version === '' && !isWeak(type) && !ofLibc.has(name)).map(({ name }) => name)
  const ofNode = exportsOf(target, node)
  return { total: taken.length, missing: taken.filter((name) => !ofNode.has(name)) }
}

module.exports = { problemsOf, takenFromNode }
