'use strict'

// Finds the package with the addon for the platform of this process. docs/platforms.md has the same list, with the tests that
// ran on each platform.

const fs = require('node:fs')

/** Length of the start of Node's executable that isMusl() searches for the name of musl's loader, ld-musl-<arch>.so.1. */
const kProgramHeadBytes = 4096

/** Platforms whose binary has run applications (arm64 under qemu, Windows on Wine). The binaries of the others were only built. */
const kProven = ['linux-x64-gnu', 'linux-x64-musl', 'linux-arm64-gnu', 'linux-arm64-musl', 'win32-x64']

/** @returns {boolean | null} whether Node was built for musl; null if unknown */
function isMusl () {
  try {
    const file = fs.openSync(process.execPath, 'r')
    try {
      const head = Buffer.alloc(kProgramHeadBytes)
      const bytes = fs.readSync(file, head, 0, head.length, 0)
      return head.subarray(0, bytes).includes('ld-musl')
    } finally {
      fs.closeSync(file)
    }
  } catch {
    // In a chroot without /proc the path of the program is unknown.
    return null
  }
}

/**
 * @returns {string[]} platforms as our packages' names have them, the most likely first. On Linux both C libraries are in the list,
 *   because isMusl() can be wrong (patched program, no /proc); the loader refuses a binary for the wrong one
 */
function platformNames () {
  const name = `${process.platform}-${process.arch}`
  if (process.platform !== 'linux') return [name]
  return isMusl() === true ? [`${name}-musl`, `${name}-gnu`] : [`${name}-gnu`, `${name}-musl`]
}

/**
 * Loads the addon of a platform's package. The names are literals because bundlers and tracers (esbuild, webpack, @vercel/nft) must find
 * the files; inside `try`, bundlers accept that most of the packages are not installed.
 *
 * @param {string} name of platformNames()
 * @returns {{ addon?: unknown, error?: Error }} the package's exports, or why it cannot be loaded
 */
function tryAddon (name) {
  try {
    switch (name) {
      case 'linux-x64-gnu': return { addon: require('@httpsys/core-linux-x64-gnu') }
      case 'linux-x64-musl': return { addon: require('@httpsys/core-linux-x64-musl') }
      case 'linux-arm64-gnu': return { addon: require('@httpsys/core-linux-arm64-gnu') }
      case 'linux-arm64-musl': return { addon: require('@httpsys/core-linux-arm64-musl') }
      case 'darwin-x64': return { addon: require('@httpsys/core-darwin-x64') }
      case 'darwin-arm64': return { addon: require('@httpsys/core-darwin-arm64') }
      case 'win32-x64': return { addon: require('@httpsys/core-win32-x64') }
    }
  } catch (error) {
    return { error: /** @type {Error} */ (error) }
  }
  return { error: Object.assign(new Error(`there is no package for ${name}`), { code: 'MODULE_NOT_FOUND' }) }
}

module.exports = { kProven, platformNames, tryAddon }
