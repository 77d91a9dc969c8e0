'use strict'

// Goal: connections that upgrade are HTTP.SYS's opaque mode, in both directions: for sockets and for the package ws.

const { afterEach, test } = require('node:test')
const assert = require('node:assert/strict')
const { EventEmitter, once } = require('node:events')
const { WebSocket, WebSocketServer } = require('ws')
const { http } = require('../helpers/backend')
const { dial, serve } = require('../helpers/client')
const { forget, notesOf, plan, report, slow } = require('../helpers/httpapi-double')

// Of HttpSendHttpResponse().
const kDisconnect = 0x1
const kMoreData = 0x2
const kOpaque = 0x40

const kNetnameDeleted = 64
const kHandshake = 'GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n'
const kSwitching = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n'

const timed = { timeout: 20_000 }

afterEach(() => plan(''))

/** @param {import('node:test').TestContext} t */
async function echoServer (t) {
  const server = http.createServer()
  const sockets = new WebSocketServer({ server })
  sockets.on('connection', (socket) => socket.on('message', (data, isBinary) => socket.send(data, { binary: isBinary })))
  const port = await serve(t, server)
  return { port, server }
}

/** @param {import('node:test').TestContext} t @param {(socket: import('node:net').Socket, head: Buffer) => void} upgraded */
async function rawServer (t, upgraded) {
  const server = http.createServer((req, res) => res.end('plain'))
  /** @type {import('node:stream').Duplex[]} */
  const sockets = []
  // A server that closes waits for them. This runs before its end.
  t.after(() => sockets.forEach((socket) => socket.destroy()))
  server.on('upgrade', (req, socket, head) => {
    sockets.push(socket)
    socket.write(kSwitching)
    upgraded(/** @type {import('node:net').Socket} */ (socket), head)
  })
  return serve(t, server)
}

for (const ms of [0, 5]) {
  test(`ws echoes texts and binaries of all sizes, calls taking ${ms} ms`, timed, async (t) => {
    const { port } = await echoServer(t)
    await slow(ms)
    t.after(() => slow(0))
    const client = new WebSocket(`ws://127.0.0.1:${port}/`)
    await once(client, 'open')
    for (const message of ['', 'text', 'x'.repeat(70_000), Buffer.alloc(1_000_000, 7)]) {
      client.send(message)
      const [data, isBinary] = await once(client, 'message')
      assert.equal(isBinary, typeof message !== 'string')
      assert.ok(Buffer.from(message).equals(data))
    }
    client.close(4001, 'done')
    const [code, reason] = await once(client, 'close')
    assert.deepEqual([code, String(reason)], [4001, 'done'])
  })
}

test('the response is sent in opaque mode, with more data to come', timed, async (t) => {
  const port = await rawServer(t, (socket) => socket.pipe(socket))
  await forget()
  const wire = await dial(t, port)
  wire.write(kHandshake)
  await wire.until('\r\n\r\n')
  const [{ status, flags }] = await notesOf('response')
  assert.equal(status, 101)
  assert.equal(flags, kOpaque | kMoreData)
  assert.match(wire.text, /^HTTP\/1\.1 101 Switching Protocols\r\n/)
  assert.match(wire.text, /\r\nUpgrade: echo\r\n/)
})

test('what the client sends with its handshake arrives', timed, async (t) => {
  const port = await rawServer(t, (socket, head) => {
    assert.equal(head.length, 0)
    socket.pipe(socket)
  })
  const wire = await dial(t, port)
  wire.write(`${kHandshake}early`)
  await wire.until('early')
})

test('each direction ends by itself: the client first', timed, async (t) => {
  const port = await rawServer(t, (socket) => socket.on('end', () => socket.end('after the end')).resume())
  const wire = await dial(t, port)
  wire.write(kHandshake)
  await wire.until('\r\n\r\n')
  wire.socket.end('last')
  assert.match(await wire.untilClosed(), /after the end$/)
})

