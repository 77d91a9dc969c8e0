'use strict'

// A preload of test files, for the process of the file alone.

if (process.env.NODE_TEST_CONTEXT !== undefined) {
  // Programs that a test starts would take themselves for test files. node:test reads the variable when it gets its first hook or test.
  require('node:test').before(() => {})
  delete process.env.NODE_TEST_CONTEXT
  // run() takes a file that calls process.exit(0) in the middle of its tests for one that passed.
  let isOver = false
  process.on('beforeExit', () => { isOver = true })
  process.on('exit', (code) => {
    if (isOver || code !== 0) return
    console.error('process.exit() was called before the tests had ended')
    process.exitCode = 1
  })
}
