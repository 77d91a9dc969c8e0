'use strict'

// Goal: errors of the system have the names that Node has for them, and the system's where Node has none.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const { constants } = require('node:os')
const { errnoOf, systemError, systemErrorText } = require('../lib/base/system-error')

test('an error has the name that Node has for it', () => {
  assert.equal(systemError(errnoOf('ENOENT'), 'open').code, 'ENOENT')
  assert.equal(systemErrorText(errnoOf('ENOENT')), 'no such file or directory')
})

test('an error that libuv does not know has the name of the system', { skip: process.platform === 'win32' && 'Windows has other numbers' }, () => {
  const { code, message, errno } = systemError(-constants.errno.ESTALE, 'open')
  assert.deepEqual([code, message, errno], ['ESTALE', 'open ESTALE', -constants.errno.ESTALE])
  assert.equal(systemErrorText(-constants.errno.ESTALE), 'stale file handle')
})

test('a number that is no error has a name that says so', () => {
  assert.match(systemError(-99_999, 'open').code, /Unknown system error -99999/)
})
