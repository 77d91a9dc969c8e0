'use strict'

// Goal: HTTP/2 and HTTP/1.1 on one TLS port, by ALPN.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const { once } = require('node:events')
const http2 = require('node:http2')
const tls = require('node:tls')
const https = require('../helpers/tls')
const { certificate } = require('../helpers/certificates')
const { request } = require('./kit')
const { backend } = require('../helpers/backend')

const options = { skip: backend === 'node' && 'a server of node:https speaks no HTTP/2' }
const { cert } = certificate('localhost')

/** @param {import('node:test').TestContext} t @param {number} port */
async function connect (t, port) {
  const client = http2.connect(`https://localhost:${port}`, { ca: cert, lookup: (_host, _options, done) => done(null, [{ address: '127.0.0.1', family: 4 }]) })
  client.on('error', () => {})
  t.after(() => client.destroy())
  await once(client, 'remoteSettings')
  return client
}

/** @param {number} port @param {string[]} protocols */
async function negotiated (port, protocols) {
  const socket = tls.connect({ port, host: '127.0.0.1', servername: 'localhost', ca: cert, ALPNProtocols: protocols })
  await once(socket, 'secureConnect')
  socket.destroy()
  return socket.alpnProtocol
}

test('a TLS port serves HTTP/2 and HTTP/1.1 without being asked', options, async (t) => {
  let secure = 0
  const { port, server } = await https.serve(t, {}, (req, res) => {
    res.setHeader('x-version', req.httpVersion)
    res.end(JSON.stringify({
      encrypted: req.socket.encrypted, alpn: req.socket.alpnProtocol, servername: req.socket.servername, protocol: req.socket.getProtocol(), own: req.socket.getX509Certificate()?.subject
    }))
  })
  server.on('secureConnection', () => { secure++ })
  const client = await connect(t, port)
  for (let i = 0; i < 3; i++) {
    const { headers, text } = await request(client, { ':path': '/' })
    assert.equal(headers['x-version'], '2.0')
    assert.deepEqual(JSON.parse(text), { encrypted: true, alpn: 'h2', servername: 'localhost', protocol: 'TLSv1.3', own: 'CN=localhost' })
  }
  assert.equal(secure, 1)
  const old = await https.request(port)
  assert.equal(old.headers['x-version'], '1.1')
})

test('http2: false, and protocols that the application names, leave it out', options, async (t) => {
  const handler = (/** @type {any} */ req, /** @type {any} */ res) => res.end(req.httpVersion)
  const { port } = await https.serve(t, { http2: false }, handler)
  assert.notEqual(await negotiated(port, ['h2', 'http/1.1']), 'h2')
  const named = await https.serve(t, { ALPNProtocols: ['http/1.1'] }, handler)
  assert.equal(await negotiated(named.port, ['h2', 'http/1.1']), 'http/1.1')
  const both = await https.serve(t, {}, handler)
  assert.equal(await negotiated(both.port, ['http/1.1', 'h2']), 'h2')
  assert.equal(await negotiated(both.port, ['http/1.1']), 'http/1.1')
})

test('bodies go both ways through TLS', options, async (t) => {
  const { port } = await https.serve(t, {}, (req, res) => {
    res.setHeader('content-type', 'application/octet-stream')
    req.pipe(res)
  })
  const client = await connect(t, port)
  const body = Buffer.alloc(2_000_000, '0123456789')
  const answers = await Promise.all([1, 2, 3].map(() => request(client, { ':method': 'POST', ':path': '/' }, { body })))
  for (const answer of answers) assert.ok(answer.body.equals(body))
})
