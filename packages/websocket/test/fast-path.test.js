'use strict'

// What only frames on I/O threads can get wrong: broadcasts, their order with other sends, several lanes, back-pressure
// by credits and windows, and ends of processes. Three lanes, whatever the machine has.

process.env.HTTPSYS_IO_THREADS = '3'

const assert = require('node:assert/strict')
const { fork } = require('node:child_process')
const { once } = require('node:events')
const http = require('node:http')
const { test } = require('node:test')
const { setTimeout: sleep, setImmediate: turn } = require('node:timers/promises')
const { Worker } = require('node:worker_threads')
const { WebSocket } = require('ws')
const core = require('@httpsys/core-native')
const fast = require('..')
const { kFast, serve } = require('./support/columns')
const { RawClient, frame } = require('./support/raw-client')
const { until } = require('../../../test/helpers/waiting')

const kFin = 0x80
const skip = core.backend === 'engine' ? false : 'stock Node has no I/O threads'
const kMiB = 1 << 20

/** @param {any} socket */
const closeOf = (socket) => new Promise((resolve) => socket.on('close', resolve))

/**
 * Clients of a server, in the order of its sockets, with what each has received.
 *
 * @param {{ wss: any, url: string }} server
 * @param {number} count
 * @param {any} [options]
 */
async function connectMany ({ wss, url }, count, options) {
  const pairs = []
  for (let i = 0; i < count; i++) {
    const served = once(wss, 'connection')
    const client = new WebSocket(url, options)
    /** @type {string[]} */
    const received = []
    client.on('message', (data) => received.push(String(data)))
    await once(client, 'open')
    const [socket] = await served
    pairs.push({ client, socket, received })
  }
  return pairs
}

/** @param {any} socket */
const channelOf = (socket) => socket[Object.getOwnPropertySymbols(socket).find((symbol) => symbol.description === 'httpsys.channel')]

/** Closes all from the server and waits until every client has seen it. @param {{ client: any, socket: any }[]} pairs */
async function finish (pairs) {
  await Promise.all(pairs.map(({ client, socket }) => {
    const closed = client.readyState === WebSocket.CLOSED ? null : closeOf(client)
    socket.close()
    return closed
  }))
}

test('broadcasts keep their order among a socket\'s other messages, on several lanes', { skip }, async (t) => {
  const pairs = await connectMany(await serve(t, kFast), 20)
  const expected = pairs.map(() => /** @type {string[]} */ ([]))
  const lanes = new Set(pairs.map(({ socket }) => channelOf(socket).lane.index))
  assert.ok(lanes.size > 1)
  for (let i = 0; i < 60; i++) {
    const data = i % 2 === 0 ? `text ${i}` : Buffer.from(`bytes ${i}`.padEnd(i * 3, '.'))
    for (const [n, { socket }] of pairs.entries()) {
      socket.send(data, { binary: false })
      expected[n].push(String(data))
      if ((i + n) % 7 === 0) {
        socket.send(`own ${i} ${n}`)
        expected[n].push(`own ${i} ${n}`)
      }
      if ((i + n) % 11 === 0) { // Twice the same to the same.
        socket.send(data, { binary: false })
        expected[n].push(String(data))
      }
    }
    if (i % 10 === 0) await turn()
  }
  await finish(pairs)
  for (const [n, { received }] of pairs.entries()) assert.deepEqual(received, expected[n])
})

test('a Buffer may be changed between two sends, also of the same broadcast', { skip }, async (t) => {
  const pairs = await connectMany(await serve(t, kFast), 12)
  const expected = pairs.map(() => /** @type {string[]} */ ([]))
  for (const size of [8, 200]) {
    const data = Buffer.alloc(size, 'a')
    for (let round = 0; round < 5; round++) {
      for (const [n, { socket }] of pairs.entries()) {
        if (n % 3 === 0) data[size - 1]++
        socket.send(data, { binary: false })
        expected[n].push(String(data))
      }
    }
  }
  await finish(pairs)
  for (const [n, { received }] of pairs.entries()) assert.deepEqual(received, expected[n])
})

