'use strict'

// Goal: the list of listeners at the moment of the event is what counts, and emit() is where requests
// come past: libraries take, wrap and replace both.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const nodeHttp = require('node:http')
const { once } = require('node:events')
const { http } = require('../helpers/backend')
const { startChild } = require('../helpers/child')
const { request, serve } = require('../helpers/client')
const { compare, message } = require('../helpers/differential')
const { silence } = require('../helpers/waiting')

test('listeners taken from a listening server and called later answer', async (t) => {
  const server = http.createServer((req, res) => res.end('application'))
  const port = await serve(t, server)
  const taken = server.listeners('request').slice()
  assert.equal(taken.length, 1)
  server.removeAllListeners('request')
  server.on('request', (req, res) => {
    if (req.url === '/engine') return res.end('thief')
    for (const listener of taken) listener.call(server, req, res)
  })
  assert.equal((await request({ port, path: '/engine' })).body, 'thief')
  assert.equal((await request({ port, path: '/' })).body, 'application')
})

test('several listeners all see the request, in their order, with the server as this', async (t) => {
  const order = /** @type {string[]} */ ([])
  const server = http.createServer(function () {
    assert.equal(this, server)
    order.push('second')
  })
  server.prependListener('request', () => order.push('first'))
  server.on('request', (req, res) => {
    order.push('third')
    res.end('x')
  })
  const port = await serve(t, server)
  await request(port)
  assert.deepEqual(order, ['first', 'second', 'third'])
})

test('once() answers one request, the next listener the others', async (t) => {
  const server = http.createServer()
  server.once('request', (req, res) => {
    server.on('request', (req, res) => res.end('later'))
    res.end('once')
  })
  const port = await serve(t, server)
  assert.deepEqual([(await request(port)).body, (await request(port)).body, (await request(port)).body], ['once', 'later', 'later'])
})

test('a listener added between two requests of one connection gets the second', async (t) => {
  const agent = new nodeHttp.Agent({ keepAlive: true, maxSockets: 1 })
  t.after(() => agent.destroy())
  const server = http.createServer((req, res) => res.end('old'))
  const port = await serve(t, server)
  const first = await request({ port, agent })
  server.removeAllListeners('request')
  server.on('request', (req, res) => res.end('new'))
  const second = await request({ port, agent })
  assert.deepEqual([first.body, second.body], ['old', 'new'])
  assert.equal(second.localPort, first.localPort)
})

test('Server.prototype.emit wrapped after the server was created sees each request and connection', async (t) => {
  const seen = /** @type {string[]} */ ([])
  const server = http.createServer((req, res) => res.end('x'))
  const port = await serve(t, server)
  const { prototype } = nodeHttp.Server
  const { emit } = prototype
  /** @this {any} @param {any} event @param {...any} args */
  prototype.emit = function (event, ...args) {
    if (this === server) {
      seen.push(event)
      if (event === 'request') args[1].setHeader('X-Span', 'begun')
    }
    return Reflect.apply(emit, this, [event, ...args])
  }
  t.after(() => { prototype.emit = emit })
  const { headers } = await request(port)
  assert.equal(headers['x-span'], 'begun')
  assert.deepEqual(seen.slice(0, 2), ['connection', 'request'])
})

test('emit replaced on one server is what dispatches', async (t) => {
  const server = http.createServer(() => assert.fail('the listener must not run'))
  server.emit = /** @type {any} */ (/** @type {string} */ event, /** @type {any} */ req, /** @type {any} */ res) => {
    if (event === 'request') res.end('from emit')
    return nodeHttp.Server.prototype.emit === undefined || event !== 'request' ? Reflect.apply(nodeHttp.Server.prototype.emit, server, [event, req, res]) : true
  }
  const port = await serve(t, server)
  assert.equal((await request(port)).body, 'from emit')
})

test('requests emitted by hand reach the listeners', async () => {
  const server = http.createServer((req, res) => {
    assert.equal(req, res.req)
    server.emit('seen', req.url)
  })
  const req = new http.IncomingMessage(/** @type {any} */ (null))
  req.url = '/made-up'
  const seen = once(server, 'seen')
  server.emit('request', req, new http.ServerResponse(req))
  assert.deepEqual(await seen, ['/made-up'])
})

