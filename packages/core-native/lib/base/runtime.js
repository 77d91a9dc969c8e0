'use strict'

const { UnsupportedRuntimeError } = require('./errors')

/** Runtimes that have Node's modules, and not all of what the engine and its servers take from below these. */
const kOtherRuntimes = ['electron', 'bun', 'deno']

/** Asked before anything looks for a member of Node: what is missing there would only be a symptom. */
function checkRuntime () {
  const other = kOtherRuntimes.find((name) => process.versions[name] !== undefined)
  if (other !== undefined) throw new UnsupportedRuntimeError(other)
}

module.exports = { checkRuntime }
