'use strict'

const { UnsupportedRuntimeError } = require('./errors')

/** Runtimes that have Node's modules, but lack some of the internals below them that the engine and its servers use. */
const kOtherRuntimes = ['electron', 'bun', 'deno']

/** Oldest supported major version of Node, for both backends; the same as "engines" in package.json. */
const kOldestMajor = 20

/**
 * Refuses an unsupported runtime. Must run before any code looks for an internal member of Node: the error about a missing
 * member would hide the real cause.
 *
 * @param {string} backend
 * @param {Record<string, string | undefined>} [versions] in the form of process.versions
 * @throws ERR_HTTPSYS_UNSUPPORTED_RUNTIME
 */
function checkRuntime (backend, versions = process.versions) {
  const other = kOtherRuntimes.find((name) => versions[name] !== undefined)
  if (other !== undefined && backend === 'engine') throw new UnsupportedRuntimeError(other)
  if (other === undefined && parseInt(versions.node ?? '', 10) < kOldestMajor) throw new UnsupportedRuntimeError(`v${versions.node}`)
}

module.exports = { checkRuntime }
