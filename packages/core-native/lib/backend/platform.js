'use strict'

// Names the package that has the addon for the platform that this process runs on. docs/platforms.md has the same table, with what
// was run where.

const fs = require('node:fs')

/** A musl Node names its loader, ld-musl-<arch>.so.1, in the first bytes of its file. */
const kProgramHeadBytes = 4096

/** Applications have been run on the package's binary, on arm64 under qemu, on Windows' on Wine; the others have only been built. */
const kProven = ['linux-x64-gnu', 'linux-x64-musl', 'linux-arm64-gnu', 'linux-arm64-musl', 'win32-x64']

/** @returns {boolean | null} whether Node was built for musl; null where it cannot be told */
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
    // In a chroot without /proc there is no path of the program.
    return null
  }
}

/**
 * @returns {string[]} the platform in our packages' names, the most likely first: where the C library cannot be told for sure
 *   (a patched program, no /proc) loading tells, since a binary of the other one is refused
 */
function platformNames () {
  const name = `${process.platform}-${process.arch}`
  if (process.platform !== 'linux') return [name]
  return isMusl() === true ? [`${name}-musl`, `${name}-gnu`] : [`${name}-gnu`, `${name}-musl`]
}

/**
 * The names are literal, so that bundlers and tracers (esbuild, webpack, @vercel/nft) find the files; within `try` bundlers take it that
 * most of them are not installed.
 *
 * @param {string} name of platformNames()
 * @returns {{ addon?: unknown, error?: Error }} what the package exports, or why it cannot be had
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
