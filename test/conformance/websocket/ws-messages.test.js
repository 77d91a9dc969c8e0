'use strict'

// Goal: what ws promises about an open WebSocket holds: compression, limits, ends, streams, back-pressure.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const { createHash, randomBytes } = require('node:crypto')
const { once } = require('node:events')
const { Readable } = require('node:stream')
const { pipeline } = require('node:stream/promises')
const { WebSocketServer, createWebSocketStream } = require('ws')
const { http } = require('../../helpers/backend')
const { silence } = require('../../helpers/waiting')
const { ask, closing, echo, open, serve } = require('./kit')

/**
 * A pair of open WebSockets.
 *
 * @param {import('node:test').TestContext} t
 * @param {import('ws').ServerOptions} [options]
 * @param {import('ws').ClientOptions} [clientOptions]
 */
async function pair (t, options = {}, clientOptions = {}) {
  const server = http.createServer()
  const wss = new WebSocketServer({ server, ...options })
  const port = await serve(t, server)
  const connection = once(wss, 'connection')
  const client = await open(t, port, '/', [], clientOptions)
  /** @type {import('ws').WebSocket} */
  const ours = (await connection)[0]
  return { server, wss, port, client, ours }
}

test('permessage-deflate with each of its parameters gives back what was sent', async (t) => {
  /** @type {[import('ws').PerMessageDeflateOptions, RegExp][]} */
  const cases = [
    [{ threshold: 0 }, /^permessage-deflate$/],
    [{ threshold: 0, serverNoContextTakeover: true }, /server_no_context_takeover/],
    [{ threshold: 0, clientNoContextTakeover: true }, /client_no_context_takeover/],
    [{ threshold: 0, serverMaxWindowBits: 9, clientMaxWindowBits: 10 }, /server_max_window_bits=9; client_max_window_bits=10/],
    [{ threshold: 1024, concurrencyLimit: 1, zlibDeflateOptions: { level: 9, memLevel: 7, chunkSize: 256 } }, /^permessage-deflate$/]
  ]
  for (const [perMessageDeflate] of cases) {
    const { client, wss } = await pair(t, { perMessageDeflate })
    echo(wss)
    for (const ours of wss.clients) ours.on('message', (data, isBinary) => ours.send(data, { binary: isBinary }))
    for (const size of [0, 10, 1000, 100_000]) {
      const text = 'squeeze me '.repeat(size).slice(0, size)
      assert.equal(await ask(client, text), text)
    }
    const noise = randomBytes(50_000)
    const back = once(client, 'message')
    client.send(noise)
    assert.ok(noise.equals((await back)[0]))
  }
})

test('a compressed message is short on the wire, an excepted one is not', async (t) => {
  const { client, ours } = await pair(t, { perMessageDeflate: { threshold: 100 } })
  const { socket } = /** @type {any} */ ({ socket: /** @type {any} */ (ours)._socket })
  const costs = async (/** @type {any} */ options) => {
    const before = socket.bytesWritten
    const received = once(client, 'message')
    ours.send('a'.repeat(10_000), options)
    assert.equal((await received)[0].length, 10_000)
    return socket.bytesWritten - before
  }
  assert.ok(await costs({}) < 200)
  assert.equal(await costs({ compress: false }), 10_004)
})

