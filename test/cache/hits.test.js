'use strict'

// Goal: a stored response answers without JavaScript over every protocol: as it was sent, with its age, and as conditions and ranges of the
// request ask for it. Method: handlers that count their calls, Node's own clients, and raw sockets for what those do not send.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const { dial, get, request } = require('../helpers/client')
const { kProtocols, ofCache, serveCached } = require('./protocols-kit')

for (const [protocol, serve] of Object.entries(kProtocols)) {
  test(`${protocol}: the second answer is the first one, with its age`, ofCache, async (t) => {
    let calls = 0
    const { ask } = await serve(t, { cache: true }, (req, res) => {
      res.writeHead(200, { 'Cache-Control': 'max-age=60', 'X-Count': ++calls, 'Content-Type': 'text/plain', ETag: '"one"' })
      res.end(`body of ${req.url}`)
    })
    const first = await ask('/a?b=c')
    const second = await ask('/a?b=c')
    assert.equal(calls, 1)
    assert.equal(second.status, 200)
    assert.equal(second.body, 'body of /a?b=c')
    assert.equal(second.body, first.body)
    assert.equal(first.headers.age, undefined)
    assert.match(second.headers.age, /^[01]$/)
    for (const name of ['cache-control', 'x-count', 'content-type', 'etag', 'date']) {
      assert.equal(second.headers[name], first.headers[name], name)
    }
    assert.equal((await ask('/a?b=d')).headers['x-count'], '2')
  })

  test(`${protocol}: conditions and ranges make 304, 206, 416 of a stored response`, ofCache, async (t) => {
    let calls = 0
    const { ask } = await serve(t, { cache: true }, (req, res) => {
      calls++
      res.writeHead(200, {
        'Cache-Control': 'max-age=60', 'Content-Type': 'text/plain', ETag: '"one"', 'Last-Modified': 'Sun, 06 Nov 1994 08:49:37 GMT', Vary: 'Accept-Encoding'
      })
      res.end('0123456789'.repeat(20))
    })
    await ask('/')
    const unchanged = await ask('/', { 'If-None-Match': 'W/"zero", W/"one"' })
    assert.deepEqual([unchanged.status, unchanged.body, unchanged.headers.etag, unchanged.headers.vary], [304, '', '"one"', 'Accept-Encoding'])
    assert.equal(unchanged.headers['content-type'], undefined)
    assert.equal((await ask('/', { 'If-Modified-Since': 'Sun, 06 Nov 1994 08:49:37 GMT' })).status, 304)
    // If-None-Match wins.
    assert.equal((await ask('/', { 'If-None-Match': '"two"', 'If-Modified-Since': 'Sun, 06 Nov 1994 08:49:37 GMT' })).status, 200)
    const part = await ask('/', { Range: 'bytes=5-7' })
    assert.deepEqual([part.status, part.body, part.headers['content-range'], part.headers['content-length']], [206, '567', 'bytes 5-7/200', '3'])
    const parts = await ask('/', { Range: 'bytes=0-1, 198-' })
    const boundary = /boundary="?(\w+)/.exec(parts.headers['content-type'])?.[1]
    assert.equal(parts.status, 206)
    assert.equal(parts.body.split(`--${boundary}`).length, 4)
    assert.match(parts.body, /Content-Range: bytes 0-1\/200\r\n[^]*?\r\n01\r\n/)
    assert.match(parts.body, /Content-Range: bytes 198-199\/200\r\n[^]*?\r\n89\r\n/)
    assert.equal(Number(parts.headers['content-length']), parts.body.length)
    const none = await ask('/', { Range: 'bytes=200-' })
    assert.deepEqual([none.status, none.headers['content-range']], [416, 'bytes */200'])
    assert.equal((await ask('/', { Range: 'bytes=0-1', 'If-Range': '"two"' })).body.length, 200)
    assert.equal((await ask('/', { Range: 'bytes=0-1', 'If-Range': '"one"' })).body, '01')
    const head = await ask('/', {}, 'HEAD')
    assert.deepEqual([head.status, head.body, head.headers['content-length']], [200, '', '200'])
    assert.equal(calls, 1)
  })
}

