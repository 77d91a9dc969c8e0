'use strict'

// Goal: the ws package, which reads more of a socket than any other, works on the upgraded one.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const { once } = require('node:events')
const { WebSocket, WebSocketServer } = require('ws')
const { http } = require('../helpers/backend')
const { request, serve } = require('../helpers/client')

/**
 * @param {import('node:test').TestContext} t
 * @param {object} [options] of WebSocketServer
 */
async function startEcho (t, options = {}) {
  const server = http.createServer((req, res) => res.end('plain'))
  const wss = new WebSocketServer({ server, ...options })
  wss.on('connection', (socket) => {
    socket.on('message', (data, isBinary) => socket.send(data, { binary: isBinary }))
  })
  t.after(() => { for (const client of wss.clients) client.terminate() })
  const port = await serve(t, server)
  return { server, wss, port }
}

/** @param {import('node:test').TestContext} t @param {number} port @param {object} [options] */
async function open (t, port, options = {}) {
  const client = new WebSocket(`ws://127.0.0.1:${port}/`, options)
  t.after(() => client.terminate())
  await once(client, 'open')
  return client
}

test('messages are echoed, text and binary, beside plain requests', async (t) => {
  const { port } = await startEcho(t)
  const client = await open(t, port)
  client.send('text')
  const [text, isBinary] = await once(client, 'message')
  assert.deepEqual([text.toString(), isBinary], ['text', false])
  const bytes = Buffer.from([0, 1, 2, 255])
  client.send(bytes)
  assert.deepEqual(await once(client, 'message'), [bytes, true])
  assert.equal((await request(port)).body, 'plain')
})

test('messages of all sizes around the frame boundaries come back whole', async (t) => {
  const { port } = await startEcho(t)
  const client = await open(t, port)
  for (const size of [0, 1, 125, 126, 127, 65535, 65536, 300_000, 5_000_000]) {
    const message = Buffer.alloc(size, size & 0xff)
    client.send(message)
    const [echo] = await once(client, 'message')
    assert.equal(Buffer.compare(echo, message), 0, `${size} bytes`)
  }
})

test('a thousand messages arrive in their order', async (t) => {
  const { port } = await startEcho(t)
  const client = await open(t, port)
  const received = /** @type {number[]} */ ([])
  const all = new Promise((resolve) => client.on('message', (data) => {
    received.push(Number(data))
    if (received.length === 1000) resolve(null)
  }))
  for (let i = 0; i < 1000; i++) client.send(String(i))
  await all
  assert.deepEqual(received, Array.from({ length: 1000 }, (_, i) => i))
})

test('permessage-deflate works', async (t) => {
  const { port } = await startEcho(t, { perMessageDeflate: { threshold: 0 } })
  const client = await open(t, port, { perMessageDeflate: true })
  assert.match(client.extensions, /permessage-deflate/)
  client.send('a'.repeat(100_000))
  assert.equal((await once(client, 'message'))[0].length, 100_000)
})

test('a client\'s close handshake ends with its code and reason on both sides', async (t) => {
  const { wss, port } = await startEcho(t)
  const connection = once(wss, 'connection')
  const client = await open(t, port)
  const [serverSide] = await connection
  const closes = Promise.all([once(client, 'close'), once(serverSide, 'close')])
  client.close(4001, 'enough')
  for (const [code, reason] of await closes) assert.deepEqual([code, reason.toString()], [4001, 'enough'])
})

test('a server\'s close handshake ends with its code on both sides', async (t) => {
  const { wss, port } = await startEcho(t)
  const connection = once(wss, 'connection')
  const client = await open(t, port)
  const [serverSide] = await connection
  const closes = Promise.all([once(client, 'close'), once(serverSide, 'close')])
  serverSide.close(4002)
  for (const [code] of await closes) assert.equal(code, 4002)
})

