'use strict'

// Goal: the responses of a prefix leave no faster than maxBandwidth, whatever the protocol, and nothing but time is lost. Method:
// downloads that take seconds. Only the least time that they may take is checked: a busy machine takes longer.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const { once } = require('node:events')
const http2 = require('node:http2')
const nodeHttp = require('node:http')
const nodeHttps = require('node:https')
const net = require('node:net')
const { createServer } = require('@httpsys/core-native')
const { loadBinding } = require('../../packages/core-native/lib/backend/binding')
const { kListener } = require('../../packages/core-native/lib/http/symbols')
const { backend } = require('../helpers/backend')
const { serve } = require('../helpers/client')
const { freePort } = require('../helpers/free-port')
const tls = require('../helpers/tls')

const options = {
  skip: (backend === 'node' && 'maxBandwidth is ours') || (process.platform === 'win32' && 'the kernel of Windows limits by itself'),
  timeout: 120_000
}
const http2Options = { ...options, skip: options.skip || (!loadBinding().hasHttp2 && 'this Node has no nghttp2') }

const kRate = 200_000
const kBytes = 400_000
/** The bytes above take 1,900 ms after the first 100 ms, which leave at once. */
const kLeastMs = 1200

/** A body whose parts cannot be exchanged. @param {number} bytes */
function bodyOf (bytes) {
  const body = Buffer.alloc(bytes)
  for (let at = 0; at + 4 <= bytes; at += 4) body.writeUInt32LE(at, at)
  return body
}

const kBody = bodyOf(kBytes)

/** @typedef {{ body: Buffer, ms: number, headers: nodeHttp.IncomingHttpHeaders }} Download */

/**
 * @param {number | nodeHttps.RequestOptions} where
 * @param {typeof nodeHttp.get} [get]
 * @returns {Promise<Download>}
 */
function download (where, get = nodeHttp.get) {
  const begun = Date.now()
  return new Promise((resolve, reject) => {
    const given = typeof where === 'number' ? { port: where } : where
    get({ host: '127.0.0.1', agent: false, ...given }, (res) => {
      /** @type {Buffer[]} */
      const pieces = []
      res.on('data', (piece) => { pieces.push(piece) })
      res.on('end', () => { resolve({ body: Buffer.concat(pieces), ms: Date.now() - begun, headers: res.headers }) })
      res.on('error', reject)
    }).on('error', reject)
  })
}

/** @param {Download} got @param {Buffer} [wanted] @param {number} [leastMs] */
function assertLimited ({ body, ms }, wanted = kBody, leastMs = kLeastMs) {
  assert.ok(body.equals(wanted), `${body.length} bytes have come, or others`)
  assert.ok(ms >= leastMs, `${body.length} bytes within ${ms} ms`)
}

/** @param {any} req @param {any} res */
function sendBody (req, res) {
  res.end(kBody)
}

test('a response of one piece takes as long as its bytes need', options, async (t) => {
  const port = await serve(t, createServer({ maxBandwidth: kRate }, sendBody))
  assertLimited(await download(port))
})

test('a response that is written piece by piece and chunked takes as long', options, async (t) => {
  const port = await serve(t, createServer({ maxBandwidth: kRate }, async (req, res) => {
    for (let at = 0; at < kBytes; at += 10_000) {
      if (!res.write(kBody.subarray(at, at + 10_000))) await once(res, 'drain')
    }
    res.end()
  }))
  const got = await download(port)
  assert.equal(got.headers['transfer-encoding'], 'chunked')
  assertLimited(got)
})

test('without the option, and with 0, nothing is held back', options, async (t) => {
  const body = bodyOf(20_000_000)
  for (const given of [{}, { maxBandwidth: 0 }]) {
    const port = await serve(t, createServer(given, (req, res) => { res.end(body) }))
    const got = await download(port)
    assert.ok(got.body.equals(body))
    // With the rate above it would be 100 s.
    assert.ok(got.ms < 50_000)
  }
})

test('the connections of a prefix have the rate together, and equal parts of it', options, async (t) => {
  const part = bodyOf(kBytes / 4)
  const port = await serve(t, createServer({ maxBandwidth: kRate }, (req, res) => { res.end(part) }))
  const all = await Promise.all([1, 2, 3, 4].map(() => download(port)))
  // Nobody is served whole before the others.
  for (const got of all) assertLimited(got, part, kLeastMs / 2)
  assert.ok(Math.max(...all.map(({ ms }) => ms)) >= kLeastMs)
})

test('small answers of a kept-alive connection count, too', options, async (t) => {
  const small = bodyOf(4000)
  const port = await serve(t, createServer({ maxBandwidth: kRate }, (req, res) => { res.end(small) }))
  const agent = new nodeHttp.Agent({ keepAlive: true, maxSockets: 1 })
  t.after(() => agent.destroy())
  const begun = Date.now()
  for (let i = 0; i < 100; ++i) assert.ok((await download({ port, agent })).body.equals(small))
  assert.ok(Date.now() - begun >= kLeastMs)
})

