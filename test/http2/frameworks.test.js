'use strict'

// Goal: applications that were written for HTTP/1.1 answer over HTTP/2 unchanged.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const { execFile } = require('node:child_process')
const fs = require('node:fs')
const { promisify } = require('node:util')
const zlib = require('node:zlib')
const { Frames, frame, kEndStream, kType } = require('./frames')
const { connect, request, serve } = require('./kit')
const { http, backend } = require('../helpers/backend')

const options = { skip: backend === 'node' && 'HTTP/2 without TLS on a server of node:http is ours' }
const run = promisify(execFile)

for (const name of ['express', 'express4']) {
  test(`${name} routes, parses, compresses, logs and streams`, options, async (t) => {
    const express = require(name)
    const lines = /** @type {string[]} */ ([])
    const app = express()
    app.use(require('morgan')(':method :url :http-version :status :res[content-length]', { stream: { write: (/** @type {string} */ line) => lines.push(line) } }))
    app.use(require('compression')({ threshold: 100 }))
    app.use(express.json())
    app.get('/hello/:name', (/** @type {any} */ req, /** @type {any} */ res) => res.send(`hello ${req.params.name} from ${req.protocol}://${req.get('host')} ${req.hostname}`))
    app.post('/json', (/** @type {any} */ req, /** @type {any} */ res) => res.status(201).json({ got: req.body }))
    app.get('/large', (/** @type {any} */ _req, /** @type {any} */ res) => res.type('text').send('x'.repeat(5000)))
    app.get('/file', (/** @type {any} */ _req, /** @type {any} */ res) => res.sendFile(__filename))
    app.get('/go', (/** @type {any} */ _req, /** @type {any} */ res) => res.redirect('/hello/you'))
    const { client, port } = await serve(t, app)
    const hello = await request(client, { ':path': '/hello/you' })
    assert.equal(hello.text, `hello you from http://127.0.0.1:${port} 127.0.0.1`)
    assert.ok(hello.headers.etag)
    const unchanged = await request(client, { ':path': '/hello/you', 'if-none-match': hello.headers.etag })
    assert.equal(unchanged.status, 304)
    const json = await request(client, { ':method': 'POST', ':path': '/json', 'content-type': 'application/json' }, { body: '{"a":1}' })
    assert.deepEqual([json.status, JSON.parse(json.text)], [201, { got: { a: 1 } }])
    const large = await request(client, { ':path': '/large', 'accept-encoding': 'gzip' })
    assert.equal(large.headers['content-encoding'], 'gzip')
    assert.equal(zlib.gunzipSync(large.body).toString(), 'x'.repeat(5000))
    const file = await request(client, { ':path': '/file' })
    assert.ok(file.text.startsWith('\'use strict\''))
    assert.equal((await request(client, { ':path': '/go' })).headers.location, '/hello/you')
    assert.equal((await request(client, { ':path': '/none' })).status, 404)
    assert.ok(lines.some((line) => line.startsWith('GET /hello/you 2.0 200 ')), lines.join(''))
  })
}

test('koa runs its middleware, streams, and answers errors', options, async (t) => {
  const Koa = require('koa')
  const app = new Koa()
  app.silent = true
  app.use(async (/** @type {any} */ ctx, /** @type {any} */ next) => {
    await next()
    ctx.set('x-version', ctx.req.httpVersion)
  })
  app.use(async (/** @type {any} */ ctx) => {
    if (ctx.path === '/json') ctx.body = { host: ctx.host, query: ctx.query, ip: ctx.ip }
    if (ctx.path === '/stream') ctx.body = fs.createReadStream(__filename)
    if (ctx.path === '/echo') ctx.body = ctx.req
    if (ctx.path === '/empty') ctx.status = 204
    if (ctx.path === '/go') ctx.redirect('/json')
    if (ctx.path === '/throw') ctx.throw(418, 'short and stout')
    if (ctx.path === '/fail') throw new Error('on purpose')
    if (ctx.path === '/cookie') {
      ctx.cookies.set('a', '1')
      ctx.body = ctx.cookies.get('b')
    }
  })
  const { client, port } = await serve(t, app.callback())
  const json = await request(client, { ':path': '/json?a=b' })
  assert.deepEqual(JSON.parse(json.text), { host: `127.0.0.1:${port}`, query: { a: 'b' }, ip: '127.0.0.1' })
  assert.deepEqual([json.headers['x-version'], json.headers['content-type']], ['2.0', 'application/json; charset=utf-8'])
  assert.equal((await request(client, { ':path': '/stream' })).text, fs.readFileSync(__filename, 'utf8'))
  const body = Buffer.alloc(300_000, 'koa')
  assert.ok((await request(client, { ':method': 'POST', ':path': '/echo' }, { body })).body.equals(body))
  assert.equal((await request(client, { ':path': '/empty' })).status, 204)
  const go = await request(client, { ':path': '/go' })
  assert.deepEqual([go.status, go.headers.location], [302, '/json'])
  const stout = await request(client, { ':path': '/throw' })
  assert.deepEqual([stout.status, stout.text], [418, 'short and stout'])
  assert.equal((await request(client, { ':path': '/fail' })).status, 500)
  assert.equal((await request(client, { ':path': '/none' })).status, 404)
  const cookie = await request(client, { ':path': '/cookie', cookie: 'b=2' })
  assert.deepEqual([cookie.text, cookie.headers['set-cookie']], ['2', ['a=1; path=/; httponly']])
})

