'use strict'

// A node:test reporter: one line of JSON a test, named by its file and the tests around it.

const fs = require('node:fs')
const path = require('node:path')

/** @param {AsyncIterable<any>} source */
module.exports = async function * compatReporter (source) {
  const file = /** @type {string} */ (process.env.HTTPSYS_COMPAT_RESULTS)
  /** @type {string[]} */
  const names = []
  for await (const { type, data } of source) {
    if (type === 'test:start') {
      names.length = data.nesting
      names[data.nesting] = data.name
    }
    if (type !== 'test:pass' && type !== 'test:fail') continue
    const error = data.details.error
    // Counted by its parts already.
    if (error?.failureType === 'subtestsFailed' || data.details.type === 'suite') continue
    const isFile = data.nesting === 0 && path.resolve(data.name) === data.file
    // Node reports a file as a test only when the file itself failed or is empty.
    if (isFile && type === 'test:pass') continue
    const where = data.file === undefined ? '' : `${path.relative(process.cwd(), data.file)}: `
    const name = isFile ? 'the file' : [...names.slice(0, data.nesting), data.name].join(' > ')
    const result = data.skip !== undefined || data.todo !== undefined ? 'skip' : type === 'test:pass' ? 'pass' : 'fail'
    const cause = error?.cause ?? error
    fs.appendFileSync(file, `${JSON.stringify({ test: where + name, result, error: result === 'fail' ? String(cause?.stack ?? cause).slice(0, 1500) : undefined })}\n`)
  }
}