test('a socket that is closed within a broadcast gets what came before, the others everything', { skip }, async (t) => {
  const pairs = await connectMany(await serve(t, kFast), 9)
  for (const { client } of pairs) client.on('error', () => {})
  for (let i = 0; i < 10; i++) {
    for (const [n, { socket }] of pairs.entries()) {
      socket.send(`message ${i}`)
      if (n === 3 && i === 4) socket.close(4000)
      if (n === 5 && i === 6) socket.terminate()
    }
  }
  await finish(pairs)
  const all = Array.from({ length: 10 }, (_, i) => `message ${i}`)
  for (const [n, { received }] of pairs.entries()) {
    if (n === 3) assert.deepEqual(received, all.slice(0, 5))
    else if (n === 5) assert.deepEqual(received, all.slice(0, received.length))
    else assert.deepEqual(received, all)
  }
})

test('server.broadcast() reaches the clients that its filter lets pass', { skip }, async (t) => {
  const server = await serve(t, kFast)
  const pairs = await connectMany(server, 6)
  for (const [n, { socket }] of pairs.entries()) socket.isEven = n % 2 === 0
  assert.equal(server.wss.broadcast('all'), 6)
  assert.equal(server.wss.broadcast('even', { filter: (/** @type {any} */ { isEven }) => isEven }), 3)
  assert.equal(server.wss.broadcast(new Uint8Array([0x61, 0x62]).buffer, { binary: false }), 6)
  assert.equal(server.wss.broadcast('x'.repeat(200_000)), 6)
  await finish(pairs)
  for (const [n, { received }] of pairs.entries()) {
    assert.deepEqual(received, ['all', ...(n % 2 === 0 ? ['even'] : []), 'ab', 'x'.repeat(200_000)])
  }
})

test('compressed broadcasts are read by every client, whatever it has negotiated and got before', { skip }, async (t) => {
  const server = await serve(t, kFast, { perMessageDeflate: { threshold: 0 } })
  const offers = [true, false, { serverNoContextTakeover: true }, { serverMaxWindowBits: 9 }, true, { serverNoContextTakeover: true }]
  const pairs = []
  for (const perMessageDeflate of offers) pairs.push(...await connectMany(server, 1, { perMessageDeflate }))
  const expected = pairs.map(() => /** @type {string[]} */ ([]))
  for (let i = 0; i < 20; i++) {
    for (const [n, { socket }] of pairs.entries()) {
      const own = `to ${n} alone, for the ${i}th time, to ${n} alone`
      socket.send(own)
      expected[n].push(own)
    }
    const shared = `to everybody for the ${i}th time `.repeat(i * 30 + 1)
    for (const [n, { socket }] of pairs.entries()) {
      socket.send(shared)
      expected[n].push(shared)
    }
  }
  await finish(pairs)
  for (const [n, { received }] of pairs.entries()) assert.deepEqual(received, expected[n], `client ${n}`)
})

test('a client that does not read is bounded by bufferedAmount, and gets everything in the end', { skip }, async (t) => {
  const server = await serve(t, kFast)
  const served = once(server.wss, 'connection')
  const client = await RawClient.connect(server.port)
  const [socket] = await served
  client.socket.pause()
  const piece = Buffer.alloc(16 * 1024, 'p')
  let sent = 0
  let accepted = 0
  for (let isStopped = false; !isStopped && sent < 64 * kMiB;) {
    socket.send(piece, () => { accepted += piece.length })
    sent += piece.length
    if (socket.bufferedAmount < 2 * kMiB) continue
    // The kernels get time to take what was sent; on a slow machine they take less of it.
    await sleep(20)
    isStopped = socket.bufferedAmount >= 2 * kMiB
  }
  assert.ok(sent < 64 * kMiB)
  const before = socket.bufferedAmount
  socket.send('twelve bytes')
  assert.equal(socket.bufferedAmount, before + 12)
  assert.ok(accepted < sent)
  socket.close(1000)
  client.socket.resume()
  const frames = sent / piece.length
  await client.until(frames * (piece.length + 4) + 14 + 4)
  assert.equal(client.received.length, frames * (piece.length + 4) + 14 + 4)
  assert.deepEqual(client.received.subarray(-18), Buffer.from([0x81, 12, ...Buffer.from('twelve bytes'), 0x88, 2, 3, 0xe8]))
  assert.equal(accepted, sent)
  client.write(frame(kFin | 8, Buffer.from([3, 0xe8])))
  await closeOf(socket)
  assert.equal(socket.bufferedAmount, 0)
})

