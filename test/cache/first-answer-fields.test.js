'use strict'

// Goal: an answer that JavaScript gives has the fields of the cache (Cache-Status, Vary: Accept-Encoding), in whichever pieces its head and body
// leave. Method: one response written in every way that makes other records of it, over every protocol.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const fs = require('node:fs')
const { Readable } = require('node:stream')
const { dial, get } = require('../helpers/client')
const { kProtocols, ofCache, serveCached } = require('./protocols-kit')

const kHeaders = { 'Cache-Control': 'max-age=60', 'Content-Type': 'text/plain' }
const kLong = 'text '.repeat(40_000)

/** Ways to write a response that is stored. @type {Record<string, (res: any) => string>} */
const kWays = {
  'end() with a short text' (res) {
    res.writeHead(200, kHeaders).end('x'.repeat(2000))
    return 'x'.repeat(2000)
  },
  'end() with a long text' (res) {
    res.writeHead(200, kHeaders).end(kLong)
    return kLong
  },
  'end() with a long buffer' (res) {
    res.writeHead(200, kHeaders).end(Buffer.from(kLong))
    return kLong
  },
  'end() with a long text and no head before' (res) {
    for (const [name, value] of Object.entries(kHeaders)) res.setHeader(name, value)
    res.end(kLong)
    return kLong
  },
  'a long write with Content-Length' (res) {
    res.writeHead(200, { ...kHeaders, 'Content-Length': 2 * kLong.length })
    res.write(kLong)
    setImmediate(() => res.end(kLong))
    return kLong + kLong
  },
  'several short writes' (res) {
    res.writeHead(200, kHeaders)
    for (let i = 0; i < 4; i++) res.write('x'.repeat(500))
    setImmediate(() => res.end('end'))
    return 'x'.repeat(2000) + 'end'
  },
  'long writes' (res) {
    res.writeHead(200, kHeaders)
    res.write(kLong)
    setImmediate(() => res.end(kLong))
    return kLong + kLong
  },
  'writes with Content-Length' (res) {
    res.writeHead(200, { ...kHeaders, 'Content-Length': 3000 })
    res.write('x'.repeat(1000))
    setImmediate(() => res.end('x'.repeat(2000)))
    return 'x'.repeat(3000)
  },
  'a head that leaves alone' (res) {
    res.writeHead(200, kHeaders)
    res.flushHeaders()
    setImmediate(() => res.end('x'.repeat(2000)))
    return 'x'.repeat(2000)
  },
  'a head behind early hints' (res) {
    res.writeEarlyHints({ link: '</style.css>; rel=preload; as=style' })
    res.writeHead(200, kHeaders)
    res.write('x'.repeat(2000))
    setImmediate(() => res.end('end'))
    return 'x'.repeat(2000) + 'end'
  },
  'a piped stream' (res) {
    res.writeHead(200, kHeaders)
    Readable.from([kLong, 'end']).pipe(res)
    return kLong + 'end'
  },
  'a body that has the form of a head' (res) {
    const body = 'HTTP/1.1 200 OK\r\nX-Inner: 1\r\n\r\n' + 'x'.repeat(2000)
    res.writeHead(200, kHeaders)
    res.flushHeaders()
    res.write(body)
    setImmediate(() => res.end(body))
    return body + body
  }
}

for (const [protocol, serve] of Object.entries(kProtocols)) {
  test(`${protocol}: first answers have Cache-Status and Vary, in whichever pieces they leave`, ofCache, async (t) => {
    const ways = Object.entries(kWays)
    /** @type {string[]} */
    const bodies = []
    const { ask } = await serve(t, { cache: { rules: 'rfc9111', status: true, compress: true } }, (req, res) => {
      const at = Number(req.url.slice(1))
      bodies[at] = ways[at][1](res)
    })
    for (const [at, [way]] of ways.entries()) {
      const first = await ask(`/${at}`)
      assert.deepEqual([first.headers['cache-status'], first.headers.vary], ['httpsys; fwd=uri-miss; stored', 'Accept-Encoding'], way)
      assert.ok(first.body === bodies[at], `${way}: the body is as it was written`)
      const second = await ask(`/${at}`)
      assert.match(second.headers['cache-status'], /^httpsys; hit/, way)
      assert.ok(second.body === bodies[at], `${way}: the body is stored as it was written`)
    }
  })

  test(`${protocol}: a streamed answer that is not stored says why`, ofCache, async (t) => {
    const { ask } = await serve(t, { cache: { rules: 'rfc9111', status: 'debug' } }, (req, res) => {
      res.writeHead(200, { 'Cache-Control': 'no-store' })
      res.write(kLong)
      setImmediate(() => res.end('end'))
    })
    const { headers, body } = await ask('/')
    assert.equal(headers['cache-status'], 'httpsys; fwd=uri-miss; detail=NO_STORE')
    assert.equal(headers.vary, undefined)
    assert.ok(body === kLong + 'end')
  })

  test(`${protocol}: a file, long or short, is not said to be stored unless it is`, ofCache, async (t) => {
    const { ask, server } = await serve(t, { cache: { rules: 'rfc9111', status: 'debug' } }, (req, res) => {
      for (const [name, value] of Object.entries(kHeaders)) res.setHeader(name, value)
      fs.createReadStream(req.url === '/long' ? process.execPath : __filename, { end: 70_000 }).pipe(res)
    })
    for (const path of ['/long', '/short']) {
      const { headers } = await ask(path)
      const { stored } = server.cache.stats()
      assert.equal(headers['cache-status'], stored === 0 ? 'httpsys; fwd=uri-miss; detail=FILE' : 'httpsys; fwd=uri-miss; stored', path)
      server.cache.flush()
    }
  })
}

test('each of several pipelined answers that are streamed has its fields once', ofCache, async (t) => {
  const { port } = await serveCached(t, (req, res) => {
    res.writeHead(200, { ...kHeaders, 'Content-Length': 4000 })
    res.write('x'.repeat(2000))
    setImmediate(() => res.end('y'.repeat(1998) + '<>'))
  }, { rules: 'rfc9111', status: true })
  const wire = await dial(t, port)
  wire.write(get('/1') + get('/2') + get('/3'))
  const text = await wire.until('<>', 3)
  assert.equal(text.split('Cache-Status: httpsys; fwd=uri-miss; stored\r\n').length, 4)
  assert.equal(text.split(/cache-status/i).length, 4)
})

test('what an upgrade handler writes is not changed', ofCache, async (t) => {
  const { port, server } = await serveCached(t, (req, res) => res.end(), { rules: 'rfc9111', status: true })
  server.on('upgrade', (/** @type {any} */ req, /** @type {any} */ socket) => {
    socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: raw\r\n\r\n')
    socket.end('HTTP/1.1 200 OK\r\n\r\nraw')
  })
  const wire = await dial(t, port)
  wire.write('GET / HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: raw\r\n\r\n')
  assert.doesNotMatch(await wire.untilClosed(), /cache-status/i)
})
