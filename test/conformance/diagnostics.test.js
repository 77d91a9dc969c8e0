'use strict'

// Goal: what watches servers through diagnostics_channel and perf_hooks sees ours as it sees Node's.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const diagnosticsChannel = require('node:diagnostics_channel')
const { PerformanceObserver } = require('node:perf_hooks')
const { once } = require('node:events')
const { http } = require('../helpers/backend')
const { dial, get, request, serve } = require('../helpers/client')

/**
 * @param {import('node:test').TestContext} t
 * @param {string} name
 * @param {(message: any) => void} listener
 */
function subscribe (t, name, listener) {
  diagnosticsChannel.subscribe(name, listener)
  t.after(() => diagnosticsChannel.unsubscribe(name, listener))
}

test('http.server.request.start comes before the handler with request, response, socket and server', async (t) => {
  const order = /** @type {string[]} */ ([])
  /** @type {any} */
  let message
  const server = http.createServer((req, res) => {
    order.push('handler')
    assert.deepEqual(Object.keys(message), ['request', 'response', 'socket', 'server'])
    assert.equal(message.request, req)
    assert.equal(message.response, res)
    assert.equal(message.socket, req.socket)
    assert.equal(message.server, server)
    assert.equal(res.headersSent, false)
    res.end('x')
  })
  subscribe(t, 'http.server.request.start', (published) => {
    if (published.server !== server) return
    order.push('start')
    message = published
  })
  const port = await serve(t, server)
  await request(port)
  assert.deepEqual(order, ['start', 'handler'])
})

test('http.server.response.finish comes when the response has finished, once each', async (t) => {
  const order = /** @type {string[]} */ ([])
  const server = http.createServer((req, res) => {
    res.on('finish', () => order.push(`finish ${req.url}`))
    res.on('close', () => {
      order.push(`close ${req.url}`)
      server.emit('done')
    })
    res.end('x')
  })
  subscribe(t, 'http.server.response.finish', ({ request, response, socket, server: from }) => {
    if (from !== server) return
    assert.equal(response.req, request)
    assert.equal(socket.server, server)
    assert.equal(response.statusCode, 200)
    order.push(`channel ${request.url}`)
  })
  const port = await serve(t, server)
  for (const path of ['/1', '/2']) {
    const done = once(server, 'done')
    await request({ port, path })
    await done
  }
  assert.deepEqual(order, ['channel /1', 'finish /1', 'close /1', 'channel /2', 'finish /2', 'close /2'])
})

test('an aborted request starts and never finishes', async (t) => {
  const names = /** @type {string[]} */ ([])
  const server = http.createServer((req, res) => {
    res.on('close', () => server.emit('gone'))
    req.socket.destroy()
  })
  for (const name of ['http.server.request.start', 'http.server.response.finish']) {
    subscribe(t, name, (message) => { if (message.server === server) names.push(name) })
  }
  const port = await serve(t, server)
  const gone = once(server, 'gone')
  await assert.rejects(request(port))
  await gone
  assert.deepEqual(names, ['http.server.request.start'])
})

test('a channel subscribed while serving counts from then on', async (t) => {
  const server = http.createServer((req, res) => res.end('x'))
  const port = await serve(t, server)
  const wire = await dial(t, port)
  wire.write(get('/before'))
  await wire.until('\r\n\r\nx')
  const urls = /** @type {string[]} */ ([])
  subscribe(t, 'http.server.request.start', (message) => { if (message.server === server) urls.push(message.request.url) })
  wire.write(get('/after'))
  await wire.until('\r\n\r\nx', 2)
  assert.deepEqual(urls, ['/after'])
})

test('a header set by a subscriber of request.start is sent', async (t) => {
  const server = http.createServer((req, res) => res.end('x'))
  subscribe(t, 'http.server.request.start', (message) => {
    if (message.server === server) message.response.setHeader('X-Trace', 'abc')
  })
  const port = await serve(t, server)
  assert.equal((await request(port)).headers['x-trace'], 'abc')
})

test('pipelined requests are published in their order', async (t) => {
  const urls = /** @type {string[]} */ ([])
  const server = http.createServer((req, res) => setImmediate(() => res.end('x')))
  subscribe(t, 'http.server.request.start', (message) => { if (message.server === server) urls.push(`start ${message.request.url}`) })
  subscribe(t, 'http.server.response.finish', (message) => { if (message.server === server) urls.push(`finish ${message.request.url}`) })
  const port = await serve(t, server)
  const wire = await dial(t, port)
  wire.write(get('/1') + get('/2') + get('/3'))
  await wire.until('\r\n\r\nx', 3)
  assert.deepEqual(urls.filter((name) => name.startsWith('start')), ['start /1', 'start /2', 'start /3'])
  assert.deepEqual(urls.filter((name) => name.startsWith('finish')), ['finish /1', 'finish /2', 'finish /3'])
})

test('perf_hooks has an "http" entry for each request', async (t) => {
  const entries = /** @type {any[]} */ ([])
  /** @type {() => void} */
  let arrived = () => {}
  const observer = new PerformanceObserver((list) => {
    entries.push(...list.getEntries().filter((entry) => entry.name === 'HttpRequest'))
    arrived()
  })
  observer.observe({ type: 'http' })
  t.after(() => observer.disconnect())
  const server = http.createServer((req, res) => {
    res.setHeader('X-A', '1')
    setTimeout(() => res.writeHead(201, 'Made').end('x'), 20)
  })
  const port = await serve(t, server)
  await request({ port, path: '/measured', method: 'PUT' })
  while (entries.length === 0) await new Promise((resolve) => { arrived = () => resolve(null) })
  const [entry] = entries
  assert.equal(entry.entryType, 'http')
  assert.ok(entry.duration >= 15)
  assert.equal(entry.detail.req.method, 'PUT')
  assert.equal(entry.detail.req.url, '/measured')
  assert.equal(entry.detail.req.headers.host, `127.0.0.1:${port}`)
  assert.equal(entry.detail.res.statusCode, 201)
  assert.equal(entry.detail.res.statusMessage, 'Made')
  assert.equal(entry.detail.res.headers['x-a'], '1')
  observer.disconnect()
  assert.equal((await request(port)).status, 201)
})

test('a request whose body turns out malformed is published once, also where "clientError" has a listener', async (t) => {
  const server = http.createServer((req) => req.on('error', () => {}))
  server.on('clientError', (error, socket) => socket.destroy(error))
  const port = await serve(t, server)
  let published = 0
  subscribe(t, 'http.server.request.start', () => published++)
  const wire = await dial(t, port)
  wire.write('POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n')
  await once(server, 'request')
  wire.write('no size\r\n')
  await wire.untilClosed()
  assert.equal(published, 1)
})
