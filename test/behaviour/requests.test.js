'use strict'

// Goal: what a client sends arrives as IncomingMessage promises it, on every backend: no word here about bytes on the
// wire, the order of header lines or the spelling of their names.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const crypto = require('node:crypto')
const nodeHttp = require('node:http')
const { http, backend } = require('../helpers/backend')
const { needs } = require('../helpers/capabilities')
const { request, serve } = require('../helpers/client')

/** Stock Node has no such options. */
const withOptions = { ...needs(), ...(backend === 'node' && { skip: 'stock Node has no maxRequestBodySize' }) }

/** @param {any} req @param {any} res */
function hash (req, res) {
  const digest = crypto.createHash('sha1')
  let bytes = 0
  req.on('data', (/** @type {Buffer} */ piece) => {
    digest.update(piece)
    bytes += piece.length
  })
  req.on('end', () => res.end(`${bytes} ${digest.digest('hex')} ${req.complete}`))
}

/** @param {Buffer} body */
function hashed (body) {
  return `${body.length} ${crypto.createHash('sha1').update(body).digest('hex')} true`
}

test('method, target, version and headers arrive', needs(), async (t) => {
  /** @type {any} */
  let seen
  const port = await serve(t, http.createServer((req, res) => {
    seen = { method: req.method, url: req.url, version: req.httpVersion, headers: req.headers, raw: req.rawHeaders.length }
    res.end()
  }))
  await request({ port, path: '/a%20b/c?d=e&f', headers: { 'X-Custom': 'one', 'User-Agent': 'test', Accept: 'text/html;q=0.5' } })
  assert.equal(seen.method, 'GET')
  assert.equal(seen.url, '/a%20b/c?d=e&f')
  assert.equal(seen.version, '1.1')
  assert.deepEqual({ ...seen.headers }, {
    'x-custom': 'one', 'user-agent': 'test', accept: 'text/html;q=0.5', host: `127.0.0.1:${port}`, connection: 'close'
  })
  assert.equal(seen.raw, 10)
})

for (const method of ['GET', 'DELETE', 'OPTIONS', 'PUT', 'PATCH', 'REPORT', 'PROPFIND', 'LOCK', 'MKCOL', 'TRACE']) {
  test(`${method} arrives with its name`, needs(), async (t) => {
    const port = await serve(t, http.createServer((req, res) => res.end(req.method)))
    assert.equal((await request({ port, method })).body, method)
  })
}

test('both ends of the connection have an address and a port', needs(), async (t) => {
  const port = await serve(t, http.createServer(({ socket }, res) => {
    const { remoteAddress, remotePort, localAddress, localPort, remoteFamily } = socket
    res.end(JSON.stringify({ remoteAddress, remotePort, localAddress, localPort, remoteFamily }))
  }))
  const { body, localPort } = await request(port)
  assert.deepEqual(JSON.parse(body), {
    remoteAddress: '127.0.0.1', remotePort: localPort, localAddress: '127.0.0.1', localPort: port, remoteFamily: 'IPv4'
  })
})

for (const size of [1, 100, 4000]) {
  test(`a body of ${size} bytes with Content-Length arrives whole`, needs(), async (t) => {
    const body = crypto.randomBytes(size)
    const port = await serve(t, http.createServer(hash))
    const options = { port, method: 'POST', headers: { 'Content-Length': size } }
    assert.equal((await request(options, body)).body, hashed(body))
  })
}

test('a body that does not fit into one piece arrives whole', needs('bodyPieces'), async (t) => {
  const body = crypto.randomBytes(2_000_000)
  const port = await serve(t, http.createServer(hash))
  assert.equal((await request({ port, method: 'PUT', headers: { 'Content-Length': body.length } }, body)).body, hashed(body))
})

test('a body in chunks arrives whole', needs('chunkedBodies'), async (t) => {
  const body = crypto.randomBytes(100_000)
  const port = await serve(t, http.createServer(hash))
  assert.equal((await request({ port, method: 'POST', headers: { 'Transfer-Encoding': 'chunked' } }, body)).body, hashed(body))
})

