#!/usr/bin/env node
'use strict'

const { run } = require('../lib/program')

// Exit silently if the reader of the output ends first, as in `httpsys show servicestate | head`.
process.stdout.on('error', (error) => {
  if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'EPIPE') throw error
  process.exit()
})

run(process.argv.slice(2)).then((code) => {
  // exit(), because a port that did not answer may have left a handle open; the callback waits until the output is written.
  process.stdout.write('', () => process.exit(code))
})
