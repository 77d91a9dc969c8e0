'use strict'

// A port that changes from HTTP to HTTPS while a connection of before is busy: what comes on it in plain text reaches no handler of
// the server with TLS.

const assert = require('node:assert/strict')
const { once } = require('node:events')
const { test } = require('node:test')
const core = /** @type {any} */ (require('@httpsys/core-native'))
const { certificate } = require('../helpers/certificates')
const { dial, get } = require('../helpers/client')
const { freePort } = require('../helpers/free-port')

for (const isSame of [false, true]) {
  test(`a busy connection without TLS is not taken over by ${isSame ? 'the same server that listens again' : 'another server'} with TLS`, async (t) => {
    const port = await freePort()
    /** @type {string[]} */
    const served = []
    const plain = core.createServer((/** @type {any} */ req, /** @type {any} */ res) => {
      served.push(req.url)
      if (req.url !== '/stream') return res.end('plain')
      res.writeHead(200, { 'Content-Length': 8 })
      res.write('half')
      plain.emit('streaming', res)
    })
    const secure = isSame ? plain : core.createServer((/** @type {any} */ req, /** @type {any} */ res) => { served.push(`secure ${req.url}`); res.end('secret') })
    t.after(() => {
      for (const server of [plain, secure]) {
        server.close()
        server.closeAllConnections()
      }
    })
    plain.listen(`http://127.0.0.1:${port}/`)
    await once(plain, 'listening')
    const wire = await dial(t, port)
    const streaming = once(plain, 'streaming')
    wire.write(get('/stream'))
    const [res] = await streaming
    await wire.until('half')
    plain.close()
    secure.listen(`https://127.0.0.1:${port}/`, { ...certificate('127.0.0.1'), requestCert: true, rejectUnauthorized: true, http2: undefined })
    await once(secure, 'listening')
    res.end('rest')
    await wire.until('rest')
    wire.write(get('/after'))
    // Either closed with its last answer, or told that this is not the connection for it.
    await Promise.race([wire.untilClosed(), wire.until('421 ')])
    assert.deepEqual(served, ['/stream'])
  })
}
