'use strict'

// A node:test reporter for many files: one line a file, details of failures and reasons of skips only.
// The names of failed files also go into the file that HTTPSYS_FAILED_FILES names.

const fs = require('node:fs')
const path = require('node:path')

/** @param {any} event @returns {string} */
function fileOf (event) {
  return event.file === undefined ? '' : path.relative(process.cwd(), event.file)
}

/** @param {unknown} error */
function describeError (error) {
  const inner = error instanceof Error && error.cause instanceof Error ? error.cause : error
  const text = inner instanceof Error ? inner.stack ?? inner.message : String(inner)
  return text.split('\n').map((line) => `    ${line}`).join('\n')
}

/** @param {any} event @param {string} title */
function describeFailure (event, title) {
  return `\n  FAILED ${title}\n    at ${fileOf(event)}:${event.line ?? 0}\n${describeError(event.details.error)}\n`
}

/** @typedef {{ tests: number, failed: number, skipped: number, ms: number }} Tally */

/** @param {string} file @param {Tally} tally */
function fileLine (file, { tests, failed, skipped, ms }) {
  const state = failed > 0 ? 'FAIL' : 'ok  '
  const extra = `${failed > 0 ? `, ${failed} failed` : ''}${skipped > 0 ? `, ${skipped} skipped` : ''}`
  return `${state} ${file} (${tests} tests${extra}, ${(ms / 1000).toFixed(1)} s)\n`
}

/** @param {AsyncIterable<any>} source */
module.exports = async function * reporter (source) {
  /** @type {Map<string, Tally>} */
  const files = new Map()
  const tallyOf = (/** @type {string} */ file) => {
    const tally = files.get(file) ?? { tests: 0, failed: 0, skipped: 0, ms: 0 }
    files.set(file, tally)
    return tally
  }
  for await (const { type, data } of source) {
    if (type === 'test:stdout' || type === 'test:stderr') {
      yield data.message
      continue
    }
    if (type !== 'test:pass' && type !== 'test:fail') continue
    const file = fileOf(data)
    // Node reports each file as a test around its tests only when the file itself failed or is empty.
    const isFile = data.nesting === 0 && path.resolve(data.name) === data.file
    const tally = tallyOf(file)
    if (!isFile && data.details.type !== 'suite') tally.tests++
    if (data.nesting === 0) tally.ms += data.details.duration_ms
    if (data.skip !== undefined) {
      tally.skipped++
      yield `  skipped: ${data.name}${typeof data.skip === 'string' ? ` (${data.skip})` : ''}\n`
    }
    if (type === 'test:fail' && data.todo === undefined) {
      const kind = data.details.error?.failureType
      if (kind === 'subtestsFailed') continue
      tally.failed++
      yield describeFailure(data, data.name)
    }
  }
  const report = process.env.HTTPSYS_FAILED_FILES
  if (report) fs.writeFileSync(report, JSON.stringify([...files].filter(([, tally]) => tally.failed > 0).map(([file]) => file)))
  let tests = 0
  let failed = 0
  let skipped = 0
  for (const [file, tally] of [...files].sort(([a], [b]) => a < b ? -1 : 1)) {
    yield fileLine(file, tally)
    tests += tally.tests
    failed += tally.failed
    skipped += tally.skipped
  }
  yield `${tests} tests in ${files.size} files: ${tests - failed - skipped} passed, ${failed} failed, ${skipped} skipped\n`
}