test('without any listener a request waits: nothing is answered', async (t) => {
  const server = http.createServer()
  const port = await serve(t, server)
  const connected = once(server, 'connection')
  let settled = false
  const answer = request(port).then(({ body }) => { settled = true; return body }, (error) => { settled = true; return error.code })
  const [socket] = await connected
  await silence(100)
  assert.equal(settled, false)
  socket.destroy()
  assert.equal(await answer, 'ECONNRESET')
})

test('async handlers work, before and after an await', async (t) => {
  const port = await serve(t, http.createServer(async (req, res) => {
    res.write('before ')
    await new Promise((resolve) => setTimeout(resolve, 5))
    res.end('after')
  }))
  assert.equal((await request(port)).body, 'before after')
})

test('captureRejections turns a rejected handler into a 500', async (t) => {
  const events = require('node:events')
  events.captureRejections = true
  t.after(() => { events.captureRejections = false })
  const server = http.createServer(async () => {
    await null
    throw new Error('rejected')
  })
  const port = await serve(t, server)
  const { status, body } = await request(port)
  assert.equal(status, 500)
  assert.equal(body, 'Internal Server Error')
})

test('captureRejections after the headers were sent destroys the connection', async (t) => {
  const events = require('node:events')
  events.captureRejections = true
  t.after(() => { events.captureRejections = false })
  const server = http.createServer(async (req, res) => {
    res.writeHead(200, { 'Content-Length': 100 })
    res.write('part')
    await null
    throw new Error('rejected')
  })
  const port = await serve(t, server)
  await assert.rejects(request(port), { code: 'ECONNRESET' })
})

test('a "connection" listener runs before the request and gets its socket', async (t) => {
  const sockets = /** @type {any[]} */ ([])
  const server = http.createServer((req, res) => {
    assert.equal(req.socket, sockets[0])
    res.end('x')
  })
  server.on('connection', (socket) => sockets.push(socket))
  const port = await serve(t, server)
  await request(port)
  assert.equal(sockets.length, 1)
})

test('a connection listener added after listen() sees the next connection', async (t) => {
  const server = http.createServer((req, res) => res.end('x'))
  const port = await serve(t, server)
  await request(port)
  const connection = once(server, 'connection')
  await request(port)
  assert.ok((await connection)[0] instanceof require('node:net').Socket)
})

test('the listeners of a response are those that are there, by name, number and order', async (t) => {
  const { events } = await compare(t, (req, res, log) => {
    const tell = () => log(res.eventNames(), res.listenerCount('x'), res.listenerCount('finish'), res.rawListeners('x').length)
    const listener = () => log('called')
    tell()
    res.on('x', listener).prependListener('x', listener).once('y', listener)
    tell()
    res.emit('y')
    res.emit('x')
    res.off('x', listener).off('x', listener)
    tell()
    res.on('__proto__', listener).on('constructor', listener).emit('__proto__')
    log(res.emit('toString'), res.emit('hasOwnProperty'))
    tell()
    res.removeAllListeners('constructor').removeAllListeners('nothing')
    tell()
    res.on('newListener', (/** @type {string} */ name) => log('new', name)).on('z', listener)
    res.removeAllListeners()
    tell()
    res.on('close', listener)
    res.end('x')
    res.socket.end() // Nobody hears 'finish'.
  }, message('GET /'))
  assert.ok(events.includes('called'))
})

test('who has wrapped the methods of messages before anything else was loaded sees every call', async () => {
  const child = startChild(({ http, report }) => {
    const { calls } = /** @type {any} */ (globalThis)
    const server = http.createServer((req, res) => {
      for (const name of ['X-A', 'X-B', 'X-A']) res.setHeader(name, req.headers.host ?? '')
      res.end('x')
    })
    server.listen(0, '127.0.0.1', () => {
      const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
      let left = 2
      const client = require('node:net').connect(port, '127.0.0.1', () => client.write('GET / HTTP/1.1\r\nHost: a\r\nX-C: d\r\n\r\n'))
      client.on('data', () => {
        if (--left > 0) return client.write('GET / HTTP/1.1\r\nHost: a\r\nX-C: d\r\n\r\n')
        client.destroy()
        server.close(() => report({ calls }))
      })
    })
  }, { flags: ['--require', require.resolve('../fixtures/wraps-messages.js')] })
  const calls = await child.message('calls')
  await child.kill()
  const once = ['_addHeaderLine Host', '_addHeaderLine X-C', 'setHeader X-A', 'setHeader X-B', 'setHeader X-A', 'end x']
  // Those of the package's own questions to Node, when it loads, come before.
  assert.deepEqual(calls.slice(-2 * once.length), [...once, ...once])
})
