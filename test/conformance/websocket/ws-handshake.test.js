'use strict'

// Goal: a handshake is accepted or refused in each way that the documentation of ws shows.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const { once } = require('node:events')
const { STATUS_CODES } = require('node:http')
const { setTimeout: sleep } = require('node:timers/promises')
const { WebSocketServer } = require('ws')
const { http } = require('../../helpers/backend')
const { request } = require('../../helpers/client')
const { ask, atEnd, connect, dial, echo, frame, handshake, open, refusal, serve } = require('./kit')

test('{ server, path } takes the path and refuses the rest with 400', async (t) => {
  const server = http.createServer((req, res) => res.end('page'))
  echo(new WebSocketServer({ server, path: '/live' }))
  const port = await serve(t, server)
  assert.equal(await ask(await open(t, port, '/live?a=b'), 'hello'), 'hello')
  assert.equal((await refusal(t, port, '/dead')).status, 400)
  assert.equal((await request(port)).body, 'page')
})

test('a WebSocketServer attached after listen() takes the next handshake', async (t) => {
  const server = http.createServer((req, res) => res.end(`no upgrade for ${req.url}`))
  const port = await serve(t, server)
  assert.deepEqual((({ status, body }) => [status, body])(await refusal(t, port, '/x')), [200, 'no upgrade for /x'])
  echo(new WebSocketServer({ server }))
  assert.equal(await ask(await open(t, port, '/x'), 'now'), 'now')
})

test('several servers split by path keep their clients apart', async (t) => {
  const server = http.createServer()
  const parts = new Map(['/foo', '/bar'].map((path) => [path, new WebSocketServer({ noServer: true })]))
  for (const [path, wss] of parts) wss.on('connection', (socket) => socket.on('message', () => socket.send(`${path} of ${wss.clients.size}`)))
  server.on('upgrade', (req, socket, head) => {
    const wss = parts.get(new URL(req.url ?? '', 'ws://base').pathname)
    if (wss === undefined) socket.destroy()
    else wss.handleUpgrade(req, socket, head, (client) => wss.emit('connection', client, req))
  })
  const port = await serve(t, server)
  const foo = await open(t, port, '/foo')
  const bars = [await open(t, port, '/bar'), await open(t, port, '/bar?x')]
  assert.equal(await ask(foo, ''), '/foo of 1')
  assert.equal(await ask(bars[1], ''), '/bar of 2')
  // Destroyed without a word: the client sees a connection that hung up.
  const [error] = await once(dial(t, port, '/else'), 'error')
  assert.equal(error.code, 'ECONNRESET')
})

