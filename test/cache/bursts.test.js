'use strict'

// Goal: of many clients that ask at once for what is not stored, one reaches the handler, and the others get its answer if it may be
// stored, or each an answer of its own without waiting for one another. The benchmark "cache" measures how long they take.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const { once } = require('node:events')
const http2 = require('node:http2')
const { setTimeout: sleep } = require('node:timers/promises')
const { http } = require('../helpers/backend')
const { dial, serve } = require('../helpers/client')
const { until } = require('../helpers/waiting')
const { needsCache, serveCached } = require('./origin-kit')

const kClients = 1000
/** Longer than the clients need to ask, so that most of them wait; those that come later are answered from the store. */
const kSlowMs = 200
const kLimits = { ...needsCache(), timeout: 60_000 }

/** @param {number} count @param {(index: number) => Promise<any>} ask */
const atOnce = (count, ask) => Promise.all(Array.from({ length: count }, (_, index) => ask(index)))

/**
 * A server whose answer to GET / was stored before, and is forgotten: only for such answers requests wait.
 *
 * @param {import('node:test').TestContext} t @param {(req: import('node:http').IncomingMessage, res: import('node:http').ServerResponse) => void} handler
 */
async function serveKnown (t, handler) {
  let isKnown = false
  const served = await serveCached(t, (req, res) => {
    if (isKnown) return handler(req, res)
    res.setHeader('Cache-Control', 'max-age=3600')
    res.end('known')
  })
  await served.ask({ path: '/' })
  isKnown = true
  assert.equal(served.server.cache.flush(), 1)
  return served
}

test('1,000 clients that ask at once for a missing answer get it, and the handler runs once', kLimits, async (t) => {
  let calls = 0
  const { ask } = await serveKnown(t, async (_req, res) => {
    const call = ++calls
    await sleep(kSlowMs)
    res.setHeader('Cache-Control', 'max-age=3600')
    res.end(`answer ${call}`)
  })
  const answers = await atOnce(kClients, () => ask({ path: '/' }))
  assert.deepEqual([...new Set(answers.map(({ status, body }) => `${status} ${body}`))], ['200 answer 1'])
  assert.equal(calls, 1)
})

test('streams of HTTP/2 that ask at once for a missing answer get it, and the handler runs once', kLimits, async (t) => {
  let calls = -1
  const server = http.createServer(/** @type {any} */ ({ cache: true, http2: true }), async (_req, res) => {
    if (++calls > 0) await sleep(kSlowMs)
    res.setHeader('Cache-Control', 'max-age=3600')
    res.end('answer')
  })
  const port = await serve(t, server)
  const sessions = Array.from({ length: 4 }, () => http2.connect(`http://127.0.0.1:${port}`))
  t.after(() => sessions.forEach((session) => session.destroy()))
  await Promise.all(sessions.map((session) => once(session, 'connect')))
  await once(sessions[0].request({ ':path': '/' }).resume(), 'end')
  assert.equal(/** @type {any} */ (server).cache.flush(), 1)
  const bodies = await atOnce(200, async (index) => {
    const stream = sessions[index % sessions.length].request({ ':path': '/' })
    let body = ''
    stream.setEncoding('latin1').on('data', (piece) => { body += piece })
    await once(stream, 'end')
    return body
  })
  assert.deepEqual([...new Set(bodies)], ['answer'])
  assert.equal(calls, 1)
})

test('in a second burst for what may not be stored, each of 1,000 clients reaches the handler, and none waits for another', kLimits, async (t) => {
  let calls = 0
  let isSecond = false
  /** @type {() => void} */
  let allAreThere = () => {}
  const all = new Promise((resolve) => { allAreThere = () => resolve(null) })
  const { ask } = await serveKnown(t, async (_req, res) => {
    const call = ++calls
    // Of the second burst, no request is answered before all have come: were one to wait for another, all would wait for ever.
    if (isSecond && call === kClients) allAreThere()
    if (isSecond) await all
    res.setHeader('Cache-Control', 'no-store')
    res.end(`answer ${call}`)
  })
  const first = await atOnce(kClients, () => ask({ path: '/' }))
  assert.equal(new Set(first.map(({ body }) => body)).size, kClients)
  assert.equal(calls, kClients)
  calls = 0
  isSecond = true
  const second = await atOnce(kClients, () => ask({ path: '/' }))
  assert.equal(new Set(second.map(({ body }) => body)).size, kClients)
  assert.equal(calls, kClients)
})