test('connect and fastify answer, with compression and morgan before connect', options, async (t) => {
  const app = require('connect')()
  const lines = /** @type {string[]} */ ([])
  app.use(require('morgan')(':method :url :http-version :status', { stream: { write: (/** @type {string} */ line) => lines.push(line) } }))
  app.use(require('compression')({ threshold: 0 }))
  app.use((/** @type {any} */ req, /** @type {any} */ res, /** @type {any} */ next) => {
    if (req.url === '/next') return next()
    res.setHeader('content-type', 'text/plain')
    res.end('connect')
  })
  const { client } = await serve(t, app)
  const packed = await request(client, { ':path': '/', 'accept-encoding': 'gzip' })
  assert.deepEqual([packed.headers['content-encoding'], zlib.gunzipSync(packed.body).toString()], ['gzip', 'connect'])
  assert.equal((await request(client, { ':path': '/' })).text, 'connect')
  assert.equal(lines[0], 'GET / 2.0 200\n')
  assert.equal((await request(client, { ':path': '/next' })).status, 404)

  const fastify = require('fastify')({
    serverFactory: (/** @type {any} */ handler) => http.createServer(/** @type {any} */ ({ http2: true }), handler)
  })
  fastify.post('/echo', async (/** @type {any} */ req) => ({ body: req.body, version: req.raw.httpVersion }))
  await fastify.listen({ port: 0, host: '127.0.0.1' })
  t.after(() => fastify.close())
  const second = await connect(t, fastify.server.address().port)
  const answer = await request(second, { ':method': 'POST', ':path': '/echo', 'content-type': 'application/json' }, { body: '{"x":[1]}' })
  assert.deepEqual(JSON.parse(answer.text), { body: { x: [1] }, version: '2.0' })
  second.close()
})

test('curl and nghttp are served', options, async (t) => {
  const { port } = await serve(t, (/** @type {any} */ req, /** @type {any} */ res) => {
    let bytes = 0
    req.on('data', (/** @type {Buffer} */ chunk) => { bytes += chunk.length })
    req.on('end', () => res.end(`${req.method} ${req.httpVersion} ${bytes}`))
  })
  const url = `http://127.0.0.1:${port}/`
  const { stdout } = await run('curl', ['-s', '--http2-prior-knowledge', '-d', 'a=b', url])
  assert.equal(stdout, 'POST 2.0 3')
  const { stdout: nghttp } = await run('nghttp', ['--no-dep', url])
  assert.equal(nghttp, 'GET 2.0 0')
})

test('urgent answers leave before those that can wait', options, async (t) => {
  const body = Buffer.alloc(30_000, 'x')
  const { port } = await serve(t, (/** @type {any} */ _req, /** @type {any} */ res) => res.end(body))
  // Nothing of a body may leave until all are there.
  const closed = Buffer.from([0, 4, 0, 0, 0, 0])
  const wire = await Frames.connect(t, port, closed)
  const urgencies = ['u=7', 'u=0', 'u=3']
  for (const [i, priority] of urgencies.entries()) wire.request(i * 2 + 1, { ':path': '/', priority })
  for (let i = 0; i < 3; i++) await wire.next((/** @type {any} */ frame) => frame.type === kType.headers)
  wire.send([frame(kType.windowUpdate, 0, 0, Buffer.from([0, 1, 0, 0])), frame(kType.settings, 0, 0, Buffer.from([0, 4, 0, 1, 0, 0]))])
  const order = /** @type {number[]} */ ([])
  while (order.length < 3) {
    const { stream } = await wire.next((/** @type {any} */ frame) => frame.type === kType.data && (frame.flags & kEndStream) !== 0)
    order.push(stream)
  }
  assert.deepEqual(order, [3, 5, 1])
})
