'use strict'

const assert = require('node:assert/strict')
const { randomBytes } = require('node:crypto')
const { once } = require('node:events')
const http = require('node:http')
const net = require('node:net')
const { test } = require('node:test')
const { WebSocket, WebSocketServer } = require('ws')
const core = require('@httpsys/core-native')
const { createAdapter } = require('@httpsys/express-adapter')
const { attach, WebSocketServer: NativeServer } = require('..')
const { freePort } = require('../../../test/helpers/free-port')

const onlyOurs = { skip: core.backend === 'node' && 'stock Node knows no prefixes' }

/** Listens on a free port; when the test ends, ends every connection. */
async function listen (t, server) {
  const sockets = new Set()
  server.on('connection', (socket) => sockets.add(socket))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(async () => {
    for (const socket of sockets) socket.destroy()
    await new Promise((resolve) => server.close(resolve))
  })
  return `ws://127.0.0.1:${server.address().port}`
}

function echoServer (options) {
  const wss = new WebSocketServer({ noServer: true, ...options })
  wss.on('connection', (socket) => {
    socket.on('message', (data, isBinary) => socket.send(data, { binary: isBinary }))
  })
  return wss
}

/** A server that names itself to whoever connects. */
function naming (name) {
  const wss = new WebSocketServer({ noServer: true })
  wss.on('connection', (socket, req) => socket.send(`${name} ${req.url}`))
  return wss
}

async function firstMessage (url) {
  const socket = new WebSocket(url)
  const [data] = await once(socket, 'message')
  socket.close()
  await once(socket, 'close')
  return data.toString()
}

/** The status with which an upgrade is refused. */
async function refusal (url) {
  const socket = new WebSocket(url)
  const [, response] = await once(socket, 'unexpected-response')
  response.resume()
  socket.on('error', () => {})
  socket.terminate()
  return response.statusCode
}

test('text and binary messages are echoed as what they are', async (t) => {
  const server = core.createServer()
  attach(echoServer(), server)
  const socket = new WebSocket(await listen(t, server))
  await once(socket, 'open')
  socket.send('tëxt')
  assert.deepEqual((([data, isBinary]) => [data.toString(), isBinary])(await once(socket, 'message')), ['tëxt', false])
  socket.send(Buffer.from([0, 255, 128]))
  assert.deepEqual(await once(socket, 'message'), [Buffer.from([0, 255, 128]), true])
  socket.close()
  await once(socket, 'close')
})

test('a message of 1 MB comes back whole', async (t) => {
  const server = core.createServer()
  attach(echoServer(), server)
  const socket = new WebSocket(await listen(t, server))
  await once(socket, 'open')
  const sent = randomBytes(1024 * 1024)
  socket.send(sent)
  const [data] = await once(socket, 'message')
  assert.ok(sent.equals(data))
  socket.terminate()
})

test('1000 messages keep their order, compressed too', async (t) => {
  const server = core.createServer()
  attach(echoServer({ perMessageDeflate: { threshold: 0 } }), server)
  const socket = new WebSocket(await listen(t, server))
  await once(socket, 'open')
  const received = []
  const done = new Promise((resolve) => socket.on('message', (data) => received.push(Number(data)) === 1000 && resolve()))
  for (let i = 0; i < 1000; i++) socket.send(String(i))
  await done
  assert.deepEqual(received, Array.from({ length: 1000 }, (_, i) => i))
  assert.equal(socket.extensions, 'permessage-deflate')
  socket.terminate()
})

test('a message sent together with the handshake is not lost', async (t) => {
  const server = core.createServer()
  attach(echoServer(), server)
  const { port } = new URL(await listen(t, server))
  const socket = net.connect(Number(port), '127.0.0.1')
  const frame = Buffer.concat([Buffer.from([0x81, 0x82, 0, 0, 0, 0]), Buffer.from('hi')])
  socket.write(Buffer.concat([Buffer.from('GET / HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n' +
    'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n'), frame]))
  let text = ''
  for await (const chunk of socket) {
    text += chunk.toString('latin1')
    if (text.endsWith('\x81\x02hi')) break
  }
  assert.match(text, /^HTTP\/1\.1 101 /)
})

test('upgrades go to the longest prefix, at segments and without case', async (t) => {
  const server = core.createServer()
  attach(naming('root'), server)
  attach(naming('chat'), server, '/chat/')
  attach(naming('room'), server, 'http://*:8080/chat/room')
  const url = await listen(t, server)
  assert.equal(await firstMessage(`${url}/chat`), 'chat /chat')
  assert.equal(await firstMessage(`${url}/CHAT/x?y=1`), 'chat /CHAT/x?y=1')
  assert.equal(await firstMessage(`${url}/chat/room/7`), 'room /chat/room/7')
  assert.equal(await firstMessage(`${url}/chat/%72oom`), 'room /chat/%72oom')
  assert.equal(await firstMessage(`${url}/chatter`), 'root /chatter')
  assert.equal(await firstMessage(`${url}/`), 'root /')
})

