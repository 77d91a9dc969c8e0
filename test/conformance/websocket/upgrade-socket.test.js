'use strict'

// Goal: the socket of an upgrade is what libraries take it for, and nothing of HTTP applies to it any more.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const { once } = require('node:events')
const net = require('node:net')
const { Duplex } = require('node:stream')
const { setTimeout: sleep } = require('node:timers/promises')
const { WebSocketServer } = require('ws')
const { http } = require('../../helpers/backend')
const { silence } = require('../../helpers/waiting')
const { atEnd, closing, connect, echo, frame, handshake, serve } = require('./kit')

const kAccepted = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n'

/**
 * An upgraded connection: our socket, and the other end.
 *
 * @param {import('node:test').TestContext} t
 * @param {object} [options] of createServer()
 * @param {string | Buffer} [more] what follows the request in the same segment
 */
async function upgraded (t, options = {}, more = '') {
  const server = http.createServer(options)
  const upgrade = once(server, 'upgrade')
  const port = await serve(t, server)
  const wire = await connect(t, port)
  wire.write(Buffer.concat([Buffer.from(handshake()), Buffer.from(more)]))
  const [req, socket, head] = await upgrade
  socket.on('error', () => {})
  atEnd(t, () => socket.destroy())
  socket.write(kAccepted)
  await wire.until(kAccepted)
  return { server, wire, req, /** @type {import('node:net').Socket} */ socket, /** @type {Buffer} */ head }
}

test('it is a Duplex and a net.Socket with the addresses of the connection', async (t) => {
  const { req, socket, wire } = await upgraded(t)
  assert.ok(socket instanceof Duplex && socket instanceof net.Socket)
  assert.equal(req.socket, socket)
  assert.deepEqual([socket.remoteAddress, socket.remotePort, socket.remoteFamily], ['127.0.0.1', wire.socket.localPort, 'IPv4'])
  assert.deepEqual([socket.localAddress, socket.localPort], ['127.0.0.1', wire.socket.remotePort])
  assert.deepEqual([socket.readable, socket.writable, socket.destroyed, socket.readyState], [true, true, false, 'open'])
})

test('_readableState and _writableState tell what ws asks them, before and after the end', async (t) => {
  const { socket, wire } = await upgraded(t)
  const { _readableState: readable, _writableState: writable } = /** @type {any} */ (socket)
  assert.deepEqual([readable.endEmitted, readable.errorEmitted, readable.flowing, readable.length], [false, false, null, 0])
  assert.deepEqual([writable.finished, writable.errorEmitted, writable.length, writable.ending], [false, false, 0, false])
  socket.resume()
  assert.equal(readable.flowing, true)
  wire.socket.end()
  await once(socket, 'end')
  assert.deepEqual([readable.endEmitted, writable.finished], [true, false])
  const closed = once(socket, 'close')
  socket.end()
  await closed
  assert.deepEqual([writable.finished, readable.closed ?? socket.closed, socket.destroyed], [true, true, true])
})

test('cork() holds back, uncork() sends what was written in one piece', async (t) => {
  const { socket, wire } = await upgraded(t)
  socket.cork()
  for (const word of ['one ', 'two ', 'three']) socket.write(word)
  assert.deepEqual([socket.writableCorked, socket.writableLength], [1, 13])
  await silence(30)
  assert.ok(!wire.text.includes('one'))
  socket.uncork()
  await wire.until('one two three')
  assert.deepEqual([socket.writableCorked, socket.writableLength], [0, 0])
})

test('setNoDelay, setKeepAlive, ref and unref return the socket, setEncoding changes what data is', async (t) => {
  const { socket, wire } = await upgraded(t)
  assert.equal(socket.setNoDelay(), socket)
  assert.equal(socket.setNoDelay(false), socket)
  assert.equal(socket.setKeepAlive(true, 1000), socket)
  assert.equal(socket.unref().ref(), socket)
  const data = once(socket, 'data')
  wire.write('bytes')
  assert.deepEqual(await data, [Buffer.from('bytes')])
})

test('setTimeout counts from the last byte in either direction, and 0 ends it', async (t) => {
  const { socket, wire } = await upgraded(t)
  const timeout = 800
  let timeouts = 0
  let early = 0
  let active = performance.now()
  socket.on('data', () => { active = performance.now() })
  socket.setTimeout(timeout, () => {
    timeouts++
    // A timeout is right where the machine has kept both sides from writing for so long. Timers count from the
    // loop's clock, which is behind for as long as the loop has been busy. A write that does not count shows as 200 ms.
    if (performance.now() - active < timeout - 100) early++
  })
  for (let i = 0; i < 8; i++) {
    await sleep(200)
    if (i % 2 === 0) wire.write('in')
    else {
      active = performance.now()
      socket.write('out')
    }
  }
  assert.equal(early, 0)
  const before = timeouts
  await once(socket, 'timeout')
  assert.deepEqual([timeouts - before, early, socket.destroyed], [1, 0, false])
  socket.setTimeout(0)
  await silence(timeout + 200)
  assert.equal(timeouts - before, 1)
})

