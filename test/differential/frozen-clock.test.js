'use strict'

// The programs of differential.test.js once more, in a process whose clock the application has replaced and nobody moves:
// fake timers (jest, sinon, lolex) are the application's, and nothing of ours may wait for them.

const assert = require('node:assert/strict')
const { describe, it } = require('node:test')
const { kFrozenClock, kRegister, programs, runProgram } = require('./run-program')

describe('differential programs with a clock that stands still', { concurrency: 2 }, () => {
  for (const program of programs().filter(({ needsClock }) => !needsClock)) {
    it(program.name, async () => {
      const expected = await runProgram(program, null)
      const actual = await runProgram(program, kRegister, {}, undefined, [kFrozenClock])
      assert.equal(actual.output, expected.output)
      assert.ok(actual.served.servers > 0, 'the engine had no server')
    })
  }
})
