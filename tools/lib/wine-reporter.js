'use strict'

// A reporter of node:test for tools/wine.js: one line of JSON per test that has no tests of its own.

/** @param {any} data of an event @returns {string} */
function whyOf ({ skip, todo, details }) {
  if (skip !== undefined) return String(skip)
  const error = details?.error?.cause ?? details?.error
  return error === undefined ? String(todo ?? '') : String(error?.stack ?? error)
}

/** @param {AsyncIterable<{ type: string, data: any }>} source */
module.exports = async function * report (source) {
  for await (const { type, data } of source) {
    if (type !== 'test:pass' && type !== 'test:fail') continue
    const isSkipped = data.skip !== undefined && data.skip !== false
    const result = isSkipped ? 'skipped' : type === 'test:pass' ? 'passed' : 'failed'
    // A file and its tests: what failed below is told there.
    if (data.details?.type === 'suite' && result === 'passed') continue
    yield `${JSON.stringify({ name: data.name, result, why: result === 'passed' ? '' : whyOf(data) })}\n`
  }
  yield '{"end":true}\n'
}
