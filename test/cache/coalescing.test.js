'use strict'

// Goal: of simultaneous requests for what the cache has had, and does not have now, one reaches JavaScript; the others get what is stored
// then, or JavaScript, and never wait for each other. Requests for what was never stored do not wait. Method: many connections at once, handlers that count, and answers that cannot be stored.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const { setTimeout: sleep } = require('node:timers/promises')
const { dial, get } = require('../helpers/client')
const { until } = require('../helpers/waiting')
const { kProtocols, ofCache, serveCached, serveStoredBefore } = require('./protocols-kit')

/**
 * A server whose answer to GET / of host "a" was stored before, and is forgotten.
 *
 * @param {import('node:test').TestContext} t
 * @param {(req: any, res: any, calls: number) => void} handler
 * @param {any} [options] of createServer()
 */
async function serveKnown (t, handler, options = {}) {
  return serveStoredBefore(t, 'HTTP/1.1', { cache: true, ...options }, handler, { Host: 'a' })
}

/** @param {import('node:test').TestContext} t @param {number} port @param {number} count @param {(i: number) => string} text */
async function askAtOnce (t, port, count, text) {
  const wires = await Promise.all(Array.from({ length: count }, () => dial(t, port)))
  wires.forEach((wire, i) => wire.write(text(i)))
  return wires
}

test('200 connections at once: the handler runs once, and all get its answer', ofCache, async (t) => {
  const { port, calls, server } = await serveKnown(t, (req, res, n) => {
    setTimeout(() => res.writeHead(200, { 'Cache-Control': 'max-age=60' }).end(`<${n}>`), 200)
  })
  const wires = await askAtOnce(t, port, 200, () => get())
  for (const wire of wires) await wire.until('<1>')
  assert.equal(calls(), 1)
  const stats = server.cache.stats()
  assert.equal(stats.coalesced + stats.hits - stats.coalesced, 199)
  assert.equal(stats.released, 0)
})

for (const protocol of ['HTTP/2', 'HTTP/2 over TLS', 'TLS']) {
  test(`${protocol}: 50 requests at once are one for JavaScript`, ofCache, async (t) => {
    const { ask, calls } = await serveStoredBefore(t, protocol, { cache: true }, (req, res) => {
      setTimeout(() => res.writeHead(200, { 'Cache-Control': 'max-age=60' }).end('shared'), 100)
    })
    const answers = await Promise.all(Array.from({ length: 50 }, () => ask('/')))
    assert.ok(answers.every(({ body }) => body === 'shared'))
    assert.equal(calls(), 1)
  })
}

test('an answer that may not be stored releases all at its head; the next burst waits for nobody', ofCache, async (t) => {
  /** @type {(() => void)[]} */
  const ends = []
  const { port, calls } = await serveKnown(t, (req, res, n) => {
    if (n === 1) setTimeout(() => res.write(`<${n}`), 50)
    else res.write(`<${n}`)
    ends.push(() => res.end('>'))
  })
  await askAtOnce(t, port, 50, () => get())
  // The first answer has no end yet.
  await until(() => calls() === 50, 'all have reached JavaScript')
  await askAtOnce(t, port, 50, () => get())
  await until(() => calls() === 100, 'all have reached JavaScript again')
  for (const end of ends) end()
})

test('when the answer is destroyed, the lane asks itself, then the oldest that waits', ofCache, async (t) => {
  const { port, calls } = await serveKnown(t, (req, res, n) => {
    if (n <= 2) setTimeout(() => res.destroy(), 50)
    else setTimeout(() => res.writeHead(200, { 'Cache-Control': 'max-age=60' }).end(`<${n}>`), 50)
  })
  const wires = await askAtOnce(t, port, 10, () => get())
  await Promise.all(wires.map((wire) => wire.until('<3>').catch(() => {})))
  assert.equal(wires.filter(({ text }) => text.includes('<3>')).length, 9)
  assert.equal(calls(), 3)
})

test('the lane asks itself when the client of the first one leaves: the next client that leaves costs no call', ofCache, async (t) => {
  const { port, calls } = await serveKnown(t, (req, res, n) => {
    if (n > 1) setTimeout(() => res.writeHead(200, { 'Cache-Control': 'max-age=60' }).end(`<${n}>`), 100)
  })
  const [first] = await askAtOnce(t, port, 1, () => get())
  await until(() => calls() === 1, 'the first one has reached JavaScript')
  const wires = await askAtOnce(t, port, 10, () => get())
  await sleep(50)
  assert.equal(calls(), 1)
  first.destroy()
  await until(() => calls() === 2, 'the lane has asked')
  for (const wire of wires.slice(0, 5)) wire.destroy()
  await Promise.all(wires.slice(5).map((wire) => wire.until('<2>')))
  assert.equal(calls(), 2)
})

test('a client that leaves while it waits is forgotten', ofCache, async (t) => {
  /** @type {any} */
  let response
  const { port, calls } = await serveKnown(t, (req, res) => { response = res })
  await askAtOnce(t, port, 1, () => get())
  await until(() => calls() === 1, 'the first one has reached JavaScript')
  const wires = await askAtOnce(t, port, 20, () => get())
  await sleep(30)
  for (const wire of wires.slice(0, 10)) wire.destroy()
  await sleep(30)
  response.writeHead(200, { 'Cache-Control': 'max-age=60' }).end('<1>')
  await Promise.all(wires.slice(10).map((wire) => wire.until('<1>')))
  assert.equal(calls(), 1)
})

