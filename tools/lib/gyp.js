'use strict'

// How the addon is compiled, by native/binding.gyp and native/sources.js: builds without node-gyp read it here.

const fs = require('node:fs')
const path = require('node:path')
const vm = require('node:vm')
const sources = require('../../packages/core-native/native/sources')
const { nodeAddonApi, pinnedHeaders } = require('./packages')
const { kCoreNative } = require('./project')

/** Where node-gyp builds. Not the package's root: a binding.gyp there makes `npm ci` compile, whatever the manifest says. */
const kNative = path.join(kCoreNative, 'native')

/** The addon that `npm run build` makes. */
const kAddon = addonOf('Release')

/** @typedef {import('../../packages/core-native/native/sources').GypSystem} GypSystem */

/** @param {'Release' | 'Debug'} configuration @returns {string} */
function addonOf (configuration) {
  return path.join(kNative, 'build', configuration, 'httpsys.node')
}

/** @returns {any} what all targets have in common */
function readDefaults () {
  const text = fs.readFileSync(path.join(kNative, 'binding.gyp'), 'utf8').replace(/^\s*#.*$/gm, '')
  // A literal of Python that JavaScript reads the same way.
  return vm.runInNewContext(`(${text})`).target_defaults
}

/** @param {string} condition @param {GypSystem} system */
function holds (condition, system) {
  const [, wanted] = /^OS=="(\w+)"$/.exec(condition) ?? []
  if (wanted === undefined) throw new Error(`binding.gyp: the condition ${condition} is of no known form`)
  return wanted === system
}

/** @param {GypSystem} system @returns {any[]} what all targets have in common, and what conditions add to it there */
function partsOn (system) {
  const defaults = readDefaults()
  const chosen = defaults.conditions.map((/** @type {any[]} */ [condition, then, otherwise = {}]) => holds(condition, system) ? then : otherwise)
  return [defaults, ...chosen]
}

/** @param {GypSystem} system @returns {string[]} relative to packages/core-native, with slashes */
function sourcesOn (system) {
  return sources.sourcesOn(system).map((file) => `src/${file}`)
}

/** @param {GypSystem} system @returns {string[]} what the compiler is told, as `-D` options */
function definesOn (system) {
  return partsOn(system).flatMap(({ defines = [] }) => defines).map((name) => `-D${name}`)
}

/** @returns {string[]} options of gcc and clang: where headers are, and names for these folders that are the same on every machine */
function folderFlags () {
  const names = { [kCoreNative]: 'httpsys', [pinnedHeaders()]: 'node', [nodeAddonApi()]: 'node-addon-api' }
  return [
    ...Object.entries(names).map(([folder, name]) => `-ffile-prefix-map=${folder}=${name}`),
    '-I', path.join(kCoreNative, 'src'), '-isystem', pinnedHeaders(), '-isystem', nodeAddonApi()
  ]
}

module.exports = { addonOf, definesOn, folderFlags, kAddon, kNative, sourcesOn }