test('two prefixes of a server have a rate each', options, async (t) => {
  const port = await freePort()
  const server = createServer({ maxBandwidth: kRate }, (req, res) => {
    res.end(req.url === '/a/long' ? bodyOf(20_000_000) : kBody)
  })
  t.after(() => server.closeAllConnections())
  await serve(t, server, [`http://localhost:${port}/a/`, `http://localhost:${port}/b/`])
  let hasEnded = false
  const long = nodeHttp.get({ host: 'localhost', port, path: '/a/long', agent: false }, (res) => {
    res.on('data', () => {}).on('end', () => { hasEnded = true })
  })
  long.on('error', () => {})
  await once(long, 'response')
  assertLimited(await download({ host: 'localhost', port, path: '/b/' }))
  assert.equal(hasEnded, false)
  long.destroy()
})

test('pipelined requests for two prefixes are answered whole and in their order', options, async (t) => {
  const port = await freePort()
  const parts = { '/a/': bodyOf(kBytes / 8), '/b/': bodyOf(kBytes / 16) }
  const server = createServer({ maxBandwidth: kRate }, (req, res) => {
    res.sendDate = false
    res.end(parts[/** @type {'/a/' | '/b/'} */ (req.url)])
  })
  await serve(t, server, Object.keys(parts).map((path) => `http://localhost:${port}${path}`))
  const order = ['/a/', '/b/', '/b/', '/a/', '/b/', '/a/', '/a/', '/b/', '/a/', '/a/', '/a/']
  const socket = net.connect(port, '127.0.0.1')
  const begun = Date.now()
  socket.write(order.map((path, i) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n${i + 1 === order.length ? 'Connection: close\r\n' : ''}\r\n`).join(''))
  /** @type {Buffer[]} */
  const pieces = []
  for await (const piece of socket) pieces.push(piece)
  let rest = Buffer.concat(pieces)
  for (const path of order) {
    const body = parts[/** @type {'/a/' | '/b/'} */ (path)]
    const head = rest.indexOf('\r\n\r\n') + 4
    assert.match(rest.subarray(0, head).toString(), new RegExp(`^HTTP/1.1 200 OK\r\n(.*\r\n)*Content-Length: ${body.length}\r\n`))
    assert.ok(rest.subarray(head, head + body.length).equals(body))
    rest = rest.subarray(head + body.length)
  }
  assert.equal(rest.length, 0)
  // 350,000 bytes of one prefix, 100,000 of the other.
  assert.ok(Date.now() - begun >= 1000)
})

test('over TLS the bytes of the responses count', options, async (t) => {
  const { port } = await tls.serve(t, { maxBandwidth: kRate, http2: false }, sendBody)
  assertLimited(await download({ port, servername: 'localhost', ca: tls.localhost().cert }, nodeHttps.get))
})

/** @param {http2.ClientHttp2Session} client @returns {Promise<Buffer>} */
async function downloadStream (client) {
  const stream = client.request({ ':path': '/' })
  /** @type {Buffer[]} */
  const pieces = []
  for await (const piece of stream) pieces.push(piece)
  return Buffer.concat(pieces)
}

for (const isSecure of [false, true]) {
  test(`streams of HTTP/2 ${isSecure ? 'over TLS ' : ''}have the rate together, and the connection goes on`, http2Options, async (t) => {
    const part = bodyOf(kBytes / 4)
    const handler = (/** @type {any} */ req, /** @type {any} */ res) => { res.end(part) }
    const port = isSecure
      ? (await tls.serve(t, { maxBandwidth: kRate }, handler)).port
      : await serve(t, createServer({ maxBandwidth: kRate, http2: true }, handler))
    const client = http2.connect(`${isSecure ? 'https' : 'http'}://localhost:${port}`, { ca: tls.localhost().cert })
    t.after(() => client.destroy())
    await once(client, 'connect')
    const begun = Date.now()
    const streams = [1, 2, 3, 4].map(() => downloadStream(client))
    const pinged = new Promise((resolve) => { client.ping(() => { resolve(Date.now() - begun) }) })
    const all = await Promise.all(streams)
    const ms = Date.now() - begun
    for (const body of all) assert.ok(body.equals(part))
    assert.ok(ms >= kLeastMs, `${ms} ms`)
    assert.ok(await pinged < ms)
  })
}

test('a held stream of HTTP/2 is not taken for a stalled one', http2Options, async (t) => {
  const part = bodyOf(6000)
  const port = await serve(t, createServer({ maxBandwidth: 20_000, http2: { stallTimeout: 200 } }, (req, res) => { res.end(part) }))
  const client = http2.connect(`http://127.0.0.1:${port}`)
  t.after(() => client.destroy())
  // A round of their turns takes half a second.
  const all = await Promise.all(Array.from({ length: 20 }, () => downloadStream(client)))
  for (const body of all) assert.ok(body.equals(part))
})

test('a client that does not read does not keep others of the prefix waiting', options, async (t) => {
  const port = await serve(t, createServer({ maxBandwidth: 4_000_000 }, (req, res) => {
    res.end(req.url === '/' ? bodyOf(8_000_000) : bodyOf(50_000_000))
  }))
  const silent = net.connect(port, '127.0.0.1')
  t.after(() => silent.destroy())
  silent.write('GET /silent HTTP/1.1\r\nHost: localhost\r\n\r\n')
  silent.pause()
  const got = await download(port)
  assert.equal(got.body.length, 8_000_000)
  assert.ok(got.ms >= 1200)
})

test('the application is told to wait as long as the output is held back', options, async (t) => {
  /** @type {(bytes: number) => void} */
  let told
  const taken = new Promise((resolve) => { told = resolve })
  const server = createServer({ maxBandwidth: 20_000 }, (req, res) => {
    let bytes = 0
    const piece = Buffer.alloc(16_384)
    while (bytes < 50_000_000 && res.write(piece)) bytes += piece.length
    told(bytes)
  })
  const port = await serve(t, server)
  const client = nodeHttp.get({ port, host: '127.0.0.1', agent: false }, (res) => { res.resume() })
  client.on('error', () => {})
  t.after(() => client.destroy())
  assert.ok(await taken < 2_000_000)
})

test('minSendRate does not end a connection that waits for the rate of its prefix', options, async (t) => {
  const part = bodyOf(15_000)
  const server = createServer({ maxBandwidth: 12_000, minSendRate: 20_000 }, (req, res) => { res.end(part) })
  // A hundredth of the real time: the downloads take eight times as long.
  ;(/** @type {any} */ (server))[kListener].sendRateMs = 600
  const port = await serve(t, server)
  const all = await Promise.all([1, 2, 3, 4].map(() => download(port)))
  for (const { body } of all) assert.ok(body.equals(part))
})

test('minSendRate ends a connection whose client does not read, with a rate, too', {
  ...options,
  skip: options.skip || (process.platform !== 'linux' && 'needs what Linux tells of a socket')
}, async (t) => {
  const server = createServer({ maxBandwidth: 400_000_000, minSendRate: 20_000 }, (req, res) => { res.end(Buffer.alloc(50_000_000)) })
  ;(/** @type {any} */ (server))[kListener].sendRateMs = 600
  const port = await serve(t, server)
  const ended = once(server, 'connection').then(([socket]) => assert.rejects(once(socket, 'close'), { code: 'ETIMEDOUT' }))
  const silent = net.connect(port, '127.0.0.1')
  t.after(() => silent.destroy())
  silent.on('error', () => {})
  silent.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n')
  silent.pause()
  await ended
})

test('Connection: close and server.close() send all that is held back', options, async (t) => {
  const server = createServer({ maxBandwidth: kRate }, sendBody)
  const port = await serve(t, server)
  const closing = download({ port, headers: { connection: 'close' } })
  const agent = new nodeHttp.Agent({ keepAlive: true })
  t.after(() => agent.destroy())
  const kept = download({ port, agent })
  await once(server, 'request')
  await once(server, 'request')
  const closed = once(server, 'close')
  server.close()
  const both = await Promise.all([closing, kept])
  for (const got of both) assertLimited(got)
  await closed
})

test('clients that leave while they wait do not keep others waiting', options, async (t) => {
  const part = bodyOf(10_000)
  const port = await serve(t, createServer({ maxBandwidth: 40_000 }, (req, res) => { res.end(req.url === '/' ? part : kBody) }))
  const leaving = Array.from({ length: 10 }, () => {
    const socket = net.connect(port, '127.0.0.1')
    socket.on('error', () => {})
    socket.write('GET /long HTTP/1.1\r\nHost: localhost\r\n\r\n')
    return socket
  })
  await Promise.all(leaving.map((socket) => once(socket, 'data')))
  // Eleven have turns.
  assertLimited(await download(port), part, 1000)
  for (const socket of leaving) socket.destroy()
  assert.ok((await download(port)).body.equals(part))
})

test('what is sent on an upgraded connection counts', options, async (t) => {
  const server = createServer({ maxBandwidth: kRate })
  server.on('upgrade', (req, socket) => {
    socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: raw\r\n\r\n')
    socket.end(kBody)
  })
  const port = await serve(t, server)
  const begun = Date.now()
  const [, socket, head] = await once(nodeHttp.get({ port, host: '127.0.0.1', headers: { connection: 'upgrade', upgrade: 'raw' } }), 'upgrade')
  const pieces = [head]
  for await (const piece of socket) pieces.push(piece)
  assertLimited({ body: Buffer.concat(pieces), ms: Date.now() - begun, headers: {} })
})

test('maxBandwidth has to be 0 or a whole number from 1024 on', options, () => {
  for (const wrong of [-1, 1, 1023, 1024.5, 2 ** 32]) {
    assert.throws(() => createServer({ maxBandwidth: wrong }), { code: 'ERR_OUT_OF_RANGE', message: /must be 0 or an integer >= 1024 && <= 4294967294/ })
  }
  assert.throws(() => createServer(/** @type {any} */ ({ maxBandwidth: '2048' })), { code: 'ERR_INVALID_ARG_TYPE' })
  createServer({ maxBandwidth: 1024 })
})
