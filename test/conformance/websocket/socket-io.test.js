'use strict'

// Goal: socket.io 4 works unmodified: polling, WebSocket, and the upgrade between them.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const { once } = require('node:events')
const express = require('express')
const { Server } = require('socket.io')
const { io: connectTo } = require('socket.io-client')
const { WebSocketServer } = require('ws')
const { createAdapter } = require('@httpsys/express-adapter')
const { http } = require('../../helpers/backend')
const { request } = require('../../helpers/client')
const { ask, atEnd, echo, open, serve } = require('./kit')

const kTransports = { polling: ['polling'], websocket: ['websocket'], 'polling, then websocket': ['polling', 'websocket'] }

/**
 * @param {import('node:test').TestContext} t
 * @param {object} [options] of socket.io's Server
 * @param {any} [server]
 */
async function start (t, options = {}, server = http.createServer((req, res) => res.end('page'))) {
  const io = new Server(server, options)
  // Where the last poll and the client's close cross, engine.io waits for a poll that never comes: 30 s by default.
  io.engine.on('connection', (/** @type {any} */ socket) => { socket.transport.closeTimeout = 100 })
  atEnd(t, () => { io.close() })
  return { server, io, port: await serve(t, server) }
}

/**
 * @param {import('node:test').TestContext} t
 * @param {number} port
 * @param {object} [options]
 * @param {string} [namespace]
 */
function client (t, port, options = {}, namespace = '/') {
  const socket = connectTo(`http://127.0.0.1:${port}${namespace}`, { forceNew: true, reconnection: false, ...options })
  // In front of the server's end, which waits for its clients.
  t.after(() => socket.disconnect())
  return socket
}

for (const [name, transports] of Object.entries(kTransports)) {
  test(`${name}: events, acknowledgements and bytes go both ways`, async (t) => {
    const { io, port } = await start(t)
    io.on('connection', (socket) => {
      socket.on('echo', (...args) => {
        const done = args.pop()
        done(...args)
      })
    })
    const socket = client(t, port, { transports })
    await once(socket, 'connect')
    assert.equal(await socket.emitWithAck('echo', 'tëxt'), 'tëxt')
    const sent = { deep: [1, { bytes: Buffer.from([0, 255, 128]) }] }
    const back = await socket.emitWithAck('echo', sent)
    assert.deepEqual(Buffer.from(back.deep[1].bytes), sent.deep[1].bytes)
    const big = 'x'.repeat(500_000)
    assert.equal(await socket.emitWithAck('echo', big), big)
    assert.equal((await request(port)).body, 'page')
  })

  test(`${name}: disconnect() of either side is told to the other with its reason`, async (t) => {
    const { io, port } = await start(t)
    for (const side of ['ours', 'theirs']) {
      const connection = once(io, 'connection')
      const theirs = client(t, port, { transports })
      const [ours] = await connection
      if (!theirs.connected) await once(theirs, 'connect')
      const gone = once(side === 'ours' ? theirs : ours, 'disconnect')
      if (side === 'ours') ours.disconnect(true)
      else theirs.disconnect()
      assert.equal((await gone)[0], side === 'ours' ? 'io server disconnect' : 'client namespace disconnect')
    }
  })

  test(`${name}: allowRequest refuses with 403, a middleware with its own words`, async (t) => {
    const { io, port } = await start(t, {
      allowRequest: (/** @type {any} */ req, /** @type {any} */ done) => done(null, !req.url.includes('unwanted'))
    })
    const refused = client(t, port, { transports, query: { unwanted: 1 } })
    const [error] = await once(refused, 'connect_error')
    if (name.startsWith('polling')) assert.equal(error.context.status, 403)
    io.use((socket, next) => next(socket.handshake.auth.token === 'secret' ? undefined : Object.assign(new Error('who are you?'), { data: { code: 7 } })))
    const stranger = client(t, port, { transports })
    const [denied] = await once(stranger, 'connect_error')
    assert.deepEqual([denied.message, denied.data], ['who are you?', { code: 7 }])
    await once(client(t, port, { transports, auth: { token: 'secret' } }), 'connect')
  })
}

