'use strict'

// Goal: streams and connections end as an application of HTTP/1.1 expects, with the codes of RFC 9113.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const { once } = require('node:events')
const http2 = require('node:http2')
const { connect, request, serve } = require('./kit')
const { backend } = require('../helpers/backend')
const { silence } = require('../helpers/waiting')

const options = { skip: backend === 'node' && 'HTTP/2 without TLS on a server of node:http is ours' }
const { NGHTTP2_CANCEL, NGHTTP2_NO_ERROR } = http2.constants

test('a stream that the client resets is a closed socket to the application', options, async (t) => {
  const events = /** @type {string[]} */ ([])
  /** @type {(value?: unknown) => void} */
  let done
  const closed = new Promise((resolve) => { done = resolve })
  const { client } = await serve(t, (/** @type {any} */ req, /** @type {any} */ res) => {
    req.on('aborted', () => events.push('aborted'))
    req.on('error', (/** @type {any} */ error) => events.push(`error ${error.code}`))
    req.on('close', () => events.push('req close'))
    res.on('close', () => {
      events.push('res close')
      setImmediate(done)
    })
    res.write('begun')
  })
  const stream = client.request({ ':method': 'POST', ':path': '/' })
  stream.on('error', () => {})
  stream.write('x')
  await once(stream, 'data')
  stream.close(NGHTTP2_CANCEL)
  await closed
  assert.deepEqual(events.sort(), ['aborted', 'error ECONNRESET', 'req close', 'res close'])
  assert.equal(client.destroyed, false)
})

test('destroy() resets the stream', options, async (t) => {
  const { client } = await serve(t, (/** @type {any} */ req) => req.socket.destroy())
  const stream = client.request({ ':path': '/' })
  stream.on('error', () => {})
  await once(stream, 'close')
  assert.equal(stream.rstCode, NGHTTP2_CANCEL)
  assert.equal(client.destroyed, false)
})

test('close() tells the client twice, lets streams end and closes', options, async (t) => {
  /** @type {any} */
  let res
  const { client, server } = await serve(t, (/** @type {any} */ _req, /** @type {any} */ r) => { res = r })
  const goaways = /** @type {[number, number][]} */ ([])
  client.on('goaway', (code, last) => goaways.push([code, last]))
  const answer = request(client, { ':path': '/' })
  await once(server, 'request')
  const closed = once(server, 'close')
  server.close()
  while (goaways.length < 2) await once(client, 'goaway')
  assert.deepEqual(goaways, [[NGHTTP2_NO_ERROR, 2 ** 31 - 1], [NGHTTP2_NO_ERROR, 1]])
  res.end('late')
  assert.equal((await answer).text, 'late')
  await closed
})

test('an idle connection is closed after keepAliveTimeout', options, async (t) => {
  const { client, server } = await serve(t, (/** @type {any} */ _req, /** @type {any} */ res) => res.end('x'), { keepAliveTimeout: 50 })
  server.keepAliveTimeoutBuffer = 0
  await request(client, { ':path': '/' })
  const [code] = await once(client, 'goaway')
  assert.equal(code, NGHTTP2_NO_ERROR)
  await once(client, 'close')
})

test('closeAllConnections() ends streams and connections', options, async (t) => {
  /** @type {any} */
  let req
  const { client, server } = await serve(t, (/** @type {any} */ r) => { req = r })
  request(client, { ':path': '/' }).catch(() => {})
  await once(server, 'request')
  const closed = once(req.socket, 'close')
  server.closeAllConnections()
  await closed
  await once(client, 'close')
})

// What terminus, lightship and http-graceful-shutdown mean by it.
for (const [name, answer] of /** @type {[string, (res: any) => void][]} */ ([
  ['setHeader() and end()', (res) => res.setHeader('Connection', 'close').end('last')],
  ['writeHead()', (res) => res.writeHead(200, { connection: 'Close' }).end('last')],
  ['one of several options', (res) => res.writeHead(200, { Connection: 'x-hop, close', 'X-Hop': '1' }).end('last')],
  ['pieces', (res) => {
    res.setHeader('Connection', 'close')
    res.write('la')
    setImmediate(() => res.end('st'))
  }],
  ['shouldKeepAlive', (res) => {
    res.shouldKeepAlive = false
    res.end('last')
  }]
])) {
  test(`an answer with Connection: close ends the connection after it, when its streams have ended: ${name}`, options, async (t) => {
    /** @type {any} */
    let held
    const { client, server } = await serve(t, (/** @type {any} */ req, /** @type {any} */ res) => {
      if (req.url === '/last') return answer(res)
      held = res
      server.emit('held')
    })
    const order = /** @type {(string | number)[]} */ ([])
    client.on('goaway', (code, last) => order.push(code === NGHTTP2_NO_ERROR ? last : `code ${code}`))
    const other = request(client, { ':path': '/held' })
    await once(server, 'held')
    const last = await request(client, { ':path': '/last' })
    order.push(last.text)
    assert.equal(last.headers.connection, undefined)
    assert.equal(last.headers['x-hop'], undefined)
    while (order.length < 3) await once(client, 'goaway')
    assert.deepEqual(new Set(order), new Set(['last', 2 ** 31 - 1, 3]))
    held.end('other')
    assert.equal((await other).text, 'other')
    if (!client.destroyed) await once(client, 'close')
    assert.ok(server.listening)
  })
}

