'use strict'

// Goal: no client keeps others from what the cache could give them, or makes it take memory without bound, and no odd response of an
// application breaks the framing of the cache's answers. Method: clients that lead and do not read, ask with conditions or odd fields, or
// stand behind answers that never end; responses whose head contradicts itself.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const { dial, get } = require('../helpers/client')
const { ofCache, serveCached } = require('./protocols-kit')

const kStored = { 'Cache-Control': 'max-age=60' }

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
