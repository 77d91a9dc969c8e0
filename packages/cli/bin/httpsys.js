#!/usr/bin/env node
'use strict'

const { run } = require('../lib/program')

// `httpsys show servicestate | head` ends early on purpose.
process.stdout.on('error', (error) => {
  if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'EPIPE') throw error
  process.exit()
})

run(process.argv.slice(2)).then((code) => {
  // A port that did not answer may have left something open; what was written goes out first.
  process.stdout.write('', () => process.exit(code))
})
