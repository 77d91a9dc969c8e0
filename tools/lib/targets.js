'use strict'

// The platforms of which there are packages, and how their addons are made. docs/platforms.md says what was run where.

/**
 * @typedef {object} Target
 * @property {string} name that the package's name ends with
 * @property {NodeJS.Platform} os
 * @property {string} cpu as process.arch has it
 * @property {'glibc' | 'musl'} [libc] as npm has it
 * @property {import('./gyp').GypSystem} gyp
 * @property {string} [zig] what the compiler calls it; without it mingw-w64 compiles
 * @property {string} [binutils] prefix of the programs that take debug symbols out; without it the linker drops them
 */

/** The oldest glibc of Node 20's own builds. */
const kGlibc = '2.28'
/** Node 20's own least. */
const kMacos = '11.0'

/** @type {Target[]} */
const kTargets = [
  { name: 'linux-x64-gnu', os: 'linux', cpu: 'x64', libc: 'glibc', gyp: 'linux', zig: `x86_64-linux-gnu.${kGlibc}`, binutils: 'x86_64-linux-gnu' },
  { name: 'linux-x64-musl', os: 'linux', cpu: 'x64', libc: 'musl', gyp: 'linux', zig: 'x86_64-linux-musl', binutils: 'x86_64-linux-gnu' },
  { name: 'linux-arm64-gnu', os: 'linux', cpu: 'arm64', libc: 'glibc', gyp: 'linux', zig: `aarch64-linux-gnu.${kGlibc}`, binutils: 'aarch64-linux-gnu' },
  { name: 'linux-arm64-musl', os: 'linux', cpu: 'arm64', libc: 'musl', gyp: 'linux', zig: 'aarch64-linux-musl', binutils: 'aarch64-linux-gnu' },
  { name: 'darwin-x64', os: 'darwin', cpu: 'x64', gyp: 'mac', zig: `x86_64-macos.${kMacos}` },
  { name: 'darwin-arm64', os: 'darwin', cpu: 'arm64', gyp: 'mac', zig: `aarch64-macos.${kMacos}` },
  { name: 'win32-x64', os: 'win32', cpu: 'x64', gyp: 'win' }
]

/** @param {string[]} names none: all @returns {Target[]} */
function targetsOf (names) {
  const unknown = names.filter((name) => !kTargets.some((target) => target.name === name))
  if (unknown.length > 0) throw new Error(`No platform is called ${unknown.join(', ')}. There are ${kTargets.map(({ name }) => name).join(', ')}`)
  return kTargets.filter(({ name }) => names.length === 0 || names.includes(name))
}

module.exports = { kTargets, targetsOf }