test('a body that nobody reads is no obstacle for the next request', needs(), async (t) => {
  const agent = new nodeHttp.Agent({ keepAlive: true, maxSockets: 1 })
  t.after(() => agent.destroy())
  const port = await serve(t, http.createServer((req, res) => res.end('unread')))
  for (let i = 0; i < 3; i++) {
    assert.equal((await request({ port, agent, method: 'POST', headers: { 'Content-Length': 1000 } }, Buffer.alloc(1000))).body, 'unread')
  }
})

test('a request body can be read as an async iterator, and late', needs(), async (t) => {
  const port = await serve(t, http.createServer(async (req, res) => {
    await new Promise((resolve) => setImmediate(resolve))
    let text = ''
    for await (const piece of req) text += piece
    res.end(text)
  }))
  assert.equal((await request({ port, method: 'POST', headers: { 'Content-Length': 5 } }, 'hello')).body, 'hello')
})

test('a head that is larger than what it is first received into arrives whole', needs(), async (t) => {
  const long = 'x'.repeat(20_000)
  const server = http.createServer({ maxHeaderSize: 64 * 1024 }, (req, res) => res.end(String(req.headers['x-long'] === long)))
  const port = await serve(t, server)
  assert.equal((await request({ port, headers: { 'X-Long': long } })).body, 'true')
})

test('a head longer than maxHeaderSize is answered with 431', needs(), async (t) => {
  let requests = 0
  const server = http.createServer({ maxHeaderSize: 2000 }, (req, res) => {
    requests++
    res.end()
  })
  const port = await serve(t, server)
  assert.equal((await request({ port, headers: { 'X-Long': 'x'.repeat(3000) } })).status, 431)
  assert.equal(requests, 0)
})

test('a body longer than maxRequestBodySize is answered with 413', withOptions, async (t) => {
  const server = http.createServer(/** @type {any} */ ({ maxRequestBodySize: 10 }), hash)
  const port = await serve(t, server)
  const options = { port, method: 'POST', headers: { 'Content-Length': 11 } }
  assert.equal((await request(options, '01234567890')).status, 413)
  const shorter = { ...options, headers: { 'Content-Length': 10 } }
  assert.equal((await request(shorter, '0123456789')).status, 200)
})

test('requests of one connection have one socket, and come one after the other', needs(), async (t) => {
  const agent = new nodeHttp.Agent({ keepAlive: true, maxSockets: 1 })
  t.after(() => agent.destroy())
  const sockets = new Set()
  const server = http.createServer((req, res) => {
    sockets.add(req.socket)
    res.end(req.url)
  })
  let connections = 0
  server.on('connection', () => connections++)
  const port = await serve(t, server)
  for (let i = 0; i < 5; i++) assert.equal((await request({ port, agent, path: `/${i}` })).body, `/${i}`)
  assert.equal(sockets.size, 1)
  assert.equal(connections, 1)
})

test('requests of several connections are served at the same time', needs(), async (t) => {
  /** @type {any[]} */
  const waiting = []
  const port = await serve(t, http.createServer((req, res) => {
    waiting.push(res)
    if (waiting.length === 5) for (const other of waiting) other.end('together')
  }))
  const answers = await Promise.all(Array.from({ length: 5 }, () => request(port)))
  assert.deepEqual(answers.map(({ body }) => body), Array(5).fill('together'))
})

test('the end of a client that leaves before its answer is noticed', needs('seesDisconnects'), async (t) => {
  const server = http.createServer()
  const port = await serve(t, server)
  const closed = new Promise((resolve) => server.once('request', (req) => {
    req.on('close', () => resolve(req.aborted))
    client.destroy()
  }))
  const client = nodeHttp.get({ port, host: '127.0.0.1', agent: false }).on('error', () => {})
  assert.equal(await closed, true)
})
