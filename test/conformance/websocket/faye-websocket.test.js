'use strict'

// Goal: faye-websocket, which drives the bare socket, works unmodified.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const WebSocket = require('faye-websocket')
const { http } = require('../../helpers/backend')
const { request } = require('../../helpers/client')
const { silence } = require('../../helpers/waiting')
const { ask, atEnd, closing, connect, frame, handshake, open, refusal, serve } = require('./kit')

/**
 * @param {import('node:test').TestContext} t
 * @param {(ws: any, req: any) => void} accept
 * @param {object} [options] of the WebSocket
 * @param {string[]} [protocols]
 */
async function start (t, accept, options = {}, protocols = []) {
  const server = http.createServer((req, res) => res.end('page'))
  server.on('upgrade', (req, socket, body) => {
    if (!WebSocket.isWebSocket(req)) return socket.end('HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n')
    accept(new WebSocket(req, socket, body, protocols, options), req)
  })
  return serve(t, server)
}

/** @param {any} ws */
const echo = (ws) => ws.on('message', (/** @type {any} */ event) => ws.send(event.data))

test('text and bytes of all sizes come back, beside plain requests', async (t) => {
  const port = await start(t, echo)
  const client = await open(t, port)
  for (const size of [0, 1, 125, 126, 65535, 65536, 500_000]) {
    assert.equal(await ask(client, 'ö'.repeat(size)), 'ö'.repeat(size))
    const bytes = Buffer.alloc(size, 7)
    assert.equal(await ask(client, bytes), bytes.toString())
  }
  assert.equal((await request(port)).body, 'page')
})

test('a message in the segment of the handshake is not lost', async (t) => {
  const port = await start(t, echo)
  const wire = await connect(t, port)
  wire.write(Buffer.concat([Buffer.from(handshake()), frame('early')]))
  await wire.until('\x81\x05early')
})

test('an upgrade to something else is refused by whoever listens', async (t) => {
  const port = await start(t, echo)
  const wire = await connect(t, port)
  wire.write('GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: other\r\n\r\n')
  assert.match(await wire.untilClosed(), /^HTTP\/1\.1 400 Bad Request\r\n/)
})

test('its own client: subprotocol, headers, ping, close code and reason', async (t) => {
  const events = /** @type {any[]} */ ([])
  let ended = () => {}
  const end = new Promise((resolve) => { ended = () => resolve(null) })
  const port = await start(t, (ws, req) => {
    echo(ws)
    ws.on('close', (/** @type {any} */ { code, reason }) => {
      events.push(['ours', req.headers['x-token'], ws.protocol, code, reason])
      ended()
    })
  }, { ping: 0.05, headers: { 'X-Greeting': 'hello' } }, ['b'])
  const client = new WebSocket.Client(`ws://127.0.0.1:${port}/`, ['a', 'b'], { headers: { 'X-Token': 't' } })
  atEnd(t, () => client.close())
  await new Promise((resolve) => client.on('open', resolve))
  assert.deepEqual([client.protocol, client.headers['x-greeting']], ['b', 'hello'])
  await new Promise((resolve) => client.ping('there?', resolve))
  client.send('hi')
  assert.equal((await new Promise((resolve) => client.on('message', resolve))).data, 'hi')
  const closed = new Promise((resolve) => client.on('close', resolve))
  client.close(4003, 'enough')
  const { code, reason } = await closed
  await end
  assert.deepEqual([code, reason, events], [4003, 'enough', [['ours', 't', 'b', 4003, 'enough']]])
})

test('a message over maxLength closes with 1009', async (t) => {
  const port = await start(t, echo, { maxLength: 1000 })
  const client = await open(t, port)
  const closed = closing(client)
  client.send('x'.repeat(1001))
  assert.equal((await closed)[0], 1009)
})

test('it is a stream: piped into itself it echoes, and a slow reader holds it back', async (t) => {
  const port = await start(t, (ws) => ws.pipe(ws))
  const client = await open(t, port)
  assert.equal(await ask(client, 'through the pipe'), 'through the pipe')
  client.pause()
  const piece = 'p'.repeat(256 * 1024)
  for (let i = 0; i < 64; i++) client.send(piece)
  await silence(100)
  assert.ok(client.bufferedAmount > 0)
  let count = 0
  const all = new Promise((resolve) => client.on('message', (data) => {
    assert.equal(data.length, piece.length)
    if (++count === 64) resolve(null)
  }))
  client.resume()
  await all
})

test('a client that vanishes is a close with 1006', async (t) => {
  const closes = new Promise((resolve) => {
    start(t, (ws) => ws.on('close', (/** @type {any} */ event) => resolve(event.code))).then(async (port) => {
      const client = await open(t, port)
      client.terminate()
    })
  })
  assert.equal(await closes, 1006)
})

test('its EventSource writes to the socket of a plain request', async (t) => {
  const server = http.createServer((req, res) => {
    if (!WebSocket.EventSource.isEventSource(req)) return res.end('page')
    const events = new WebSocket.EventSource(req, res, { ping: 0.03, retry: 2 })
    events.send('one')
    events.send('two\nlines', { event: 'named', id: '7' })
    atEnd(t, () => events.close())
  })
  const port = await serve(t, server)
  const wire = await connect(t, port)
  wire.write('GET / HTTP/1.1\r\nHost: a\r\nAccept: text/event-stream\r\n\r\n')
  const text = await wire.until(':\r\n\r\n', 2)
  assert.match(text, /^HTTP\/1\.1 200 OK\r\n/)
  assert.match(text, /retry: 2000\r\n\r\ndata: one\r\n\r\nevent: named\r\nid: 7\r\ndata: two\r?\ndata: lines\r\n\r\n/)
  assert.equal((await refusal(t, port)).status, 200)
})