test('each request with a cookie gets an answer of its own, at once', ofCache, async (t) => {
  /** @type {(() => void)[]} */
  const ends = []
  const { port, calls } = await serveKnown(t, (req, res) => {
    ends.push(() => res.writeHead(200, { 'Cache-Control': 'max-age=60' }).end(`<${req.headers.cookie}>`))
  })
  const wires = await askAtOnce(t, port, 50, (i) => `GET / HTTP/1.1\r\nHost: a\r\nCookie: user=${i}\r\n\r\n`)
  await until(() => calls() === 50, 'all have reached JavaScript')
  for (const end of ends) end()
  await Promise.all(wires.map((wire, i) => wire.until(`<user=${i}>`)))
})

test('variants: the first answer tells what they depend on, and each gets its own', ofCache, async (t) => {
  const { port, calls } = await serveKnown(t, (req, res) => {
    setTimeout(() => res.writeHead(200, { 'Cache-Control': 'max-age=60', Vary: 'Accept-Language' }).end(`<${req.headers['accept-language']}>`), 50)
  })
  const wires = await askAtOnce(t, port, 40, (i) => `GET / HTTP/1.1\r\nHost: a\r\nAccept-Language: l${i % 4}\r\n\r\n`)
  await Promise.all(wires.map((wire, i) => wire.until(`<l${i % 4}>`)))
  // One tells that there are variants; then one asks for each other variant.
  assert.equal(calls(), 4)
})

for (const [protocol, serve] of Object.entries(kProtocols)) {
  test(`${protocol}: requests for what was never stored do not wait for each other, whichever rules are on`, ofCache, async (t) => {
    for (const cache of [true, { rules: 'httpsys' }, { status: true, stale: { whileRevalidate: 5 } }]) {
      /** @type {any[]} */
      const polls = []
      const { ask, server } = await serve(t, { cache }, (req, res) => polls.push(res))
      const answers = Array.from({ length: 3 }, () => ask('/poll'))
      await until(() => polls.length === 3, 'all have reached JavaScript')
      for (const res of polls) res.end('hello')
      assert.deepEqual((await Promise.all(answers)).map(({ body }) => body), ['hello', 'hello', 'hello'])
      assert.equal(server.cache.stats().coalesced, 0)
    }
  })
}

test('requests that a default lifetime may store wait from the first one on', ofCache, async (t) => {
  const { ask, calls } = await serveCached(t, (req, res) => {
    setTimeout(() => res.writeHead(200, { 'Content-Type': 'text/plain' }).end('shared'), 50)
  }, { rules: 'httpsys', duration: 60 })
  await Promise.all(Array.from({ length: 20 }, () => ask('/')))
  assert.equal(calls(), 1)
})

test('behind coalesceTimeout those that wait reach JavaScript, and nobody waits for that answer any more until one was stored again', ofCache, async (t) => {
  let hangs = true
  const { port, calls, ask, server } = await serveKnown(t, (req, res) => {
    if (!hangs) res.writeHead(200, { 'Cache-Control': 'max-age=60' }).end('<stored>')
  }, { cache: { coalesceTimeout: 100 } })
  await askAtOnce(t, port, 1, () => get())
  await until(() => calls() === 1, 'the first one has reached JavaScript')
  await askAtOnce(t, port, 5, () => get())
  await until(() => calls() === 6, 'the others have')
  await askAtOnce(t, port, 5, () => get())
  await until(() => calls() === 11, 'so have those that came later')
  assert.equal(server.cache.stats().coalesced, 5)
  hangs = false
  assert.equal((await ask('/', { Host: 'a' })).body, '<stored>')
  server.cache.flush()
  hangs = true
  await askAtOnce(t, port, 5, () => get())
  await until(() => server.cache.stats().coalesced === 9, 'others wait for one of them again')
})

test('nobody waits any more for a response that can be stored and does not end in time', ofCache, async (t) => {
  const { port, calls, server } = await serveKnown(t, (req, res) => {
    res.writeHead(200, { 'Cache-Control': 'max-age=60' }).write('<begun>')
  }, { cache: { coalesceTimeout: 100 } })
  await askAtOnce(t, port, 1, () => get())
  await until(() => calls() === 1, 'the first one has reached JavaScript')
  await askAtOnce(t, port, 5, () => get())
  await until(() => calls() === 6, 'the others have')
  for (let i = 7; i < 10; i++) {
    const [wire] = await askAtOnce(t, port, 1, () => get())
    await wire.until(/<begun>/)
    assert.equal(calls(), i)
  }
  assert.equal(server.cache.stats().coalesced, 5)
})

test('with coalesceTimeout 0 no request waits for another one', ofCache, async (t) => {
  const { port, calls } = await serveKnown(t, () => {}, { cache: { coalesceTimeout: 0 } })
  await askAtOnce(t, port, 5, () => get())
  await until(() => calls() === 5, 'all have reached JavaScript')
})

test('a request waits no longer than queueTimeout', ofCache, async (t) => {
  const { port, calls } = await serveKnown(t, () => {}, { queueTimeout: 200 })
  await askAtOnce(t, port, 1, () => get())
  await until(() => calls() === 1, 'the first one has reached JavaScript')
  await askAtOnce(t, port, 5, () => get())
  await sleep(50)
  assert.equal(calls(), 1)
  await until(() => calls() === 6, 'the others have')
})

test('a pipelined request waits behind the one that it repeats', ofCache, async (t) => {
  const { port, calls } = await serveKnown(t, (req, res, n) => {
    setTimeout(() => res.writeHead(200, { 'Cache-Control': 'max-age=60' }).end(`<${n}>`), 20)
  })
  const [wire] = await askAtOnce(t, port, 1, () => get().repeat(5))
  await wire.until('<1>', 5)
  assert.equal(calls(), 1)
})