test('head is what came with the request, and may be put back', async (t) => {
  const { socket, head, wire } = await upgraded(t, {}, 'head first, ')
  assert.deepEqual(head, Buffer.from('head first, '))
  socket.unshift(head)
  wire.write('then the rest')
  let text = ''
  while (text.length < 25) text += (socket.read() ?? (await once(socket, 'readable'), '')).toString()
  assert.equal(text, 'head first, then the rest')
})

test('a paused socket keeps its bytes for later, and no more than some', async (t) => {
  const { socket, wire } = await upgraded(t)
  socket.pause()
  const piece = Buffer.alloc(1024 * 1024, 'x')
  for (let i = 0; i < 32; i++) wire.socket.write(piece)
  // Silence of the sender; on a slow machine more is left of what it wrote.
  await silence(100)
  assert.ok(wire.socket.writableLength > 8 * piece.length)
  let bytes = 0
  socket.on('data', (data) => { bytes += data.length })
  socket.resume()
  while (bytes < 32 * piece.length) await once(socket, 'data')
  assert.equal(bytes, 32 * piece.length)
  assert.ok(socket.bytesRead >= bytes)
})

test('the client\'s end does not end our side', async (t) => {
  const { socket, wire } = await upgraded(t)
  socket.resume()
  wire.socket.end()
  await once(socket, 'end')
  assert.equal(socket.writable, true)
  socket.end('last words')
  assert.match(await wire.untilClosed(), /last words$/)
})

test('events end in their order: end, finish, close', async (t) => {
  const { socket, wire } = await upgraded(t)
  const events = /** @type {any[]} */ ([])
  for (const name of ['end', 'finish', 'close', 'error']) socket.on(name, (/** @type {any[]} */ ...args) => events.push([name, ...args]))
  socket.resume()
  wire.socket.end()
  await once(socket, 'end')
  socket.end()
  await once(socket, 'close')
  assert.deepEqual(events, [['end'], ['finish'], ['close', false]])
})

test('a reset by the client is an error, and then the close', async (t) => {
  const { socket, wire } = await upgraded(t)
  const failed = closing(socket)
  const error = new Promise((resolve) => socket.on('error', resolve))
  socket.resume()
  wire.socket.resetAndDestroy()
  assert.equal((await error).code, 'ECONNRESET')
  assert.deepEqual(await failed, [true])
})

test('no listener of HTTP is left on it', async (t) => {
  const { socket } = await upgraded(t)
  socket.removeAllListeners('error')
  for (const name of ['data', 'end', 'close', 'drain', 'timeout', 'error']) {
    // net.Socket itself listens for 'end'.
    assert.equal(socket.listenerCount(name), name === 'end' ? net.Socket.prototype.listenerCount.call(new net.Socket(), 'end') : 0, name)
  }
})

test('no timeout of HTTP reaches it', async (t) => {
  const server = http.createServer({
    // Enough for each request, also on a busy machine.
    headersTimeout: 500, requestTimeout: 600, keepAliveTimeout: 400, connectionsCheckingInterval: 20, keepAliveTimeoutBuffer: 0
  })
  server.timeout = 500
  let timeouts = 0
  server.on('timeout', () => { timeouts++ })
  const wss = echo(new WebSocketServer({ server }))
  const port = await serve(t, server)
  const quick = await connect(t, port)
  quick.write(handshake())
  await quick.until('\r\n\r\n')
  // One that has asked before, and is slow with half a frame.
  const slow = await connect(t, port)
  slow.write('GET / HTTP/1.1\r\nHost: a\r\nUpgrade: none\r\n\r\n')
  server.on('request', (req, res) => res.end('page'))
  await slow.until('page')
  slow.write(handshake())
  await slow.until('101 Switching')
  slow.write(frame('half a frame').subarray(0, 9))
  await silence(1500)
  assert.deepEqual([wss.clients.size, timeouts], [2, 0])
  slow.write(frame('half a frame').subarray(9))
  await slow.until('half a frame')
  quick.write(frame('still'))
  await quick.until('still')
  for (const client of wss.clients) client.terminate()
})

test('no limit for bodies, headers or requests reaches it', async (t) => {
  // The first is ours alone, and stock Node does not mind it.
  const server = http.createServer(/** @type {any} */ ({ maxRequestBodySize: 1000, maxHeaderSize: 1024 }))
  server.maxRequestsPerSocket = 1
  const wss = echo(new WebSocketServer({ server }))
  const port = await serve(t, server)
  const wire = await connect(t, port)
  wire.write(handshake('/', ['Content-Length: 0']))
  await wire.until('101 Switching')
  for (let i = 0; i < 500; i++) wire.write(frame('x'.repeat(100)))
  await wire.until(/x{100}/, 500)
  for (const client of wss.clients) client.terminate()
})