// What shutdown helpers do with the sockets of 'connection': http-terminator and http-graceful-shutdown ask the response that a socket
// has for the end of its connection, and destroy sockets without one; stoppable, and terminus with it, ends sockets without requests.
/** @type {Record<string, (sockets: Set<any>) => void>} */
const kHelpers = {
  'http-terminator': (sockets) => {
    for (const socket of sockets) {
      const res = socket._httpMessage
      if (!res) socket.destroy()
      else if (!res.headersSent) res.setHeader('connection', 'close')
    }
  },
  stoppable: (sockets) => {
    for (const socket of sockets) socket.end()
  }
}

for (const [name, shutDown] of Object.entries(kHelpers)) {
  test(`a helper that drains like ${name} loses no stream, and ends connections without one`, { ...options, timeout: 30_000 }, async (t) => {
    /** @type {any[]} */
    const held = []
    const sockets = new Set()
    const { client, server, port } = await serve(t, (/** @type {any} */ req, /** @type {any} */ res) => {
      if (req.url === '/quick') return res.end('quick')
      held.push(res)
      server.emit('held')
    })
    server.on('connection', (/** @type {any} */ socket) => {
      sockets.add(socket)
      socket.once('close', () => sockets.delete(socket))
    })
    const [busy, begun, idle] = await Promise.all([connect(t, port), connect(t, port), connect(t, port)])
    client.destroy()
    const answers = [request(busy, { ':path': '/held' }), request(busy, { ':path': '/held' })]
    const late = request(begun, { ':path': '/held' })
    while (held.length < 3) await once(server, 'held')
    held.find((res) => res.socket.remotePort === begun.socket?.localPort).write('begun ')
    // The newest response of a connection has ended; others have not.
    assert.equal((await request(busy, { ':path': '/quick' })).text, 'quick')
    assert.equal((await request(idle, { ':path': '/quick' })).text, 'quick')
    const gone = Promise.all([busy, idle].map((session) => once(session, 'close')))
    shutDown(sockets)
    await once(idle, 'close')
    for (const res of held) res.end('answered')
    for (const { text } of await Promise.all(answers)) assert.equal(text, 'answered')
    assert.equal((await late).text, 'begun answered')
    await gone
  })
}

test("a connection's socket has the newest of its streams' unfinished responses, as one of HTTP/1.1 has its own", options, async (t) => {
  /** @type {any[]} */
  const held = []
  const sockets = /** @type {any[]} */ ([])
  const { server, port } = await serve(t, (/** @type {any} */ req, /** @type {any} */ res) => {
    held.push(res)
    server.emit('held')
  })
  server.on('connection', (/** @type {any} */ socket) => sockets.push(socket))
  const client = await connect(t, port)
  const streams = [1, 2, 3].map(() => client.request({ ':path': '/' }).on('error', () => {}))
  while (held.length < 3) await once(server, 'held')
  const [socket] = sockets
  assert.ok(socket._httpMessage === held[2])
  held[1].end()
  await once(held[1], 'close')
  assert.ok(socket._httpMessage === held[2])
  held[2].end()
  await once(held[2], 'close')
  assert.ok(socket._httpMessage === held[0])
  streams[0].close(NGHTTP2_CANCEL)
  await once(held[0], 'close')
  assert.equal(socket._httpMessage, null)
})

test("a server's 'close' comes once, whichever of its sockets closes last", options, async (t) => {
  for (const end of /** @type {((socket: any) => void)[]} */ ([(socket) => socket.end(), (socket) => socket.destroy(), () => {}])) {
    /** @type {any} */
    let connection
    const { client, server, port } = await serve(t, (/** @type {any} */ req, /** @type {any} */ res) => {
      res.write('begun')
      if (req.url === '/ends') setTimeout(() => res.end(), 20)
    })
    client.destroy()
    let closes = 0
    server.on('close', () => closes++)
    server.once('connection', (/** @type {any} */ socket) => { connection = socket })
    const other = await connect(t, port)
    const streams = ['/ends', '/ends'].map((path) => other.request({ ':path': path }).on('error', () => {}).resume())
    await Promise.all(streams.map((stream) => once(stream, 'data')))
    server.close()
    end(connection)
    for (const stream of streams) if (!stream.closed) await once(stream, 'close')
    if (closes === 0) await once(server, 'close')
    await silence(100)
    assert.equal(closes, 1)
  }
})

