'use strict'

// Goal: `Upgrade: h2c`, which RFC 9113 has removed, is an upgrade like any other, also where plain ports speak HTTP/2: without an 'upgrade'
// listener ignored, with one the listener's. Method: the same bytes to node:http.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const nodeHttp = require('node:http')
const { dial, serve } = require('../helpers/client')
const { http, backend } = require('../helpers/backend')
const { freePort } = require('../helpers/free-port')

const kLines = 'Host: a\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n'
const kBehind = 'GET /behind HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'
/** @type {Record<string, string>} */
const kRequests = {
  'no body': `GET /a HTTP/1.1\r\n${kLines}\r\n`,
  'a body': `POST /a HTTP/1.1\r\n${kLines}Content-Length: 4\r\n\r\nbody`,
  'a body in chunks': `POST /a HTTP/1.1\r\n${kLines}Transfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n`
}
// Node 26 parses the body of a request that an 'upgrade' listener takes (docs/compatibility.md, `upgrade-body`).
const kParsesUpgradeBody = Number(process.versions.node.split('.')[0]) > 24

/**
 * What a client gets that sends the request and another one behind it.
 *
 * @param {import('node:test').TestContext} t
 * @param {any} server without a listener
 * @param {string} bytes
 * @param {{ hears?: boolean, at?: string | number }} options
 */
async function outcomeOf (t, server, bytes, { hears, at = 0 }) {
  const factsOf = (/** @type {any} */ req) => JSON.stringify([req.method, req.url, req.httpVersion, req.upgrade, req.rawHeaders])
  server.on('request', (/** @type {any} */ req, /** @type {any} */ res) => {
    let body = ''
    req.on('data', (/** @type {Buffer} */ piece) => { body += piece })
    req.on('end', () => res.end(`${factsOf(req)} ${body}`))
  })
  if (hears) {
    server.on('upgrade', (/** @type {any} */ req, /** @type {any} */ socket, /** @type {Buffer} */ head) => {
      socket.end(`HTTP/1.1 101 Switching Protocols\r\n\r\n${factsOf(req)} ${head}`)
    })
  }
  const port = await serve(t, server, at)
  const wire = await dial(t, typeof at === 'string' ? Number(new URL(at.replace('*', 'a')).port) : port)
  // Node 20 loses what is pipelined behind an upgrade that nobody listens to (docs/compatibility.md, `behind-a-declined-upgrade`).
  if (!hears) await wire.write(bytes).until(/\]\] (body)?$/)
  return (await wire.write(hears ? bytes + kBehind : kBehind).untilClosed()).replace(/Date: .*\r\n/g, '')
}

for (const [what, bytes] of Object.entries(kRequests)) {
  for (const hears of [false, true]) {
    const skip = hears && kParsesUpgradeBody && what !== 'no body' && 'this Node parses the body'
    test(`Upgrade: h2c with ${what} ${hears ? 'is given to an upgrade listener' : 'is ignored without an upgrade listener'}`, { skip }, async (t) => {
      const expected = await outcomeOf(t, nodeHttp.createServer(), bytes, { hears })
      assert.match(expected, hears ? /^HTTP\/1\.1 101 [^]*GET \/behind/ : /^HTTP\/1\.1 200 OK[^]*HTTP\/1\.1 200 OK/)
      for (const options of [{}, { http2: true }]) {
        assert.equal(await outcomeOf(t, http.createServer(/** @type {any} */ (options)), bytes, { hears }), expected)
        if (backend === 'node') continue
        const at = `http://*:${await freePort()}/`
        assert.equal(await outcomeOf(t, http.createServer(/** @type {any} */ (options)), bytes, { hears, at }), expected)
      }
    })
  }
}

test('the option that granted it is refused', { skip: backend === 'node' && 'node:http has no such option' }, () => {
  assert.throws(() => http.createServer(/** @type {any} */ ({ http2: { upgrade: true } })), { code: 'ERR_HTTPSYS_OPTION' })
})
