'use strict'

// The reporter of node:test that tools/lib/test-runner.js starts each test file with: one line of JSON for each test,
// and a last one when all of them have ended.

const fs = require('node:fs')

/** Node's own counts, which come the same way as what tests note. */
const kSummary = /^(tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) [\d.]+$/

/** @param {unknown} error */
function describeError (error) {
  const inner = error instanceof Error && error.cause instanceof Error ? error.cause : error
  return inner instanceof Error ? inner.stack ?? inner.message : String(inner)
}

/** @returns {number | null} seconds of CPU that this process and its ended children have taken; null where nothing tells */
function cpuSeconds () {
  try {
    // Behind the name, which may hold anything: state is field 3, utime, stime, cutime, cstime are 14 to 17 (in 1/100 s).
    const fields = fs.readFileSync('/proc/self/stat', 'latin1').replace(/^.*\) /s, '').split(' ')
    return fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0) / 100
  } catch {
    return null
  }
}

/**
 * @typedef {object} Event what a line holds
 * @property {'passed' | 'failed' | 'skipped' | 'note' | 'end'} type
 * @property {string} [name] of the test
 * @property {number} [line] of its file
 * @property {string} [text] the error, why it was skipped, or what it noted
 * @property {number | null} [cpu] at the end
 */

/** @param {string} type @param {any} data of node:test @returns {Event | null} */
function toEvent (type, data) {
  if (type === 'test:diagnostic') return kSummary.test(data.message) ? null : { type: 'note', text: data.message }
  if (type !== 'test:pass' && type !== 'test:fail') return null
  const { name, line, skip, todo, details } = data
  if (skip !== undefined && skip !== false) return { type: 'skipped', name, text: typeof skip === 'string' ? skip : '' }
  if (type === 'test:fail' && todo === undefined) {
    // What failed inside it has been told.
    if (details.error?.failureType === 'subtestsFailed') return null
    return { type: 'failed', name, line, text: describeError(details.error) }
  }
  return details.type === 'suite' ? null : { type: 'passed', name }
}

/** @param {AsyncIterable<{ type: string, data: any }>} source */
module.exports = async function * reporter (source) {
  for await (const { type, data } of source) {
    const event = toEvent(type, data)
    if (event !== null) yield `${JSON.stringify(event)}\n`
  }
  yield `${JSON.stringify({ type: 'end', cpu: cpuSeconds() })}\n`
}