test('a server that is paused stops its clients, and loses nothing', { skip }, async (t) => {
  const server = await serve(t, kFast)
  const served = once(server.wss, 'connection')
  const client = new WebSocket(server.url)
  await once(client, 'open')
  const [socket] = await served
  let count = 0
  let bytes = 0
  socket.on('message', (/** @type {Buffer} */ data) => { count++; bytes += data.length })
  socket.pause()
  const piece = Buffer.alloc(4096, 1)
  const pieces = 8 * kMiB / piece.length
  for (let i = 0; i < pieces; i++) client.send(piece)
  let last = -1
  while (client.bufferedAmount !== last) {
    last = client.bufferedAmount
    await sleep(50) // No event says that nothing moves; on a slow machine more is left.
  }
  assert.ok(last > 0, 'the client is stopped')
  assert.equal(count, 0)
  socket.resume()
  client.close()
  await closeOf(socket)
  assert.deepEqual([count, bytes], [pieces, pieces * piece.length])
})

test('messages of 16 MiB go both ways, whole and in fragments', { skip, timeout: 60_000 }, async (t) => {
  const server = await serve(t, kFast)
  const large = Buffer.alloc(16 * kMiB)
  for (let i = 0; i < large.length; i += 4) large.writeUInt32LE(i, i)
  server.wss.on('connection', (/** @type {any} */ socket) => socket.on('message', (/** @type {Buffer} */ data) => socket.send(data)))
  const client = new WebSocket(server.url)
  await once(client, 'open')
  client.send(large)
  const [whole] = await once(client, 'message')
  assert.ok(whole.equals(large))
  for (let at = 0; at < large.length; at += kMiB) client.send(large.subarray(at, at + kMiB), { fin: at + kMiB === large.length })
  const [joined] = await once(client, 'message')
  assert.ok(joined.equals(large))
  client.close()
})

test('a broadcast of a large Buffer is one block, whose callbacks come when all have it', { skip }, async (t) => {
  const pairs = await connectMany(await serve(t, kFast), 12)
  const large = Buffer.alloc(kMiB, 'L')
  const sent = pairs.map(({ socket }) => new Promise((resolve) => socket.send(large, resolve)))
  // One for the first of a lane, one for its others.
  for (const lane of new Set(pairs.map(({ socket }) => channelOf(socket).lane))) assert.ok(lane.blocks.size <= 2)
  for (const { socket } of pairs) assert.equal(socket.bufferedAmount, kMiB)
  await Promise.all(sent)
  for (const { socket } of pairs) assert.equal(socket.bufferedAmount, 0)
  await finish(pairs)
  for (const { received } of pairs) assert.deepEqual(received.map((text) => text.length), [kMiB])
})

test('a peer that sends pings and reads no pongs is cut off', { skip, timeout: 30_000 }, async (t) => {
  const server = await serve(t, kFast)
  const served = once(server.wss, 'connection')
  const client = await RawClient.connect(server.port)
  const [socket] = await served
  client.socket.pause()
  const pings = Buffer.concat(Array.from({ length: 400 }, () => frame(kFin | 9, 'p'.repeat(125))))
  const closed = closeOf(socket)
  const sender = setInterval(() => { if (client.socket.writableLength < kMiB) client.socket.write(pings) }, 1)
  await closed
  clearInterval(sender)
  client.socket.destroy()
})

test('with allowSynchronousEvents: false each event has a turn of its own', { skip }, async (t) => {
  const server = await serve(t, kFast, { allowSynchronousEvents: false })
  const served = once(server.wss, 'connection')
  const client = await RawClient.connect(server.port)
  const [socket] = await served
  let turns = 0
  let isOver = false
  const count = () => { turns++; if (!isOver) setImmediate(count) }
  setImmediate(count)
  /** @type {number[]} */
  const seen = []
  for (const event of ['message', 'ping', 'pong']) socket.on(event, () => seen.push(turns))
  const closed = closeOf(socket)
  client.write(frame(kFin | 1, 'a'), frame(kFin | 9, 'b'), frame(kFin | 10, 'c'), frame(kFin | 1, 'd'), frame(kFin | 8, ''))
  await closed
  isOver = true
  assert.equal(seen.length, 4)
  assert.equal(new Set(seen).size, 4)
})

