'use strict'

// Goal: a missing response is made once in the process, not once in each of its lanes. Method: several I/O threads, and so many connections
// that each of them has some; first requests that end well, are destroyed, or lose their client.

// Read when the first server starts to listen.
process.env.HTTPSYS_IO_THREADS = '4'

const http2 = require('node:http2')
const { once } = require('node:events')
const { test } = require('node:test')
const assert = require('node:assert/strict')
const { setTimeout: sleep } = require('node:timers/promises')
const { dial, get } = require('../helpers/client')
const { until } = require('../helpers/waiting')
const { ofCache, serveStoredBefore } = require('./protocols-kit')

const kConnections = 200
const kStored = { 'Cache-Control': 'max-age=60' }

/**
 * A server whose answer to GET / of host "a" was stored before, and is forgotten.
 *
 * @param {import('node:test').TestContext} t @param {(req: any, res: any, calls: number) => void} handler
 */
async function serveKnown (t, handler) {
  return serveStoredBefore(t, 'HTTP/1.1', { cache: true }, handler, { Host: 'a' })
}

/** @param {import('node:test').TestContext} t @param {number} port @param {number} count @param {string} [text] */
async function askAtOnce (t, port, count, text = get()) {
  const wires = await Promise.all(Array.from({ length: count }, () => dial(t, port)))
  for (const wire of wires) wire.write(text)
  return wires
}

test('the handler runs once for all lanes', ofCache, async (t) => {
  const { port, calls, server } = await serveKnown(t, (req, res, n) => {
    setTimeout(() => res.writeHead(200, kStored).end(`<${n}>`), 100)
  })
  for (const wire of await askAtOnce(t, port, kConnections)) await wire.until('<1>')
  assert.equal(calls(), 1)
  assert.equal(server.cache.stats().released, 0)
})

test('a response that is not stored releases the requests of all lanes', ofCache, async (t) => {
  const { port, calls } = await serveKnown(t, (req, res, n) => {
    setTimeout(() => res.end(`<${n}>`), n === 1 ? 100 : 0)
  })
  const wires = await askAtOnce(t, port, kConnections)
  await sleep(50)
  assert.equal(calls(), 1)
  await Promise.all(wires.map((wire) => wire.until('>')))
  assert.equal(calls(), kConnections)
})

test('a response that is destroyed costs one request, whichever lane it was in', ofCache, async (t) => {
  const { port, calls } = await serveKnown(t, (req, res, n) => {
    if (n <= 2) setTimeout(() => res.destroy(), 50)
    else setTimeout(() => res.writeHead(200, kStored).end(`<${n}>`), 50)
  })
  const wires = await askAtOnce(t, port, kConnections)
  await Promise.all(wires.map((wire) => wire.until('<3>').catch(() => {})))
  assert.equal(wires.filter(({ text }) => text.includes('<3>')).length, kConnections - 1)
  assert.equal(calls(), 3)
})

test('when the client of the first request leaves, one request is made in its place', ofCache, async (t) => {
  const { port, calls } = await serveKnown(t, (req, res, n) => {
    if (n > 1) setTimeout(() => res.writeHead(200, kStored).end(`<${n}>`), 50)
  })
  const [first] = await askAtOnce(t, port, 1)
  await until(() => calls() === 1, 'the first one has reached JavaScript')
  // Fewer than lanes: that of the first one may have none of them.
  for (const count of [1, kConnections]) {
    const wires = await askAtOnce(t, port, count)
    await sleep(20)
    first.destroy()
    await Promise.all(wires.map((wire) => wire.until('<2>')))
  }
  assert.equal(calls(), 2)
})

test('a client that does not read keeps the clients of no lane waiting', ofCache, async (t) => {
  const { port, calls } = await serveStoredBefore(t, 'HTTP/2', { cache: true }, async (req, res, n) => {
    res.writeHead(200, kStored)
    for (let i = 0; i < 8; i++) {
      if (!res.write(Buffer.alloc(64 * 1024, 'x'))) await once(res, 'drain')
    }
    res.end(`<${n}>`)
  }, { ':authority': 'a' })
  const attacker = http2.connect(`http://127.0.0.1:${port}`, { settings: { initialWindowSize: 100 } })
  t.after(() => attacker.destroy())
  attacker.request({ ':path': '/', ':authority': 'a' })
  await until(() => calls() === 1, 'the attacker leads')
  const wires = await askAtOnce(t, port, 16)
  await Promise.all(wires.map((wire) => wire.until('<2>')))
  assert.equal(calls(), 2)
})
