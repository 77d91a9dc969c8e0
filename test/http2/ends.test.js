'use strict'

// Goal: streams and connections end as an application of HTTP/1.1 expects, with the codes of RFC 9113.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const { once } = require('node:events')
const http2 = require('node:http2')
const { connect, request, serve } = require('./kit')
const { backend } = require('../helpers/backend')

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