test('the socket below is a net.Socket for who looks, with its events', { skip }, async (t) => {
  const server = await serve(t, kFast)
  const served = once(server.wss, 'connection')
  const client = new WebSocket(server.url)
  await once(client, 'open')
  const [socket, req] = await served
  assert.equal(socket._socket, req.socket)
  assert.equal(req.socket.remoteAddress, '127.0.0.1')
  assert.equal(req.socket.remotePort, client._socket.localPort)
  const events = []
  for (const event of ['end', 'close']) req.socket.on(event, () => events.push(event))
  socket.on('close', () => events.push('WebSocket close'))
  client.close()
  await closeOf(socket)
  await until(() => events.length >= 3, 'the events of the socket')
  await turn()
  assert.deepEqual(events.toSorted?.() ?? [...events].sort(), ['WebSocket close', 'close', 'end'])
})

test('a reset of a connection whose socket is used as a stream is the WebSocket\'s to tell', { skip }, async (t) => {
  const server = await serve(t, kFast)
  server.server.on('clientError', () => {})
  for (const touch of [() => {}, (/** @type {any} */ socket) => socket._socket.on('close', () => {})]) {
    const served = once(server.wss, 'connection')
    const client = await RawClient.connect(server.port)
    const [socket] = await served
    touch(socket)
    const closed = new Promise((resolve) => socket.on('close', resolve))
    client.socket.resetAndDestroy()
    assert.equal(await closed, 1006)
  }
})

test('the server forgets a client that has closed, whatever becomes of its listeners', { skip }, async (t) => {
  const server = await serve(t, kFast)
  const pairs = await connectMany(server, 3)
  const [{ client, socket }] = pairs
  assert.equal(socket.listenerCount('close'), 0)
  const seen = once(socket, 'close').then(() => server.wss.clients.has(socket))
  client.close()
  assert.equal(await seen, false)
  pairs[1].socket.removeAllListeners()
  const gone = closeOf(pairs[1].client)
  pairs[1].client.close()
  await gone
  const closed = once(server.wss, 'close')
  server.wss.close()
  pairs[2].client.close()
  await closed
  assert.equal(server.wss.clients.size, 0)
})

test('without clientTracking the first listener for the close of a WebSocket is the application\'s', { skip }, async (t) => {
  const { wss, url } = await serve(t, kFast, { clientTracking: false })
  const closed = new Promise((resolve) => wss.on('connection', (/** @type {any} */ socket) => socket.on('close', resolve)))
  const client = new WebSocket(url)
  await once(client, 'open')
  client.close(1000)
  assert.equal(await closed, 1000)
})

test('answers to pings can be left to the application', { skip }, async (t) => {
  const { wss, url } = await serve(t, kFast, { autoPong: false })
  const pinged = new Promise((resolve) => wss.on('connection', (/** @type {any} */ socket) => socket.on('ping', resolve)))
  const client = new WebSocket(url)
  let pongs = 0
  client.on('pong', () => pongs++)
  await once(client, 'open')
  client.ping('x')
  await pinged
  const [socket] = wss.clients
  socket.send('behind')
  await once(client, 'message')
  assert.equal(pongs, 0)
})

test('sockets that are none of the engine get the code of ws', async (t) => {
  const server = http.createServer()
  const wss = new fast.WebSocketServer({ server })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  wss.on('connection', (/** @type {any} */ socket) => socket.on('message', (/** @type {Buffer} */ data) => socket.send(`${data}!`)))
  const client = new WebSocket(`ws://127.0.0.1:${server.address().port}`)
  await once(client, 'open')
  client.send('hello')
  client.ping()
  const [[data]] = await Promise.all([once(client, 'message'), once(client, 'pong')])
  assert.equal(String(data), 'hello!')
  const [socket] = wss.clients
  assert.ok(socket instanceof fast.WebSocket && socket instanceof WebSocket)
  assert.notEqual(socket._receiver, null)
  client.close()
  await once(client, 'close')
})

