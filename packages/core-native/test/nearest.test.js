'use strict'

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { misspelt, nearest } = require('../lib/base/nearest')

test('a misspelling has one error in six letters, two in eleven, and any case', () => {
  const names = ['http2', 'prefix', 'queueLimit', 'maxRequestBodySize']
  for (const [word, meant] of [
    ['HTTP2', 'http2'], ['https', undefined], ['http', undefined], ['htpt2', undefined],
    ['perfix', 'prefix'], ['prefx', 'prefix'], ['prefixx', 'prefix'], ['prefax', 'prefix'], ['suffix', undefined], ['pre', undefined],
    ['queulimit', 'queueLimit'], ['queuLimt', undefined], ['queueLimt', 'queueLimit'],
    ['maxRequestBodysiez', 'maxRequestBodySize'], ['maxReqestBdySize', 'maxRequestBodySize'], ['maxRequestSize', undefined]
  ]) {
    assert.equal(misspelt(/** @type {string} */ (word), names), meant, word)
  }
})

test('of several names the nearest is meant', () => {
  assert.equal(misspelt('prefixs', ['prefix', 'prefixes']), 'prefix')
  assert.equal(nearest('certt', ['ca', 'cert', 'crl']), 'cert')
  assert.equal(nearest('queueDepth', ['backlog', 'signal']), undefined)
})

test('what only we read has no unknown names', () => {
  const { addReservation } = require('../lib/prefixes/reservations')
  const { sendFile } = require('../lib/http/send-file')
  assert.throws(() => addReservation('http://*:1/', /** @type {any} */ ({ register: [], delgate: [] })),
    { code: 'ERR_HTTPSYS_OPTION', message: 'addReservation() has no option "delgate"; did you mean "delegate"?' })
  assert.throws(() => sendFile(/** @type {any} */ ({}), '/nowhere', { strat: 5 }, () => {}), { code: 'ERR_HTTPSYS_OPTION', option: 'strat' })
})
