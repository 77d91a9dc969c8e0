'use strict'

// A mocha reporter: one line of JSON a test, written at once, so that a run that hangs keeps its results.

const fs = require('node:fs')

/** @param {any} runner */
module.exports = function CompatReporter (runner) {
  const file = /** @type {string} */ (process.env.HTTPSYS_COMPAT_RESULTS)
  const write = (/** @type {string} */ result) => (/** @type {any} */ test, /** @type {any} */ error) => {
    fs.appendFileSync(file, `${JSON.stringify({ test: test.fullTitle(), result, error: error === undefined ? undefined : String(error?.stack ?? error).slice(0, 1500) })}\n`)
  }
  runner.on('pass', write('pass'))
  runner.on('fail', write('fail'))
  runner.on('pending', write('skip'))
}