test('a message over maxPayload, in frames or compressed, is refused with 1009', async (t) => {
  for (const perMessageDeflate of [false, { threshold: 0 }]) {
    const { client, ours } = await pair(t, { perMessageDeflate, maxPayload: 10_000 })
    const failed = once(ours, 'error')
    const closed = Promise.all([closing(client), closing(ours)])
    client.on('error', () => {})
    for (let i = 0; i < 10; i++) client.send('x'.repeat(2000), { fin: i === 9 })
    assert.equal((await failed)[0].code, 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH')
    assert.deepEqual((await closed).map(([code]) => code), [1009, 1006])
  }
})

test('text that is no UTF-8 is refused with 1007', async (t) => {
  const { client, ours } = await pair(t)
  const failed = once(ours, 'error')
  const closed = closing(client)
  client.send(Buffer.of(0x61, 0xff), { binary: false })
  assert.equal((await failed)[0].code, 'WS_ERR_INVALID_UTF8')
  assert.equal((await closed)[0], 1007)
})

test('every code that may be sent closes both sides with it', async (t) => {
  for (const code of [1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 1012, 1013, 1014, 3000, 4999]) {
    const { client, ours } = await pair(t)
    const closed = Promise.all([closing(client), closing(ours)])
    ours.close(code, `because ${code}`)
    for (const [seen, reason] of await closed) assert.deepEqual([seen, reason.toString()], [code, `because ${code}`])
  }
  const { client, ours } = await pair(t)
  const closed = Promise.all([closing(client), closing(ours)])
  ours.close()
  for (const [seen] of await closed) assert.equal(seen, 1005)
})

test('what was sent before close() arrives before the close', async (t) => {
  const { client, ours } = await pair(t)
  const received = /** @type {string[]} */ ([])
  client.on('message', (data) => received.push(data.toString()))
  for (let i = 0; i < 100; i++) ours.send(`${i}${'.'.repeat(10_000)}`)
  ours.close(4000)
  assert.equal((await closing(client))[0], 4000)
  assert.deepEqual(received.map((text) => parseInt(text)), Array.from({ length: 100 }, (_, i) => i))
})

test('a connection that is cut without a close frame is 1006 on our side', async (t) => {
  for (const cut of ['end', 'destroy', 'resetAndDestroy']) {
    const { client, ours } = await pair(t)
    ours.on('error', () => {})
    client.on('error', () => {})
    const closed = closing(ours)
    const socket = /** @type {any} */ (client)._socket
    socket[cut]()
    assert.equal((await closed)[0], 1006, cut)
  }
})

test('pings carry data, and a client that does not answer is noticed', async (t) => {
  const { ours, client } = await pair(t, {}, { autoPong: false })
  const pinged = once(client, 'ping')
  const ponged = once(ours, 'pong')
  ours.ping('data')
  assert.equal((await pinged)[0].toString(), 'data')
  client.pong('by hand')
  assert.equal((await ponged)[0].toString(), 'by hand')
  // The heartbeat of the documentation of ws.
  let isAlive = true
  ours.on('pong', () => { isAlive = true })
  const beat = setInterval(() => {
    if (!isAlive) return ours.terminate()
    isAlive = false
    ours.ping()
  }, 20)
  assert.equal((await closing(client))[0], 1006)
  clearInterval(beat)
})

test('createWebSocketStream pipes both ways, with everything in its place', async (t) => {
  const { ours, client } = await pair(t)
  const far = createWebSocketStream(ours)
  far.pipe(far)
  const near = createWebSocketStream(client)
  const sent = createHash('sha1')
  const received = createHash('sha1')
  const pieces = Array.from({ length: 128 }, () => randomBytes(64 * 1024))
  for (const piece of pieces) sent.update(piece)
  let bytes = 0
  await Promise.all([
    pipeline(Readable.from(pieces), near),
    (async () => { for await (const piece of near) { bytes += piece.length; received.update(piece) } })()
  ])
  assert.deepEqual([bytes, received.digest('hex')], [128 * 64 * 1024, sent.digest('hex')])
})

test('a stream whose reader is slow makes write() wait for drain', async (t) => {
  const { ours, client } = await pair(t)
  client.pause()
  const stream = createWebSocketStream(ours)
  const piece = Buffer.alloc(64 * 1024)
  while (stream.write(piece));
  while (/** @type {any} */ (ours)._socket.writableLength === 0) {
    stream.write(piece)
    await new Promise((resolve) => setImmediate(resolve))
  }
  assert.ok(stream.writableNeedDrain)
  const drained = once(stream, 'drain')
  client.on('message', () => {})
  client.resume()
  await drained
  assert.equal(stream.writableNeedDrain, false)
})

test('bufferedAmount is what the client has not taken, and goes to 0 as it does', async (t) => {
  const { ours, client } = await pair(t)
  client.pause()
  const piece = Buffer.alloc(1024 * 1024)
  const called = /** @type {any[]} */ ([])
  const sent = Promise.all(Array.from({ length: 16 }, () => new Promise((resolve) => ours.send(piece, (error) => {
    called.push(error ?? null)
    resolve(null)
  }))))
  // Silence of the client; on a slow machine more is left.
  await silence(50)
  const amount = ours.bufferedAmount
  assert.ok(amount > 0 && amount <= 16 * (piece.length + 10), `${amount}`)
  assert.ok(called.length < 16)
  let received = 0
  const all = new Promise((resolve) => client.on('message', () => { if (++received === 16) resolve(null) }))
  client.resume()
  await all
  await sent
  assert.ok(called.every((error) => error === null))
  assert.equal(ours.bufferedAmount, 0)
})

test('a server that pauses a WebSocket holds its client back', async (t) => {
  const { ours, client } = await pair(t)
  let received = 0
  const all = new Promise((resolve) => ours.on('message', () => { if (++received === 32) resolve(null) }))
  ours.pause()
  const piece = Buffer.alloc(1024 * 1024)
  for (let i = 0; i < 32; i++) client.send(piece)
  await silence(100)
  assert.ok(client.bufferedAmount > 8 * piece.length, `${client.bufferedAmount}`)
  assert.equal(received, 0)
  ours.resume()
  await all
  assert.equal(client.bufferedAmount, 0)
})

test('terminate() drops what waits, and tells each send() so', async (t) => {
  const { ours, client } = await pair(t)
  client.pause()
  client.on('error', () => {})
  ours.on('error', () => {})
  const send = () => new Promise((resolve) => ours.send(Buffer.alloc(1024 * 1024), resolve))
  const results = Array.from({ length: 32 }, send)
  // Time for some of it to be on its way; how much is not compared.
  await silence(20)
  // What is on its way to the system is called back without an error; this one is behind it.
  results.push(send())
  const closed = closing(ours)
  ours.terminate()
  assert.equal((await closed)[0], 1006)
  const errors = await Promise.all(results)
  assert.ok(errors.at(-1) instanceof Error)
  assert.equal(ours.readyState, ours.CLOSED)
  const late = await new Promise((resolve) => ours.send('late', resolve))
  assert.match(late.message, /WebSocket is not open/)
})

test('the browser\'s interface works on our side, too', async (t) => {
  const { ours, client } = await pair(t)
  ours.binaryType = 'arraybuffer'
  ours.onmessage = ({ data, target }) => target.send(data instanceof ArrayBuffer ? `bytes ${data.byteLength}` : data)
  assert.equal(await ask(client, 'text'), 'text')
  assert.equal(await ask(client, Buffer.alloc(3)), 'bytes 3')
  const closed = new Promise((resolve) => ours.addEventListener('close', ({ code, reason, wasClean }) => resolve([code, reason, wasClean])))
  client.close(4001, 'bye')
  assert.deepEqual(await closed, [4001, 'bye', true])
})