test('an upgrade is refused with any status, headers and body', async (t) => {
  const server = http.createServer()
  server.on('upgrade', (req, socket) => {
    const status = Number(req.url?.slice(1))
    const body = JSON.stringify({ error: status })
    socket.on('error', () => {})
    socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\nX-Why: ${status}\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`)
  })
  const port = await serve(t, server)
  for (const status of [200, 301, 400, 401, 403, 404, 407, 418, 426, 429, 500, 502, 503]) {
    const { message, headers, body } = await refusal(t, port, `/${status}`)
    assert.deepEqual([message, headers['x-why'], body], [STATUS_CODES[status], `${status}`, `{"error":${status}}`])
  }
})

test('an answer that is written just before destroy() arrives', async (t) => {
  const server = http.createServer()
  server.on('upgrade', (req, socket) => {
    // The idiom of the documentation of ws.
    socket.write('HTTP/1.1 401 Unauthorized\r\n\r\n')
    socket.destroy()
  })
  const port = await serve(t, server)
  for (let i = 0; i < 20; i++) {
    const wire = await connect(t, port)
    wire.write(handshake())
    assert.equal(await wire.untilClosed(), 'HTTP/1.1 401 Unauthorized\r\n\r\n')
  }
})

test('an upgrade is decided later, after asking somebody else', async (t) => {
  const server = http.createServer()
  const wss = echo(new WebSocketServer({ noServer: true }))
  server.on('upgrade', async (req, socket, head) => {
    socket.on('error', () => {})
    server.emit('asking')
    // Stands for the time that somebody else needs to answer: bytes of the client arrive within it.
    await sleep(30)
    if (req.url !== '/yes') return socket.end('HTTP/1.1 403 Forbidden\r\nConnection: close\r\n\r\n')
    wss.handleUpgrade(req, socket, head, (client) => wss.emit('connection', client, req))
  })
  const port = await serve(t, server)
  const wire = await connect(t, port)
  // What the client sends meanwhile is not lost.
  const asking = once(server, 'asking')
  wire.write(handshake('/yes'))
  await asking
  wire.write(frame('early'))
  await wire.until('\x81\x05early')
  assert.equal((await refusal(t, port, '/no')).status, 403)
})

test('verifyClient that returns false refuses with 401 and has been told who asks', async (t) => {
  const server = http.createServer()
  const infos = /** @type {any[]} */ ([])
  echo(new WebSocketServer({
    server,
    verifyClient: ({ origin, secure, req }) => {
      infos.push([origin, secure, req.url, req.socket.remoteAddress])
      return req.headers.authorization === 'Bearer me'
    }
  }))
  const port = await serve(t, server)
  assert.equal((await refusal(t, port, '/a', [], { origin: 'http://there.test' })).status, 401)
  assert.equal(await ask(await open(t, port, '/b', [], { headers: { authorization: 'Bearer me' } }), 'in'), 'in')
  assert.deepEqual(infos, [['http://there.test', false, '/a', '127.0.0.1'], [undefined, false, '/b', '127.0.0.1']])
})

test('verifyClient that calls back refuses with its own status, message and headers', async (t) => {
  const server = http.createServer()
  echo(new WebSocketServer({
    server,
    verifyClient: ({ req }, done) => setTimeout(() => done(req.url === '/in', 429, 'Wait a while', { 'Retry-After': '7' }), 10)
  }))
  const port = await serve(t, server)
  const { status, message, headers, body } = await refusal(t, port, '/out')
  assert.deepEqual([status, message, headers['retry-after'], body], [429, 'Too Many Requests', '7', 'Wait a while'])
  assert.equal(await ask(await open(t, port, '/in'), 'in'), 'in')
})

test('a client that leaves while verifyClient thinks never becomes a connection', async (t) => {
  const server = http.createServer()
  const left = new Promise((resolve) => {
    const wss = new WebSocketServer({
      server,
      verifyClient: ({ req }, done) => {
        req.socket.on('close', () => setImmediate(() => {
          done(true)
          resolve(wss.clients.size)
        }))
        wire.socket.resetAndDestroy()
      }
    })
    wss.on('connection', () => resolve('connected'))
  })
  const port = await serve(t, server)
  const wire = await connect(t, port)
  wire.write(handshake())
  assert.equal(await left, 0)
})

test('subprotocols: the first is the default, handleProtocols chooses, none is accepted', async (t) => {
  const server = http.createServer()
  const first = echo(new WebSocketServer({ noServer: true }))
  const chosen = echo(new WebSocketServer({ noServer: true, handleProtocols: (protocols) => protocols.has('v2') ? 'v2' : false }))
  server.on('upgrade', (req, socket, head) => {
    const wss = req.url === '/first' ? first : chosen
    wss.handleUpgrade(req, socket, head, (client) => wss.emit('connection', client, req))
  })
  const port = await serve(t, server)
  assert.equal((await open(t, port, '/first', ['a', 'b'])).protocol, 'a')
  const connection = once(chosen, 'connection')
  assert.equal((await open(t, port, '/chosen', ['v1', 'v2'])).protocol, 'v2')
  assert.equal((await connection)[0].protocol, 'v2')
  const [error] = await once(dial(t, port, '/chosen', ['v3']), 'error')
  assert.match(error.message, /Server sent no subprotocol/)
})

test('a headers listener adds to the answer of the handshake', async (t) => {
  const server = http.createServer()
  const wss = echo(new WebSocketServer({ server }))
  wss.on('headers', (headers, req) => headers.push(`Set-Cookie: path=${req.url}`))
  const port = await serve(t, server)
  const client = dial(t, port, '/cookies')
  const [response] = await once(client, 'upgrade')
  assert.deepEqual([response.statusCode, response.headers['set-cookie']], [101, ['path=/cookies']])
})

test('what is no handshake is refused with its status, and wsClientError may answer instead', async (t) => {
  const server = http.createServer()
  const wss = new WebSocketServer({ server })
  const port = await serve(t, server)
  const tell = async (/** @type {string} */ text) => {
    const wire = await connect(t, port)
    wire.write(text)
    return (await wire.untilClosed()).split('\r\n')[0]
  }
  assert.equal(await tell(handshake().replace('GET', 'POST')), 'HTTP/1.1 405 Method Not Allowed')
  assert.equal(await tell(handshake().replace('Version: 13', 'Version: 7')), 'HTTP/1.1 400 Bad Request')
  assert.equal(await tell(handshake().replace('AAAA==', 'AA==')), 'HTTP/1.1 400 Bad Request')
  wss.once('wsClientError', (error, socket) => socket.end(`HTTP/1.1 422 ${error.message}\r\n\r\n`))
  assert.equal(await tell(handshake().replace('AAAA==', 'AA==')), 'HTTP/1.1 422 Missing or invalid Sec-WebSocket-Key header')
})

test('close() of a WebSocketServer refuses what comes with 503, and lets who is there stay', async (t) => {
  const server = http.createServer((req, res) => res.end('page'))
  const wss = echo(new WebSocketServer({ noServer: true }))
  server.on('upgrade', (req, socket, head) => wss.handleUpgrade(req, socket, head, (client) => wss.emit('connection', client, req)))
  const port = await serve(t, server)
  const client = await open(t, port)
  const closed = once(wss, 'close')
  wss.close()
  assert.equal((await refusal(t, port)).status, 503)
  assert.equal(await ask(client, 'still here'), 'still here')
  client.close()
  await closed
  assert.equal((await request(port)).body, 'page')
})

test('an http.Server that closes waits for its WebSockets, and closeAllConnections() leaves them', async (t) => {
  const server = http.createServer()
  echo(new WebSocketServer({ server }))
  const port = await serve(t, server)
  const client = await open(t, port)
  let isClosed = false
  const closed = once(server, 'close').then(() => { isClosed = true })
  server.close()
  server.closeAllConnections()
  assert.equal(await ask(client, 'still here'), 'still here')
  assert.equal(isClosed, false)
  client.close()
  await closed
})

test('a WebSocketServer that is detached by hand leaves no listener behind', async (t) => {
  const server = http.createServer((req, res) => res.end('page'))
  const before = server.eventNames().map((name) => [name, server.listenerCount(name)])
  const wss = echo(new WebSocketServer({ server }))
  const port = await serve(t, server)
  const client = await open(t, port)
  atEnd(t, () => client.terminate())
  client.close()
  await once(client, 'close')
  wss.close()
  await once(wss, 'close')
  assert.deepEqual(server.eventNames().map((name) => [name, server.listenerCount(name)]), before)
  assert.equal((await refusal(t, port)).status, 200)
})