test('end() of the server ends the connection behind what was written', timed, async (t) => {
  const port = await rawServer(t, (socket) => socket.end('x'.repeat(100_000)))
  const wire = await dial(t, port)
  wire.write(kHandshake)
  assert.ok((await wire.untilClosed()).endsWith(`\r\n\r\n${'x'.repeat(100_000)}`))
  assert.equal(wire.error, null)
})

test('destroy() of the server is heard by the client, and leaves nothing open', timed, async (t) => {
  const port = await rawServer(t, (socket) => socket.once('data', () => socket.destroy()))
  const wire = await dial(t, port)
  wire.write(kHandshake)
  await wire.until('\r\n\r\n')
  wire.write('now')
  await wire.untilClosed()
  while ((await report()).open.requests > 0) await new Promise(setImmediate)
})

test('a client that vanishes is heard of', timed, async (t) => {
  const heard = new EventEmitter()
  const port = await rawServer(t, (socket) => socket.on('error', () => {}).on('close', () => heard.emit('close')).resume())
  const closed = once(heard, 'close')
  const wire = await dial(t, port)
  wire.write(kHandshake)
  await wire.until('\r\n\r\n')
  wire.socket.resetAndDestroy()
  await closed
})

test('a reader who stops makes write() return false, and drain follows', timed, async (t) => {
  const heard = new EventEmitter()
  const piece = Buffer.alloc(100_000)
  let written = 0
  const port = await rawServer(t, (socket) => {
    do written += piece.length; while (socket.write(piece))
    socket.once('drain', () => socket.end(() => heard.emit('drained')))
    heard.emit('full')
  })
  const [full, drained] = [once(heard, 'full'), once(heard, 'drained')]
  const wire = await dial(t, port)
  wire.socket.pause()
  wire.write(kHandshake)
  await full
  wire.socket.resume()
  await drained
  const text = await wire.untilClosed()
  assert.equal(text.length, text.indexOf('\r\n\r\n') + 4 + written)
})

for (const fault of [
  `HttpReceiveRequestEntityBody:1:${kNetnameDeleted}`,
  `HttpReceiveRequestEntityBody:1:${kNetnameDeleted}:1:late`,
  `HttpSendHttpResponse:1:${kNetnameDeleted}`,
  `HttpSendHttpResponse:1:${kNetnameDeleted}:1:late`,
  `HttpSendResponseEntityBody:1:${kNetnameDeleted}`,
  `HttpSendResponseEntityBody:1:${kNetnameDeleted}:1:late`
]) {
  test(`${fault}: the socket closes, at both ends`, timed, async (t) => {
    const heard = /** @type {string[]} */ ([])
    const port = await rawServer(t, (socket) => {
      socket.on('error', (error) => heard.push(/** @type {any} */ (error).code))
      socket.on('close', () => heard.push('close'))
      socket.pipe(socket)
    })
    const wire = await dial(t, port)
    await plan(fault)
    wire.write(kHandshake)
    await Promise.race([wire.until('\r\n\r\n').catch(() => {}), wire.untilClosed()])
    wire.write('echo')
    assert.ok(!(await wire.untilClosed()).endsWith('echo'))
    while (!heard.includes('close')) await new Promise(setImmediate)
    assert.equal((await report()).faultsLeft, 0)
    await plan('')
    while ((await report()).open.requests > 0) await new Promise(setImmediate)
    assert.match(await (await dial(t, port)).write('GET / HTTP/1.1\r\nHost: a\r\n\r\n').until('plain'), /^HTTP\/1\.1 200/)
  })
}

test('a handshake that is refused is an ordinary response', timed, async (t) => {
  const server = http.createServer()
  server.on('upgrade', (req, socket) => socket.end('HTTP/1.1 400 Bad Request\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno'))
  const port = await serve(t, server)
  await forget()
  const wire = await dial(t, port)
  wire.write(kHandshake)
  assert.match(await wire.untilClosed(), /^HTTP\/1\.1 400 Bad Request\r\n[^]*\r\n\r\nno$/)
  const [{ flags }] = await notesOf('response')
  assert.equal(flags & kOpaque, 0)
  assert.ok((flags & (kMoreData | kDisconnect)) !== 0)
})