test('an upgrade that no prefix takes is refused with 404', async (t) => {
  const server = core.createServer()
  attach(naming('chat'), server, '/chat/')
  const url = await listen(t, server)
  assert.equal(await refusal(`${url}/other`), 404)
  assert.equal(await refusal(`${url}/chatter`), 404)
  assert.equal(await firstMessage(`${url}/chat/`), 'chat /chat/')
})

test('an upgrade that no prefix takes is left to other listeners', async (t) => {
  const server = core.createServer()
  attach(naming('chat'), server, '/chat/')
  server.on('upgrade', (req, socket) => {
    if (req.url === '/other') socket.end('HTTP/1.1 418 Mine\r\nConnection: close\r\n\r\n')
  })
  const url = await listen(t, server)
  assert.equal(await refusal(`${url}/other`), 418)
})

test('verifyClient refuses with its own status', async (t) => {
  const server = core.createServer()
  attach(echoServer({
    verifyClient: ({ req }, done) => done(req.url === '/yes', 403, 'Forbidden', { 'X-Why': 'no' })
  }), server)
  const url = await listen(t, server)
  const open = new WebSocket(`${url}/yes`)
  await once(open, 'open')
  open.terminate()
  const refused = new WebSocket(`${url}/no`)
  refused.on('error', () => {})
  const [, response] = await once(refused, 'unexpected-response')
  assert.equal(response.statusCode, 403)
  assert.equal(response.headers['x-why'], 'no')
  refused.terminate()
})

test('a bad handshake is answered with 400', async (t) => {
  const server = core.createServer()
  attach(echoServer(), server)
  const { port } = new URL(await listen(t, server))
  const socket = net.connect(Number(port), '127.0.0.1')
  socket.write('GET / HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\r\n')
  const text = Buffer.concat(await socket.toArray()).toString()
  assert.match(text, /^HTTP\/1\.1 400 Bad Request\r\n/)
  assert.match(text, /Sec-WebSocket-Key/)
})

test('close codes and reasons travel both ways', async (t) => {
  const server = core.createServer()
  const wss = new WebSocketServer({ noServer: true })
  attach(wss, server)
  const url = await listen(t, server)

  const byClient = once(wss, 'connection').then(([socket]) => once(socket, 'close'))
  const first = new WebSocket(url)
  await once(first, 'open')
  first.close(4001, 'bye')
  assert.deepEqual((([code, reason]) => [code, reason.toString()])(await byClient), [4001, 'bye'])

  wss.once('connection', (socket) => socket.close(1013, 'later'))
  const second = new WebSocket(url)
  assert.deepEqual((([code, reason]) => [code, reason.toString()])(await once(second, 'close')), [1013, 'later'])

  const aborted = once(wss, 'connection').then(([socket]) => once(socket, 'close'))
  const third = new WebSocket(url)
  await once(third, 'open')
  third.terminate()
  assert.equal((await aborted)[0], 1006)
})

test('a client that vanishes without a close frame is noticed by ping or by its end', async (t) => {
  const server = core.createServer()
  const wss = new WebSocketServer({ noServer: true })
  attach(wss, server)
  const url = await listen(t, server)
  const connected = once(wss, 'connection')
  const client = new WebSocket(url)
  const [socket] = await connected
  const pong = once(socket, 'pong')
  socket.ping('p')
  assert.equal((await pong)[0].toString(), 'p')
  const closed = once(socket, 'close')
  client._socket.destroy()
  assert.equal((await closed)[0], 1006)
})

test('detach gives upgrades back to the application and leaves open WebSockets alone', async (t) => {
  const server = core.createServer((req, res) => res.end('plain'))
  const detach = attach(echoServer(), server, '/chat/')
  const url = await listen(t, server)
  const socket = new WebSocket(`${url}/chat`)
  await once(socket, 'open')
  assert.equal(server.listenerCount('upgrade'), 1)
  detach()
  detach()
  assert.equal(server.listenerCount('upgrade'), 0)
  assert.equal(await refusal(`${url}/chat`), 200)
  socket.send('still here')
  assert.equal((await once(socket, 'message'))[0].toString(), 'still here')
  socket.terminate()
})

test('closing a WebSocket server detaches it and frees its prefix', async () => {
  const server = core.createServer()
  const first = naming('first')
  attach(first, server, '/a/')
  assert.throws(() => attach(naming('second'), server, '/A'), { code: 'EADDRINUSE', path: '/a/' })
  first.close()
  await once(first, 'close')
  attach(naming('second'), server, '/A')()
  assert.equal(server.listenerCount('upgrade'), 0)
})

test('an adapter is as good as its server, and its application still serves', async (t) => {
  const app = require('express')()
  app.get('/', (req, res) => res.send('page'))
  const adapter = createAdapter(app)
  t.after(() => adapter.uninstall())
  attach(naming('chat'), adapter, '/chat/')
  const url = await listen(t, adapter.server)
  assert.equal(await firstMessage(`${url}/chat/`), 'chat /chat/')
  assert.equal(await (await fetch(url.replace('ws:', 'http:'), { headers: { connection: 'close' } })).text(), 'page')
})

