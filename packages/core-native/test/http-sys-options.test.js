'use strict'

// Goal: the option httpSys is read as documented, and what only HTTP.SYS has is refused by name on the engine.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const http = require('..')
const { loadBinding } = require('../lib/backend/binding')
const { seconds, takeHttpSys } = require('../lib/options/http-sys-options')
const { addCertificate } = require('../lib/backend/system-config')

test('without the option nothing is asked for', () => {
  assert.deepEqual(takeHttpSys(undefined), {
    maxBandwidth: 0,
    maxConnections: 0,
    drainEntityBody: 0,
    requestQueue: 0,
    minSendRate: 0,
    logDirectory: '',
    logIsNcsa: false,
    logRollover: 0,
    logBytesMax: 0,
    authSchemes: 0,
    allowAnonymous: true,
    bufferResponses: false
  })
})

test('names and milliseconds become the numbers of HTTP.SYS', () => {
  const { requestQueue, logIsNcsa, logRollover, authSchemes } = takeHttpSys({
    timeouts: { requestQueue: 1500 }, logging: { directory: '/logs', rollover: 'hourly' }, authentication: { schemes: ['basic', 'kerberos'] }
  })
  assert.deepEqual([requestQueue, logIsNcsa, logRollover, authSchemes], [2, false, 4, 17])
  assert.equal(takeHttpSys({ logging: { directory: '/logs' } }).logRollover, 1)
})

test('a timeout is rounded up to seconds, and none is as long as there is', () => {
  assert.deepEqual([1, 1000, 1001, 0, Infinity, 1e12].map(seconds), [1, 1, 2, 65535, 65535, 65535])
})

for (const [option, code] of /** @type {[any, string][]} */ ([
  [1, 'ERR_INVALID_ARG_TYPE'],
  [null, 'ERR_INVALID_ARG_TYPE'],
  [{ maxBandwith: 2000 }, 'ERR_HTTPSYS_OPTION'],
  [{ maxBandwidth: 1023 }, 'ERR_OUT_OF_RANGE'],
  [{ maxConnections: '5' }, 'ERR_INVALID_ARG_TYPE'],
  [{ maxConnections: 0 }, 'ERR_OUT_OF_RANGE'],
  [{ bufferResponses: 1 }, 'ERR_INVALID_ARG_TYPE'],
  [{ timeouts: { requestQueue: 0.5 } }, 'ERR_OUT_OF_RANGE'],
  [{ logging: {} }, 'ERR_INVALID_ARG_TYPE'],
  [{ logging: { directory: 'logs' } }, 'ERR_INVALID_ARG_VALUE'],
  [{ logging: { directory: '/logs', format: 'xml' } }, 'ERR_INVALID_ARG_VALUE'],
  [{ authentication: {} }, 'ERR_INVALID_ARG_TYPE'],
  [{ authentication: { schemes: ['oauth'] } }, 'ERR_INVALID_ARG_VALUE'],
  [{ authentication: { schemes: [], allowAnonymous: 1 } }, 'ERR_INVALID_ARG_TYPE'],
])) {
  test(`httpSys: ${JSON.stringify(option)} is ${code}`, () => {
    assert.throws(() => takeHttpSys(option), { code })
  })
}

const isEngine = http.backend === 'engine' && !loadBinding().capabilities.kernelOptions

test('on the engine createServer() refuses the option by the name of the capability', { skip: !isEngine }, () => {
  assert.throws(() => http.createServer({ httpSys: {} }), { code: 'ERR_HTTPSYS_CAPABILITY', capability: 'kernelOptions' })
})

test('where nobody keeps responses, the cache is refused by the name of the capability', { skip: http.backend === 'engine' && loadBinding().capabilities.caches }, () => {
  const expected = { code: 'ERR_HTTPSYS_CAPABILITY', capability: 'caches' }
  assert.throws(() => http.setCachePolicy(/** @type {any} */ ({}), { policy: 'none' }), expected)
  assert.throws(() => http.flushCache(http.createServer(), 'http://*:80/'), expected)
})

test('certificates of the system are refused by the name of the capability', { skip: !isEngine }, () => {
  assert.throws(() => addCertificate('*:443', { hash: 'ab'.repeat(20) }), { code: 'ERR_HTTPSYS_CAPABILITY', capability: 'systemCertificates' })
})
