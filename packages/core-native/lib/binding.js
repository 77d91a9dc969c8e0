'use strict'

// Loads the addon. When that fails the error says what is wrong and which command helps; stock Node is
// never used silently in its place.

const path = require('node:path')
const { NativeLoadError, UnsupportedRuntimeError } = require('./errors')

const kAddon = path.join(__dirname, '..', 'build', 'Release', 'httpsys.node')

/** @type {typeof import('../types/binding') | null} */
let binding = null

/** @returns {typeof import('../types/binding')} */
function loadBinding () {
  if (binding !== null) return binding
  for (const runtime of ['electron', 'bun']) {
    if (process.versions[runtime] !== undefined) throw new UnsupportedRuntimeError(runtime)
  }
  try {
    binding = require(process.env.HTTPSYS_ADDON || kAddon)
  } catch (error) {
    throw new NativeLoadError(/** @type {Error} */ (error))
  }
  return /** @type {typeof import('../types/binding')} */ (binding)
}

module.exports = { loadBinding }
