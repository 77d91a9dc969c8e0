'use strict'

// A server that closes while a connection is busy, and listens again by other rules of TLS: requests that come on that
// connection afterwards are answered by the new rules. Where these would not have let the client in, its handler never runs.

const assert = require('node:assert/strict')
const tls = require('node:tls')
const { once } = require('node:events')
const { before, describe, it } = require('node:test')
const { https } = /** @type {any} */ (require('@httpsys/core-native'))
const { certificate } = require('../helpers/certificates')
const { stop } = require('../helpers/client')
const { freePort } = require('../helpers/free-port')
const { kSkip } = require('../sharing/kit')

// Ends what hangs.
const limits = { timeout: 60_000 }

/** @type {{ key: string, cert: string }} */
let own
/** @type {Record<'one' | 'two', string>} */
let authorities
/** @type {{ key: string, cert: string }} */
let client

before(() => {
  own = certificate('again.test')
  authorities = { one: certificate('authority one', { isCa: true }).cert, two: certificate('authority two', { isCa: true }).cert }
  client = certificate('client of one', { issuer: 'authority one' })
})

/** @typedef {{ first: any, then: any, connects?: tls.ConnectionOptions, status: number, authorized?: boolean }} Case */

/** @type {Record<string, () => Case>} */
const kCases = {
  'by the same rules': () => ({ first: {}, then: {}, status: 200, authorized: false }),
  'with requestCert': () => ({ first: {}, then: { requestCert: true, rejectUnauthorized: false }, status: 421 }),
  // The handler sees the socket that it has seen before.
  'without requestCert': () => ({
    first: { requestCert: true, ca: authorities.one },
    then: { requestCert: false },
    connects: client,
    status: 200,
    authorized: true
  }),
  'with rejectUnauthorized': () => ({
    first: { requestCert: true, ca: authorities.one, rejectUnauthorized: false },
    then: { requestCert: true, ca: authorities.one, rejectUnauthorized: true },
    status: 421
  }),
  'with rejectUnauthorized, which the certificate is good for': () => ({
    first: { requestCert: true, ca: authorities.one, rejectUnauthorized: false },
    then: { requestCert: true, ca: authorities.one, rejectUnauthorized: true },
    connects: client,
    status: 200,
    authorized: true
  }),
  'with other authorities': () => ({
    first: { requestCert: true, ca: authorities.one },
    then: { requestCert: true, ca: authorities.two },
    connects: client,
    status: 421
  }),
  'with another lowest version': () => ({ first: {}, then: { minVersion: 'TLSv1.3' }, connects: { maxVersion: 'TLSv1.2' }, status: 421 }),
  'with SNICallback that it had before': () => {
    const chooses = {
      requestCert: true,
      rejectUnauthorized: false,
      SNICallback: (/** @type {string} */ name, /** @type {any} */ done) => done(null, tls.createSecureContext({ ...own, ca: authorities.one }))
    }
    return { first: chooses, then: {}, connects: client, status: 200, authorized: true }
  }
}

/**
 * A connection that is busy while its server closes and listens again by `reopen`.
 *
 * @param {import('node:test').TestContext} t @param {any[]} where @param {number} port @param {Case} wanted
 * @param {(server: any) => void} reopen
 */
async function compare (t, where, port, { first, connects, status, authorized }, reopen) {
  /** @type {string[]} */
  const served = []
  const server = https.createServer({ ...own, ...first, http2: undefined }, (/** @type {any} */ req, /** @type {any} */ res) => {
    served.push(req.url)
    if (req.url !== '/stream') return res.end(JSON.stringify({ authorized: req.socket.authorized }))
    res.writeHead(200, { 'Content-Length': 8 }).write('half')
    server.emit('streaming', res)
  })
  t.after(() => stop(server))
  await once(server.listen(...where), 'listening')
  const socket = tls.connect({ port, host: '127.0.0.1', servername: 'again.test', rejectUnauthorized: false, ALPNProtocols: ['http/1.1'], ...connects })
  t.after(() => socket.destroy())
  let text = ''
  socket.setEncoding('latin1').on('data', (piece) => { text += piece })
  const streaming = once(server, 'streaming')
  socket.write('GET /stream HTTP/1.1\r\nHost: again.test\r\n\r\n')
  const [res] = await streaming
  server.close()
  reopen(server)
  await once(server, 'listening')
  res.end('rest')
  while (!text.endsWith('halfrest')) await once(socket, 'data')
  text = ''
  socket.write('GET /after HTTP/1.1\r\nHost: again.test\r\nConnection: close\r\n\r\n')
  await once(socket, 'close')
  assert.equal(Number(text.slice(9, 12)), status, text)
  assert.deepEqual(served, status === 200 ? ['/stream', '/after'] : ['/stream'])
  if (status === 200) assert.equal(JSON.parse(text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1)).authorized, authorized)
}

describe('A connection of before close() and listen()', { skip: kSkip }, () => {
  for (const [what, of] of Object.entries(kCases)) {
    it(`is compared with a server that listens again ${what}`, limits, async (t) => {
      const port = await freePort()
      const prefix = `https://again.test:${port}/`
      const wanted = of()
      await compare(t, [prefix], port, wanted, (server) => server.listen(prefix, wanted.then))
    })
  }

  it('is compared with what setSecureContext() has set in between, on a plain port, too', limits, async (t) => {
    const port = await freePort()
    await compare(t, [port], port, { ...kCases['with other authorities'](), status: 421 }, (server) => {
      server.setSecureContext({ ...own, ca: authorities.two })
      server.listen(port)
    })
  })
})