test('the upgrade from polling to WebSocket loses and reorders nothing', async (t) => {
  const { io, port } = await start(t)
  const connection = once(io, 'connection')
  const socket = client(t, port)
  const received = { ours: /** @type {number[]} */ ([]), theirs: /** @type {number[]} */ ([]) }
  socket.on('n', (n) => received.theirs.push(n))
  const [ours] = await connection
  ours.on('n', (/** @type {number} */ n) => received.ours.push(n))
  assert.equal(ours.conn.transport.name, 'polling')
  const upgraded = once(ours.conn, 'upgrade')
  let isUpgraded = false
  upgraded.then(() => { isUpgraded = true })
  let count = 0
  for (let more = 20; more > 0; more -= Number(isUpgraded)) {
    ours.emit('n', count)
    socket.emit('n', count++)
    await new Promise((resolve) => setImmediate(resolve))
  }
  assert.equal(ours.conn.transport.name, 'websocket')
  const settled = Promise.all([new Promise((resolve) => ours.once('last', resolve)), once(socket, 'last')])
  ours.emit('last')
  socket.emit('last')
  await settled
  const all = Array.from({ length: count }, (_, i) => i)
  assert.deepEqual(received, { ours: all, theirs: all })
})

test('rooms and namespaces reach those who are in them', async (t) => {
  const { io, port } = await start(t)
  io.on('connection', (socket) => socket.on('join', async (room, done) => {
    await socket.join(room)
    done()
  }))
  const admin = io.of('/admin')
  const [a, b] = [client(t, port, { transports: ['websocket'] }), client(t, port, { transports: ['polling'] })]
  const boss = client(t, port, {}, '/admin')
  await Promise.all([a, b, boss].map((socket) => once(socket, 'connect')))
  const heard = /** @type {any[]} */ ([])
  for (const [name, socket] of Object.entries({ a, b, boss })) socket.onAny((event, ...args) => heard.push(`${name} ${event} ${args.filter((arg) => typeof arg !== 'function')}`))
  await a.emitWithAck('join', 'red')
  await b.emitWithAck('join', 'blue')
  io.to('red').emit('colour', 'red')
  io.to('blue').emit('colour', 'blue')
  admin.emit('order', 1)
  const told = await io.timeout(100).emitWithAck('all').catch((/** @type {any} */ error) => error.message)
  assert.match(String(told), /operation has timed out|acknowledg/)
  assert.deepEqual(heard.sort(), ['a all ', 'a colour red', 'b all ', 'b colour blue', 'boss order 1'])
})

test('a message over maxHttpBufferSize ends the connection, by either transport', async (t) => {
  const { io, port } = await start(t, { maxHttpBufferSize: 10_000 })
  for (const transport of ['polling', 'websocket']) {
    const connection = once(io, 'connection')
    const socket = client(t, port, { transports: [transport] })
    const [ours] = await connection
    if (!socket.connected) await once(socket, 'connect')
    const gone = Promise.all([once(ours, 'disconnect'), once(socket, 'disconnect')])
    socket.emit('big', 'x'.repeat(20_000))
    const reasons = (await gone).map(([reason]) => reason)
    assert.deepEqual(reasons, transport === 'polling' ? ['transport close', 'transport error'] : ['transport error', 'transport close'])
  }
})

test('compression of polling answers and of WebSocket messages gives back what was sent', async (t) => {
  const { io, port } = await start(t, { perMessageDeflate: { threshold: 0 }, httpCompression: { threshold: 0 } })
  io.on('connection', (socket) => socket.on('echo', (text, done) => done(text)))
  for (const transports of Object.values(kTransports)) {
    const socket = client(t, port, { transports, perMessageDeflate: true })
    await once(socket, 'connect')
    const text = 'squeeze me '.repeat(10_000)
    assert.equal(await socket.emitWithAck('echo', text), text)
  }
})

test('a client that was cut off comes back with what it missed', async (t) => {
  const { io, port } = await start(t, { connectionStateRecovery: { maxDisconnectionDuration: 10_000 } })
  const connection = once(io, 'connection')
  const socket = client(t, port, { reconnection: true, reconnectionDelay: 50, transports: ['websocket'] })
  const [ours] = await connection
  const first = once(socket, 'news')
  ours.emit('news', 1)
  await first
  const lost = once(socket, 'disconnect')
  const back = once(io, 'connection')
  ours.conn.transport.socket.terminate()
  await lost
  const missed = once(socket, 'news')
  io.emit('news', 2)
  const [again] = await back
  assert.equal(again.recovered, true)
  assert.equal(again.id, ours.id)
  assert.equal((await missed)[0], 2)
  socket.io.reconnection(false)
})

