'use strict'

const { UnsupportedRuntimeError } = require('./errors')

/** Runtimes that have Node's modules, and not all of what the engine and its servers take from below these. */
const kOtherRuntimes = ['electron', 'bun', 'deno']

/** As "engines" of package.json: what the oldest supported line of Node has, both backends build on. */
const kOldestMajor = 20

/**
 * Asked before anything looks for a member of Node: what is missing there would only be a symptom.
 *
 * @param {string} backend
 * @param {Record<string, string | undefined>} [versions] those of a process
 * @throws ERR_HTTPSYS_UNSUPPORTED_RUNTIME
 */
function checkRuntime (backend, versions = process.versions) {
  const other = kOtherRuntimes.find((name) => versions[name] !== undefined)
  if (other !== undefined && backend === 'engine') throw new UnsupportedRuntimeError(other)
  if (other === undefined && parseInt(versions.node ?? '', 10) < kOldestMajor) throw new UnsupportedRuntimeError(`v${versions.node}`)
}

module.exports = { checkRuntime }