test('with stripPrefix a path is below the prefix, a URL prefix is the whole', onlyOurs, async (t) => {
  const adapter = createAdapter((req, res) => res.end('page'), { stripPrefix: true })
  const port = await freePort()
  const prefix = `http://*:${port}/Shop/`
  const url = `ws://127.0.0.1:${port}/shop`
  attach(naming('all'), adapter, prefix)
  const detach = attach(naming('chat'), adapter, '/chat')
  attach(naming('room'), adapter, `${prefix}chat/room/`)
  adapter.listen(prefix)
  await once(adapter.server, 'listening')
  t.after(() => new Promise((resolve) => adapter.close(resolve)))
  assert.equal(await firstMessage(`${url}/else`), 'all /else')
  assert.equal(await firstMessage(`${url}/chat/x`), 'chat /chat/x')
  assert.equal(await firstMessage(`${url}/chat/room/7`), 'room /chat/room/7')
  detach()
  assert.equal(await firstMessage(`${url}/chat/x`), 'all /chat/x')
})

test('what listen() of an adapter returns is a server for ws', async (t) => {
  const adapter = createAdapter((req, res) => res.end('page'))
  const server = adapter.listen(0, '127.0.0.1')
  const wss = new WebSocketServer({ server, path: '/live' })
  wss.on('connection', (socket, req) => socket.send(`live ${req.url}`))
  await once(server, 'listening')
  t.after(() => new Promise((resolve) => server.close(resolve)))
  assert.equal(server, adapter.server)
  assert.equal(await firstMessage(`ws://127.0.0.1:${server.address().port}/live?now`), 'live /live?now')
  wss.close()
  await once(wss, 'close')
  assert.equal(server.listenerCount('upgrade'), 0)
})

test('the { server } mode of ws works as documented', async (t) => {
  const server = core.createServer()
  const wss = new WebSocketServer({ server, path: '/live' })
  const url = await listen(t, server)
  wss.on('connection', (socket, req) => socket.send(req.socket.remoteAddress))
  assert.equal(await firstMessage(`${url}/live`), '127.0.0.1')
  assert.equal(await refusal(`${url}/else`), 400)
  wss.close()
})

test('what is no WebSocket server or no server is refused', () => {
  const server = core.createServer()
  assert.throws(() => attach({}, server), { code: 'ERR_INVALID_ARG_TYPE' })
  assert.throws(() => attach(new WebSocketServer({ server }), server), { code: 'ERR_INVALID_ARG_VALUE' })
  assert.throws(() => attach(naming('x'), {}), { code: 'ERR_INVALID_ARG_TYPE' })
  assert.throws(() => attach(naming('x'), server, 'chat'), { code: 'ERR_HTTPSYS_PREFIX_SYNTAX', message: '"chat" is no path; write "/chat/"' })
  assert.throws(() => attach(naming('x'), server, '/a?b'),
    { code: 'ERR_HTTPSYS_PREFIX_SYNTAX', message: '"/a?b" is no path: it has a "?" or "#", which no path of a request has; write "/a/"' })
  for (const prefix of [5, null, {}]) assert.throws(() => attach(naming('x'), server, prefix), { code: 'ERR_INVALID_ARG_TYPE', message: /^The "prefix" argument/ })
  for (const given of [undefined, null, 5, { server: {} }, { on () {} }]) assert.throws(() => attach(naming('x'), given), { code: 'ERR_INVALID_ARG_TYPE', message: /must be an adapter or an http\.Server/ })
  const app = Object.assign(() => {}, { on () {} })
  assert.throws(() => attach(naming('x'), app), { code: 'ERR_INVALID_ARG_TYPE', message: /is an application; give the adapter, or what listen\(\) returned$/ })
})

test('a server of Node and whatever has a server can be attached to', async (t) => {
  const server = http.createServer()
  attach(naming('root'), server)
  attach(naming('chat'), Object.assign(() => {}, { server }), '/chat/')
  const url = await listen(t, server)
  assert.equal(await firstMessage(`${url}/`), 'root /')
  assert.equal(await firstMessage(`${url}/chat/`), 'chat /chat/')
})

test('ES modules import it by name', async () => {
  assert.equal((await import('@httpsys/websocket')).attach, attach)
})

test('options of ours that a WebSocketServer would ignore are refused, those of ws and of others are not', (t) => {
  const server = new NativeServer({ noServer: true, maxPayload: 5, certificate: 'x', unknown: 1 })
  t.after(() => server.close())
  for (const options of [{ devCert: true }, { queueName: 'a' }, { maxRequestBodysize: 5 }]) {
    assert.throws(() => new NativeServer({ noServer: true, ...options }), { code: 'ERR_HTTPSYS_OPTION', option: Object.keys(options)[0] })
  }
})

test('broadcast() with a misspelt filter sends nothing to anybody', () => {
  const server = new NativeServer({ noServer: true })
  assert.throws(() => server.broadcast('secret', { fliter: () => false }),
    { code: 'ERR_HTTPSYS_OPTION', message: 'broadcast() has no option "fliter"; did you mean "filter"?' })
  assert.equal(server.broadcast('x', { filter: () => true, binary: true, compress: false }), 0)
})