test('a client that falls silent is given up after pingTimeout, one that answers stays', async (t) => {
  const { io, port } = await start(t, { pingInterval: 60, pingTimeout: 120 })
  const connection = once(io, 'connection')
  const alive = client(t, port, { transports: ['websocket'] })
  const [kept] = await connection
  let isKept = true
  kept.on('disconnect', () => { isKept = false })
  const wire = await open(t, port, '/socket.io/?EIO=4&transport=websocket')
  const silent = once(io, 'connection')
  wire.send('40')
  const [ours] = await silent
  assert.equal((await once(ours, 'disconnect'))[0], 'ping timeout')
  assert.deepEqual([isKept, alive.connected], [true, true])
})

test('cross-origin polling gets its headers, and a preflight its answer', async (t) => {
  const { port } = await start(t, { cors: { origin: 'http://there.test', credentials: true } })
  const path = '/socket.io/?EIO=4&transport=polling'
  const preflight = await request({
    port, path, method: 'OPTIONS', headers: { origin: 'http://there.test', 'access-control-request-method': 'POST' }
  })
  assert.deepEqual([preflight.status, preflight.headers['access-control-allow-origin']], [204, 'http://there.test'])
  const { status, headers, body } = await request({ port, path, headers: { origin: 'http://there.test' } })
  assert.deepEqual([status, headers['access-control-allow-credentials'], body[0]], [200, 'true', '0'])
})

test('what is no handshake is refused as the protocol says', async (t) => {
  const { port } = await start(t)
  for (const [path, code] of /** @type {[string, number][]} */ ([
    ['/socket.io/?EIO=4&transport=pigeon', 0], ['/socket.io/?EIO=4&transport=polling&sid=none', 1],
    ['/socket.io/?EIO=4&transport=websocket', 3], ['/socket.io/?EIO=3&transport=polling', 5]
  ])) {
    const { status, body } = await request({ port, path })
    assert.deepEqual([status, JSON.parse(body).code], [400, code])
  }
})

test('beside Express on an adapter: pages, the client\'s script and the sockets', async (t) => {
  const app = express()
  app.get('/hello', (req, res) => { res.send(`hello ${io.engine.clientsCount}`) })
  const adapter = createAdapter(app)
  t.after(() => adapter.uninstall())
  const { io, port } = await start(t, {}, adapter.server)
  io.engine.use((/** @type {any} */ req, /** @type {any} */ res, /** @type {any} */ next) => {
    res.setHeader('X-Engine', 'used')
    next()
  })
  await once(client(t, port), 'connect')
  assert.equal((await request({ port, path: '/hello' })).body, 'hello 1')
  assert.match((await request({ port, path: '/socket.io/socket.io.js' })).body, /^\/\*!\s+\* Socket\.IO/)
  assert.equal((await request({ port, path: '/socket.io/?EIO=4&transport=polling' })).headers['x-engine'], 'used')
})

test('two socket.io and a ws server share one server, each at its path', async (t) => {
  const server = http.createServer((req, res) => res.end('page'))
  const wss = echo(new WebSocketServer({ noServer: true }))
  server.on('upgrade', (req, socket, head) => {
    if (req.url === '/plain') wss.handleUpgrade(req, socket, head, (ws) => wss.emit('connection', ws, req))
  })
  // Whose upgrade nobody takes is ended after that time; whoever has answered is left alone.
  const options = { destroyUpgradeTimeout: 60 }
  const servers = ['/one/', '/two/'].map((path) => new Server({ path, ...options }).attach(server, { path, ...options }))
  for (const io of servers) {
    atEnd(t, () => { io.close() })
    io.on('connection', (socket) => socket.emit('path', io.path()))
  }
  const port = await serve(t, server)
  const plain = await open(t, port, '/plain')
  for (const path of ['/one/', '/two/']) {
    for (const transports of Object.values(kTransports)) {
      assert.equal((await once(client(t, port, { path, transports }), 'path'))[0], path.slice(0, -1))
    }
  }
  const nobody = await once(new (require('ws').WebSocket)(`ws://127.0.0.1:${port}/nobody`), 'error')
  assert.match(nobody[0].message, /socket hang up/)
  assert.equal(await ask(plain, 'still here'), 'still here')
  assert.equal((await request(port)).body, 'page')
})
