'use strict'

// Goal: no client keeps others from what the cache could give them, or makes it take memory without bound, and no odd response of an
// application breaks the framing of the cache's answers. Method: clients that lead and do not read, ask with conditions or odd fields, or
// stand behind answers that never end; responses whose head contradicts itself.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const { dial, get, request } = require('../helpers/client')
const { until } = require('../helpers/waiting')
const { ofCache, serveCached } = require('./protocols-kit')

const kStored = { 'Cache-Control': 'max-age=60' }
const limited = { ...ofCache, timeout: 20_000 }

test('copies of entries that JavaScript is asked about are bounded', limited, async (t) => {
  const kPages = { ETag: '"a"', 'Cache-Control': 'public, max-age=60' }
  /** @type {(() => void)[]} */
  const answers = []
  const { port, calls } = await serveCached(t, (req, res, n) => {
    if (n === 1) return res.writeHead(200, kPages).end(Buffer.alloc(1000 * 1024, 'x'))
    answers.push(() => res.writeHead(304, kPages).end())
  })
  assert.equal((await request(port)).body.length, 1000 * 1024)
  const before = process.memoryUsage().rss
  const wires = await Promise.all(Array.from({ length: 200 }, () => dial(t, port)))
  for (const wire of wires) wire.write(`GET / HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nCookie: a=b\r\nCache-Control: no-cache\r\n\r\n`)
  await until(() => calls() === 201, 'all have reached JavaScript')
  const grown = process.memoryUsage().rss - before
  assert.ok(grown < 64 * 1024 * 1024, `${grown} bytes for 200 requests`)
})

test('a response with two lines about its length is not kept', ofCache, async (t) => {
  const { port, calls } = await serveCached(t, (req, res) => {
    res.writeHead(200, { ...kStored, 'Content-Length': '3', 'Transfer-Encoding': 'chunked' })
    res.write('abc')
    res.end('defgh')
  })
  for (let i = 0; i < 2; i++) {
    const wire = await dial(t, port)
    wire.write(get())
    await wire.until('0\r\n\r\n')
    assert.equal(wire.text.match(/content-length/gi)?.length, 1)
  }
  assert.equal(calls(), 2)
})

test('the body of a 205 is kept as its head says', ofCache, async (t) => {
  const { port, calls } = await serveCached(t, (req, res) => {
    res.writeHead(205, { ...kStored, 'Content-Length': '3' }).end('abc')
  })
  for (let i = 0; i < 2; i++) {
    const wire = await dial(t, port)
    wire.write('GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
    assert.ok((await wire.untilClosed()).endsWith('\r\n\r\nabc'), wire.text)
  }
  assert.equal(calls(), 1)
})