test('with a port of its own the server is the engine\'s, refuses requests, and closes with the WebSocketServer', async () => {
  const wss = new fast.WebSocketServer({ port: 0, host: '127.0.0.1' })
  await once(wss, 'listening')
  const { port } = wss.address()
  const response = await fetch(`http://127.0.0.1:${port}`)
  assert.equal(response.status, 426)
  assert.equal(await response.text(), 'Upgrade Required')
  assert.equal(wss.options.server, null)
  await new Promise((resolve) => wss.close(resolve))
  await assert.rejects(fetch(`http://127.0.0.1:${port}`))
  assert.throws(() => new fast.WebSocketServer({ port: 0, noServer: true }), TypeError)
})

test('everything that ws exports is exported', () => {
  const ws = require('ws')
  for (const name of Object.keys(ws)) assert.ok(name in fast, name)
  assert.equal(fast.createWebSocketStream, ws.createWebSocketStream)
  assert.equal(fast.WebSocket, fast)
  assert.equal(fast.Server, fast.WebSocketServer)
  assert.notEqual(ws.Server, fast.Server)
})

test('what a new WebSocket has like all others is no field of its own, and becomes one when it changes', () => {
  const make = () => /** @type {any} */ (new fast.WebSocket(/** @type {any} */ (null), undefined, /** @type {any} */ ({ autoPong: true, closeTimeout: 30_000, maxPendingAutoPongs: 0 })))
  const stock = /** @type {any} */ (new (require('ws').WebSocket)(null, undefined, { autoPong: false, closeTimeout: 30_000 }))
  const [one, other] = [make(), make()]
  for (const name of Object.keys(stock)) if (name !== '_events') assert.deepEqual(one[name], stock[name], name)
  assert.ok(Reflect.ownKeys(one).length < 7, `${Reflect.ownKeys(one).map(String)}`)
  for (const [name, value] of [['_closeCode', 1000], ['_paused', true], ['_receiver', {}], ['_extensions', {}], ['_maxListeners', 3]]) {
    one[name] = value
    assert.equal(one[name], value)
    assert.ok(Object.hasOwn(one, name))
    assert.deepEqual(other[name], stock[name], name)
  }
})

/** @param {string} program @param {string[]} [args] */
async function child (program, args = []) {
  const started = fork(require.resolve('./support/child.js'), [program, ...args], { stdio: ['ignore', 'inherit', 'pipe', 'ipc'] })
  let errors = ''
  started.stderr?.on('data', (chunk) => { errors += chunk })
  const [port] = await once(started, 'message')
  return { started, port, errors: () => errors }
}

test('what was sent before process.exit() arrives', { skip }, async () => {
  for (const way of ['exit', 'broadcast-exit']) {
    const { started, port } = await child(way)
    const clients = await Promise.all([1, 2, 3].map(() => RawClient.connect(port)))
    const texts = await Promise.all(clients.map(async (client) => (await client.end()).toString('latin1')))
    for (const text of texts) assert.equal(text.split('message').length - 1, 500, way)
    if (started.exitCode === null) await once(started, 'exit')
  }
})

test('an exception in a handler is an uncaught one, and the next messages are told', { skip }, async () => {
  const { started, port } = await child('throw')
  const client = await RawClient.connect(port)
  client.write(...['one', 'throw', 'two', 'throw', 'three'].map((text) => frame(kFin | 1, text)))
  await client.until(5 + 5 + 7)
  assert.deepEqual(client.received, Buffer.concat(['one', 'two', 'three'].map((text) => frame(0x81, text, { mask: false }))))
  started.send('report')
  const [thrown] = await once(started, 'message')
  assert.deepEqual(thrown, ['thrown by a handler', 'thrown by a handler'])
  started.kill()
})

test('worker threads serve WebSockets, and what a terminated one sent arrives', { skip }, async () => {
  const worker = new Worker(require.resolve('./support/child.js'), { argv: ['echo'] })
  const [port] = await once(worker, 'message')
  const client = await RawClient.connect(port)
  client.write(frame(kFin | 1, 'hello'), frame(kFin | 2, Buffer.alloc(100_000, 1)))
  await client.until(7 + 10 + 100_000)
  await worker.terminate()
  await client.end()
  assert.equal(client.received.length, 7 + 10 + 100_000)
})