test('terminate() on either side is an abnormal close on the other', async (t) => {
  const { wss, port } = await startEcho(t)
  for (const ends of ['client', 'server']) {
    const connection = once(wss, 'connection')
    const client = await open(t, port)
    const [serverSide] = await connection
    const [ending, staying] = ends === 'client' ? [client, serverSide] : [serverSide, client]
    const closed = once(staying, 'close')
    ending.terminate()
    assert.equal((await closed)[0], 1006, `ended by the ${ends}`)
  }
})

test('bufferedAmount is 0 right after a small send', async (t) => {
  const { wss, port } = await startEcho(t)
  const connection = once(wss, 'connection')
  await open(t, port)
  const [serverSide] = await connection
  serverSide.send('small')
  assert.equal(serverSide.bufferedAmount, 0)
})

test('ping is answered with its data', async (t) => {
  const { wss, port } = await startEcho(t)
  const connection = once(wss, 'connection')
  const client = await open(t, port)
  const [serverSide] = await connection
  const ponged = once(serverSide, 'pong')
  serverSide.ping('are you there')
  assert.equal((await ponged)[0].toString(), 'are you there')
  const answered = once(client, 'pong')
  client.ping()
  await answered
})

test('a handshake refused by verifyClient is a plain answer', async (t) => {
  const { port } = await startEcho(t, { verifyClient: (/** @type {any} */ info, /** @type {any} */ done) => done(false, 403, 'not you') })
  const client = new WebSocket(`ws://127.0.0.1:${port}/`)
  const [error] = await once(client, 'error')
  assert.equal(error.message, 'Unexpected server response: 403')
})

test('handleUpgrade by hand chooses among several servers', async (t) => {
  const server = http.createServer()
  const [a, b] = [new WebSocketServer({ noServer: true }), new WebSocketServer({ noServer: true })]
  server.on('upgrade', (req, socket, head) => {
    const chosen = req.url === '/a' ? a : req.url === '/b' ? b : null
    if (chosen === null) {
      socket.end('HTTP/1.1 404 Not Found\r\nConnection: close\r\n\r\n')
      return
    }
    chosen.handleUpgrade(req, socket, head, (ws) => ws.send(`welcome to ${req.url}`))
  })
  const port = await serve(t, server)
  for (const path of ['/a', '/b']) {
    const client = new WebSocket(`ws://127.0.0.1:${port}${path}`)
    assert.equal((await once(client, 'message'))[0].toString(), `welcome to ${path}`)
    client.terminate()
  }
  const refused = new WebSocket(`ws://127.0.0.1:${port}/c`)
  assert.match((await once(refused, 'error'))[0].message, /404/)
})

test('maxPayload closes with 1009', async (t) => {
  const { wss, port } = await startEcho(t, { maxPayload: 1000 })
  wss.on('connection', (socket) => socket.on('error', () => {}))
  const client = await open(t, port)
  const closed = once(client, 'close')
  client.send('x'.repeat(1001))
  assert.equal((await closed)[0], 1009)
})

test('a paused receiver holds back the sender, then gets everything', async (t) => {
  const { wss, port } = await startEcho(t)
  const connection = once(wss, 'connection')
  const client = await open(t, port)
  const [serverSide] = await connection
  client.pause()
  const piece = Buffer.alloc(256 * 1024, 7)
  for (let i = 0; i < 64; i++) serverSide.send(piece)
  assert.ok(serverSide.bufferedAmount > 0)
  let bytes = 0
  const all = new Promise((resolve) => client.on('message', (/** @type {Buffer} */ data) => {
    bytes += data.length
    if (bytes === 64 * piece.length) resolve(null)
  }))
  client.resume()
  await all
  assert.equal(bytes, 64 * piece.length)
})

test('fifty clients get a broadcast', async (t) => {
  const { wss, port } = await startEcho(t)
  const clients = await Promise.all(Array.from({ length: 50 }, () => open(t, port)))
  const messages = Promise.all(clients.map((client) => once(client, 'message')))
  for (const socket of wss.clients) socket.send('to all')
  assert.ok((await messages).every(([data]) => data.toString() === 'to all'))
})