test('of 100 users who ask at once for a page of their own, each gets that', kLimits, async (t) => {
  const { ask } = await serveKnown(t, async ({ headers }, res) => {
    await sleep(20)
    res.setHeader('Cache-Control', 'max-age=3600')
    res.end(`for ${headers.cookie}`)
  })
  for (let round = 0; round < 2; round++) {
    const answers = await atOnce(100, (index) => ask({ path: '/', headers: { Cookie: `session=${index}` } }))
    assert.deepEqual(answers.map(({ body }) => body), answers.map((_, index) => `for session=${index}`))
  }
})

test('users without and with a cookie who ask at once for a page that is not public get no other one\'s', kLimits, async (t) => {
  const { ask } = await serveKnown(t, async ({ headers }, res) => {
    await sleep(20)
    res.setHeader('Cache-Control', 'max-age=3600')
    res.end(`for ${headers.cookie ?? 'nobody'}`)
  })
  const cookies = Array.from({ length: 100 }, (_, index) => index % 3 === 0 ? undefined : `session=${index}`)
  const answers = await atOnce(cookies.length, (index) => ask({ path: '/', headers: cookies[index] === undefined ? {} : { Cookie: /** @type {string} */ (cookies[index]) } }))
  assert.deepEqual(answers.map(({ body }) => body), cookies.map((cookie) => `for ${cookie ?? 'nobody'}`))
})

test('clients that select different variants get their own, and the handler runs for each variant once more at most', kLimits, async (t) => {
  let calls = 0
  const { ask } = await serveKnown(t, async ({ headers }, res) => {
    calls++
    await sleep(50)
    res.setHeader('Cache-Control', 'max-age=3600')
    res.setHeader('Vary', 'Accept-Language')
    res.end(`in ${headers['accept-language']}`)
  })
  const languages = ['de', 'en', 'fr']
  const answers = await atOnce(90, (index) => ask({ path: '/', headers: { 'Accept-Language': languages[index % 3] } }))
  assert.deepEqual(answers.map(({ body }) => body), answers.map((_, index) => `in ${languages[index % 3]}`))
  const before = calls
  await atOnce(90, (index) => ask({ path: '/', headers: { 'Accept-Language': languages[index % 3] } }))
  assert.equal(calls, before)
  assert.ok(before <= 90)
})

test('clients are answered though the one whose request runs has gone', kLimits, async (t) => {
  let calls = 0
  /** @type {() => void} */
  let answer = () => {}
  const { ask, port } = await serveKnown(t, (_req, res) => {
    calls++
    res.setHeader('Cache-Control', 'max-age=3600')
    if (calls > 1) res.end(`answer ${calls}`)
    else answer = () => res.end('answer 1')
  })
  const leader = await dial(t, port)
  leader.write(`GET / HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`)
  await until(() => calls === 1, 'the handler runs')
  const waiting = atOnce(20, () => ask({ path: '/' }))
  leader.destroy()
  await leader.untilClosed()
  answer()
  const answers = await waiting
  assert.ok(answers.every(({ status, body }) => status === 200 && /^answer \d+$/.test(body)))
})

test('clients are answered though the response they wait for is destroyed', kLimits, async (t) => {
  let calls = 0
  /** @type {() => void} */
  let destroy = () => {}
  const { ask, port } = await serveKnown(t, (_req, res) => {
    calls++
    res.setHeader('Cache-Control', 'max-age=3600')
    if (calls > 1) res.end('answer')
    else destroy = () => res.destroy()
  })
  const leader = await dial(t, port)
  leader.write(`GET / HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`)
  await until(() => calls === 1, 'the handler runs')
  const waiting = atOnce(20, () => ask({ path: '/' }))
  // Those that have not come when the response is destroyed are answered anyway.
  await sleep(50)
  destroy()
  const answers = await waiting
  assert.ok(answers.every(({ status, body }) => status === 200 && body === 'answer'))
})