test('pipelined answers of the cache and of JavaScript keep the order of their requests', ofCache, async (t) => {
  const { port, calls } = await serveCached(t, (req, res) => {
    if (req.url === '/slow') return setTimeout(() => res.end('slow'), 50)
    res.writeHead(200, { 'Cache-Control': 'max-age=60' })
    res.end(`<${req.url}>`)
  })
  const wire = await dial(t, port)
  await wire.write(get('/a') + get('/b')).until('</b>')
  wire.text = ''
  await wire.write(get('/a') + get('/slow') + get('/b') + get('/a') + get('/slow') + get('/c')).until('</c>')
  assert.deepEqual(wire.text.match(/<.*?>|slow/g), ['</a>', 'slow', '</b>', '</a>', 'slow', '</c>'])
  assert.equal(calls(), 5)
})

test('pipelined hits leave together, and the last one may close the connection', ofCache, async (t) => {
  const { port, calls } = await serveCached(t, (req, res) => {
    res.setHeader('Cache-Control', 'max-age=60')
    res.end('x'.repeat(100))
  })
  const wire = await dial(t, port)
  await wire.write(get()).until('x'.repeat(100))
  wire.text = ''
  wire.write(get().repeat(63) + 'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
  const text = await wire.untilClosed()
  assert.equal(text.split('x'.repeat(100)).length, 65)
  assert.equal(text.split('Connection: close').length, 2)
  assert.equal(calls(), 1)
})

test('a client of HTTP/1.0 gets what a client of HTTP/1.1 has filled, and keeps its connection if it asks for that', ofCache, async (t) => {
  const { port, calls } = await serveCached(t, (req, res) => {
    res.setHeader('Cache-Control', 'max-age=60')
    res.write('chunk')
    res.end('ed')
  })
  const filling = await dial(t, port)
  await filling.write(get()).until('0\r\n\r\n')
  const kept = await dial(t, port)
  await kept.write('GET / HTTP/1.0\r\nHost: a\r\nConnection: keep-alive\r\n\r\n').until('chunked')
  assert.match(kept.text, /Connection: keep-alive\r\n/i)
  assert.match(kept.text, /Content-Length: 7\r\n/)
  assert.doesNotMatch(kept.text, /Transfer-Encoding/)
  kept.text = ''
  kept.write('GET / HTTP/1.0\r\nHost: a\r\n\r\n')
  assert.match(await kept.untilClosed(), /\r\n\r\nchunked$/)
  assert.equal(calls(), 1)
})

test('directives of requests: only-if-cached, max-age, min-fresh, max-stale, no-cache', ofCache, async (t) => {
  const { ask, calls } = await serveCached(t, (req, res, n) => {
    const age = req.url === '/stale' ? 100 : 10
    res.writeHead(200, { 'Cache-Control': 'max-age=60', Age: age })
    res.end(String(n))
  })
  const only = await ask('/', { 'Cache-Control': 'only-if-cached' })
  assert.deepEqual([only.status, calls()], [504, 0])
  assert.equal((await ask('/')).body, '1')
  assert.equal((await ask('/', { 'Cache-Control': 'only-if-cached' })).body, '1')
  assert.equal((await ask('/', { 'Cache-Control': 'max-age=30' })).body, '1')
  assert.equal((await ask('/', { 'Cache-Control': 'max-age=5' })).body, '2')
  assert.equal((await ask('/', { 'Cache-Control': 'min-fresh=55' })).body, '3')
  assert.equal((await ask('/', { 'Cache-Control': 'no-cache' })).body, '4')
  assert.equal((await ask('/', { Pragma: 'no-cache' })).body, '5')
  assert.equal((await ask('/')).body, '5')
})

test('a server without a cache and one that answers for everything do not mix', ofCache, async (t) => {
  const store = (/** @type {string} */ name) => (/** @type {any} */ req, /** @type {any} */ res) => {
    res.setHeader('Cache-Control', 'max-age=60')
    res.end(name)
  }
  const one = await serveCached(t, store('one'))
  const other = await serveCached(t, store('other'))
  const none = await serveCached(t, store('none'), undefined, { cache: undefined })
  for (const [{ ask }, body] of /** @type {const} */ ([[one, 'one'], [other, 'other'], [none, 'none'], [one, 'one'], [other, 'other'], [none, 'none']])) {
    assert.equal((await ask('/', { Host: 'same' })).body, body)
  }
  assert.deepEqual([one.calls(), other.calls(), none.calls()], [1, 1, 2])
})

test('statistics, entries and flushes are those of the server', ofCache, async (t) => {
  const { server, ask } = await serveCached(t, (req, res) => {
    res.setHeader('Cache-Control', 'max-age=60')
    res.end('x')
  })
  const host = { Host: 'a.example' }
  for (const path of ['/a', '/a/b', '/a/b?c', '/ab', '/a']) await ask(path, host)
  const { hits, misses, stored, entries } = server.cache.stats()
  assert.deepEqual({ hits, misses, stored, entries }, { hits: 1, misses: 4, stored: 4, entries: 4 })
  const urls = () => server.cache.entries().map((/** @type {any} */ entry) => entry.url).sort()
  assert.deepEqual(urls(), ['http://a.example/a', 'http://a.example/a/b', 'http://a.example/a/b?c', 'http://a.example/ab'])
  const [entry] = server.cache.entries({ prefix: 'http://a.example/a' }).filter((/** @type {any} */ { url }) => url.endsWith('/a'))
  assert.deepEqual([entry.status, entry.seconds, entry.hits, entry.bodyBytes, entry.varies], [200, 60, 1, 1, false])
  assert.equal(server.cache.flush('http://a.example/a/b'), 1)
  assert.equal(server.cache.flush('http://b.example/a'), 0)
  // URLs are compared byte for byte (docs/cache.md).
  assert.equal(server.cache.entries({ prefix: 'http://*/a/' }).length, 1)
  assert.equal(server.cache.flush('http://*/a/'), 0)
  assert.equal(server.cache.flush('http://a.example/a', { recursive: true }), 2)
  assert.deepEqual(urls(), ['http://a.example/ab'])
  assert.equal(server.cache.flush(), 1)
  assert.deepEqual(urls(), [])
})

test('entries leave with their server: nothing is left for one that listens again', ofCache, async (t) => {
  const { server, port, ask, calls } = await serveCached(t, (req, res) => {
    res.setHeader('Cache-Control', 'max-age=60')
    res.end('x')
  })
  await ask('/')
  await ask('/')
  assert.equal(calls(), 1)
  await new Promise((resolve) => {
    server.close(resolve)
    server.closeAllConnections()
  })
  await new Promise((resolve) => server.listen(port, '127.0.0.1', () => resolve(null)))
  await request({ port, path: '/' })
  assert.equal(calls(), 2)
})

test('prefixes that come and go: entries leave with theirs, and another server of the same prefix has its own', ofCache, async (t) => {
  const { http } = require('../helpers/backend')
  const { freePort } = require('../helpers/free-port')
  const { stop } = require('../helpers/client')
  const port = await freePort()
  let calls = 0
  const server = /** @type {any} */ (http.createServer(/** @type {any} */ ({ cache: true }), (req, res) => {
    calls++
    res.setHeader('Cache-Control', 'max-age=60')
    res.end('x')
  }))
  t.after(() => stop(server))
  await new Promise((resolve) => server.listen(`http://127.0.0.1:${port}/a/`, () => resolve(null)))
  await server.addPrefix(`http://127.0.0.1:${port}/b/`)
  const ask = async (/** @type {string} */ path) => (await request({ port, path })).body
  for (const path of ['/a/', '/b/', '/a/', '/b/']) assert.equal(await ask(path), 'x')
  assert.equal(calls, 2)
  await server.removePrefix(`http://127.0.0.1:${port}/b/`)
  assert.deepEqual(server.cache.entries().map((/** @type {any} */ { url }) => url), [`http://127.0.0.1:${port}/a/`])
  await server.addPrefix(`http://127.0.0.1:${port}/b/`)
  for (const path of ['/a/', '/b/', '/a/', '/b/']) assert.equal(await ask(path), 'x')
  assert.equal(calls, 3)
})