test('the first GOAWAY comes behind the answer with Connection: close', options, async (t) => {
  const { port } = await serve(t, (/** @type {any} */ _req, /** @type {any} */ res) => {
    res.setHeader('Connection', 'close')
    res.write('first')
    setTimeout(() => res.end('last'), 50)
  })
  const { Frames } = require('./frames')
  const wire = await Frames.connect(t, port)
  wire.request(1, { ':path': '/' })
  const order = /** @type {string[]} */ ([])
  while (!order.some((line) => line.startsWith('GOAWAY'))) {
    const { type, flags, payload } = await wire.next((/** @type {any} */ { type }) => type === 0 || type === 7)
    order.push(type === 0 ? `DATA ${payload}${(flags & 1) !== 0 ? ' END' : ''}` : `GOAWAY ${payload.readUInt32BE(0)} ${payload.readUInt32BE(4)}`)
  }
  assert.deepEqual(order, ['DATA first', 'DATA last END', `GOAWAY ${2 ** 31 - 1} ${NGHTTP2_NO_ERROR}`])
})

test('an answer that is about one request alone leaves the connection open, whatever it says over HTTP/1.1', { ...options, timeout: 30_000 }, async (t) => {
  const { client, server } = await serve(t, (/** @type {any} */ req, /** @type {any} */ res) => {
    if (req.method === 'POST') req.on('error', () => {})
    else res.end('x')
  }, { maxRequestBodySize: 10 })
  const goaways = /** @type {number[]} */ ([])
  client.on('goaway', (code) => goaways.push(code))
  const status = async (/** @type {any} */ headers, /** @type {string[]} */ ...body) => {
    const stream = client.request({ ':path': '/', ...headers }, { endStream: body.length === 0 })
    stream.on('error', () => {}).resume()
    const response = once(stream, 'response')
    for (const [i, piece] of body.entries()) {
      stream.write(piece)
      // The first piece reaches the application.
      if (i === 0 && body.length > 1) await once(server, 'request')
    }
    const [got] = await response
    stream.end()
    if (!stream.closed) await once(stream, 'close')
    return got[':status']
  }
  // By the I/O thread, by the default answer to a failed request, and by the application's.
  assert.equal(await status({ ':method': 'POST', 'content-length': '100' }, 'x'), 413)
  assert.equal(await status({ ':method': 'POST' }, 'begun', 'x'.repeat(100)), 413)
  server.on('clientError', (/** @type {any} */ _error, /** @type {any} */ socket) => socket.end('HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n'))
  assert.equal(await status({ ':method': 'POST' }, 'begun', 'x'.repeat(100)), 400)
  server.on('upgrade', (/** @type {any} */ _req, /** @type {any} */ socket) => socket.end('HTTP/1.1 401 Unauthorized\r\nConnection: close\r\nContent-Length: 0\r\n\r\n'))
  assert.equal(await status({ ':method': 'CONNECT', ':protocol': 'websocket', ':path': '/' }, ''), 401)
  for (let i = 0; i < 3; i++) assert.equal(await status({ ':method': 'GET' }), 200)
  assert.deepEqual(goaways, [])
  assert.equal(client.destroyed, false)
})

test('maxRequestsPerSocket counts the streams of a connection', options, async (t) => {
  const { client, port, server } = await serve(t, (/** @type {any} */ _req, /** @type {any} */ res) => res.end('x'))
  server.maxRequestsPerSocket = 2
  const gone = once(client, 'goaway')
  await request(client, { ':path': '/' })
  await request(client, { ':path': '/' })
  await gone
  const other = await connect(t, port)
  assert.equal((await request(other, { ':path': '/' })).text, 'x')
})

test('a client that is silent with a stream open is asked, and given up', options, async (t) => {
  const { port, server } = await serve(t, () => {}, { http2: { pingInterval: 40 } })
  const { Frames } = require('./frames')
  const wire = await Frames.connect(t, port)
  wire.request(1, { ':path': '/' })
  const ping = await wire.next((/** @type {any} */ frame) => frame.type === 6 && (frame.flags & 1) === 0)
  assert.equal(ping.payload.length, 8)
  await wire.closed
  assert.ok(server.listening)
})

test('streams are none of the connections that a server counts, and close() waits for', options, async (t) => {
  const { server, client } = await serve(t, (/** @type {any} */ _req, /** @type {any} */ res) => {
    res.write('piece by ') // A socket that is used as a stream has Node's own end, which counts connections.
    setImmediate(() => res.end('piece'))
  })
  for (let i = 0; i < 3; i++) assert.equal((await request(client, { ':path': '/' })).text, 'piece by piece')
  const count = () => new Promise((resolve) => server.getConnections((/** @type {any} */ _error, /** @type {number} */ connections) => resolve(connections)))
  assert.equal(await count(), 1)
  const closed = once(server, 'close')
  server.close()
  client.close()
  await closed
})
