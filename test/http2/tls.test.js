'use strict'

// Goal: HTTP/2 and HTTP/1.1 on one TLS port, by ALPN.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const { once } = require('node:events')
const http2 = require('node:http2')
const net = require('node:net')
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

/**
 * A proxy that counts the records with data of the application on their way to the client.
 *
 * @param {import('node:test').TestContext} t @param {number} port
 */
async function countingProxy (t, port) {
  const count = { records: 0 }
  const server = net.createServer((client) => {
    const upstream = net.connect({ port, host: '127.0.0.1' })
    let rest = Buffer.alloc(0)
    upstream.on('data', (piece) => {
      rest = Buffer.concat([rest, piece])
      for (let size = 0; rest.length >= 5 && rest.length >= (size = 5 + rest.readUInt16BE(3)); rest = rest.subarray(size)) {
        if (rest[0] === kApplicationData) count.records++
      }
    })
    upstream.pipe(client).pipe(upstream)
    for (const [one, other] of [[client, upstream], [upstream, client]]) one.on('error', () => {}).on('close', () => other.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  return { port: /** @type {net.AddressInfo} */ (server.address()).port, count }
}

const kApplicationData = 23
const kAnswers = 1000
const kAtATime = 100
const kRecordsMost = 32

test('small answers fill records of TLS: a thousand, a hundred at a time, leave in at most 32', options, async (t) => {
  /** @type {any[]} */
  let gathered = []
  const { port } = await https.serve(t, {}, (req, res) => {
    if (req.url === '/alone') return res.end('alone')
    gathered.push(res)
    if (gathered.length < kAtATime) return
    for (const one of gathered) one.end('hello')
    gathered = []
  })
  const proxy = await countingProxy(t, port)
  const client = await connect(t, proxy.port)
  // What the handshake left to be sent with the first answer has gone with this one.
  assert.equal((await request(client, { ':path': '/alone' })).text, 'alone')
  const before = proxy.count.records
  for (let answers = 0; answers < kAnswers; answers += kAtATime) {
    const texts = await Promise.all(Array.from({ length: kAtATime }, async () => (await request(client, { ':path': '/' })).text))
    assert.ok(texts.every((text) => text === 'hello'))
  }
  const needed = proxy.count.records - before
  t.diagnostic(`${needed} records`)
  assert.ok(needed <= kRecordsMost, `${needed} records`)
})
