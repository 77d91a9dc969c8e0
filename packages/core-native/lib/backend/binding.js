'use strict'

// Loads the addon: the file that HTTPSYS_ADDON names, otherwise the one that was compiled here, otherwise the one in the platform's
// package. If all fail, the error gives the reason for each and a command that helps. Stock Node never replaces the addon
// silently.

const fs = require('node:fs')
const path = require('node:path')
const { NativeLoadError } = require('../base/errors')
const { pageUrl } = require('../base/pages')
const { kProven, platformNames, tryAddon } = require('./platform')

const kPackage = path.join(__dirname, '..', '..')
// The path is computed because bundlers do not follow such a path.
const kCompiled = path.join(kPackage, 'native', 'build', 'Release', 'httpsys.node')
/** Folder names, beside this package's folder, of the packages with an addon; group 1 is the platform. */
const kOtherPlatform = /^core-((?:linux|darwin|win32)-.+)$/

/** @type {typeof import('../../types/binding') | null} */
let binding = null

/**
 * @typedef {object} Candidate
 * @property {string} name
 * @property {() => { addon?: unknown, error?: Error }} load
 * @property {boolean} [isProven] false: the binary was built, but as far as we know never run
 */

/** @param {string} file @returns {{ addon?: unknown, error?: Error }} */
function tryFile (file) {
  try {
    return { addon: require(file) }
  } catch (error) {
    return { error: /** @type {Error} */ (error) }
  }
}

/** @returns {Candidate[]} files and packages to try in this order; the first that can be loaded is used */
function candidates () {
  const { HTTPSYS_ADDON: chosen } = process.env
  // If the user names a file, try no other.
  if (chosen) return [{ name: `HTTPSYS_ADDON=${chosen}`, load: () => tryFile(path.resolve(chosen)) }]
  return [
    ...(fs.existsSync(kCompiled) ? [{ name: kCompiled, load: () => tryFile(kCompiled) }] : []),
    ...platformNames().map((name) => ({ name: `@httpsys/core-${name}`, load: () => tryAddon(name), isProven: kProven.includes(name) }))
  ]
}

/** @returns {string[]} the platforms whose packages are installed */
function installedPlatforms () {
  try {
    return fs.readdirSync(path.join(kPackage, '..')).flatMap((name) => kOtherPlatform.exec(name)?.[1] ?? [])
  } catch {
    return []
  }
}

/** @param {string} name */
function warnOfUnproven (name) {
  process.emitWarning(
    `${name} has been compiled and, as far as is known, never been run. ${pageUrl('platforms.md')} has the table of platforms; ` +
    'HTTPSYS_BACKEND=node uses stock Node instead', { code: 'HTTPSYS_PLATFORM' })
}

/** @returns {typeof import('../../types/binding')} @throws {NativeLoadError} */
function loadBinding () {
  if (binding !== null) return binding
  /** @type {{ name: string, error: Error }[]} */
  const failures = []
  for (const { name, load, isProven = true } of candidates()) {
    const { addon, error } = load()
    if (error !== undefined) {
      failures.push({ name, error })
      continue
    }
    if (!isProven) warnOfUnproven(name)
    return (binding = /** @type {typeof import('../../types/binding')} */ (addon))
  }
  throw new NativeLoadError({
    platform: platformNames()[0], failures, folder: kPackage, installed: installedPlatforms()
  })
}

module.exports = { loadBinding }
