'use strict'

// Goal: what an application asks of HTTP.SYS's response cache is asked as documented, and so is what it drops.

const { afterEach, test } = require('node:test')
const assert = require('node:assert/strict')
const { http } = require('../helpers/backend')
const { request, serve } = require('../helpers/client')
const { forget, notesOf, plan } = require('../helpers/httpapi-double')
const { until } = require('../helpers/waiting')
const { flushCache, setCachePolicy } = /** @type {any} */ (http)

// HTTP_CACHE_POLICY_TYPE.
const kUserInvalidates = 1
const kTimeToLive = 2
const kAccessDenied = 5

const timed = { timeout: 20_000 }

afterEach(() => plan(''))

/** Counts the requests that reach it. @param {import('node:test').TestContext} t @param {any} policy */
async function counting (t, policy) {
  let count = 0
  const server = http.createServer((req, res) => {
    if (policy !== undefined) setCachePolicy(res, policy)
    res.setHeader('Content-Type', 'text/plain')
    res.end(`${req.url} ${++count}`)
  })
  const port = await serve(t, server)
  await forget()
  const ask = async (path = '/a', options = {}) => (await request({ port, path, ...options })).body
  return { server, port, ask }
}

test('a response with userInvalidates is served from the cache until it is flushed', timed, async (t) => {
  const { server, port, ask } = await counting(t, { policy: 'userInvalidates' })
  assert.equal(await ask(), '/a 1')
  assert.equal(await ask(), '/a 1')
  const [{ policy, flags }] = await notesOf('policy')
  assert.equal(policy, kUserInvalidates)
  // What leaves in several calls is not kept.
  assert.equal(flags & 2, 0)
  assert.equal((await notesOf('servedFromCache')).length, 1)
  flushCache(server, `http://127.0.0.1:${port}/a`)
  assert.equal(await ask(), '/a 2')
  assert.deepEqual((await notesOf('flush')).map(({ flush, flags }) => [flush, flags]), [[`http://127.0.0.1:${port}/a`, 0]])
})

test('a query makes another URL, and other methods and logins go past the cache', timed, async (t) => {
  const { ask } = await counting(t, { policy: 'userInvalidates' })
  assert.equal(await ask('/a'), '/a 1')
  assert.equal(await ask('/a?b'), '/a?b 2')
  assert.equal(await ask('/a', { method: 'POST' }), '/a 3')
  assert.equal(await ask('/a', { headers: { Authorization: 'Basic YTpi' } }), '/a 4')
  assert.equal(await ask('/a'), '/a 1')
  assert.equal(await ask('/a?b'), '/a?b 2')
})

test('flushCache() with recursive drops what is below', timed, async (t) => {
  const { server, port, ask } = await counting(t, { policy: 'userInvalidates' })
  assert.deepEqual([await ask('/x/1'), await ask('/x/2'), await ask('/y')], ['/x/1 1', '/x/2 2', '/y 3'])
  flushCache(server, `http://127.0.0.1:${port}/x/`)
  assert.equal(await ask('/x/1'), '/x/1 1')
  flushCache(server, `http://127.0.0.1:${port}/x/`, { recursive: true })
  assert.deepEqual([await ask('/x/1'), await ask('/x/2'), await ask('/y')], ['/x/1 4', '/x/2 5', '/y 3'])
  assert.deepEqual((await notesOf('flush')).map(({ flags }) => flags), [0, 1])
})

test('timeToLive is told in seconds, and ends by itself', timed, async (t) => {
  const { ask } = await counting(t, { policy: 'timeToLive', seconds: 1 })
  assert.equal(await ask(), '/a 1')
  const [{ policy, seconds }] = await notesOf('policy')
  assert.deepEqual([policy, seconds], [kTimeToLive, 1])
  await until(async () => await ask() !== '/a 1', 'the end of its time')
})

test('without a policy, and with the policy none, nothing is kept', timed, async (t) => {
  for (const given of [undefined, { policy: 'none' }]) {
    const { ask } = await counting(t, given)
    assert.deepEqual([await ask(), await ask()], ['/a 1', '/a 2'])
    assert.deepEqual(await notesOf('policy'), [])
  }
})

test('what is written in pieces is not kept', timed, async (t) => {
  let count = 0
  const port = await serve(t, http.createServer((req, res) => {
    setCachePolicy(res, { policy: 'userInvalidates' })
    res.setHeader('Content-Type', 'text/plain')
    res.write('a piece ')
    setImmediate(() => res.end(String(++count)))
  }))
  await forget()
  assert.equal((await request(port)).body, 'a piece 1')
  assert.equal((await request(port)).body, 'a piece 2')
})

test('what HTTP.SYS says to a flush is an error', timed, async (t) => {
  const { server, port, ask } = await counting(t, { policy: 'userInvalidates' })
  await ask()
  await plan(`HttpFlushResponseCache:1:${kAccessDenied}`)
  assert.throws(() => flushCache(server, `http://127.0.0.1:${port}/a`), { code: 'EACCES', syscall: 'flush' })
  assert.throws(() => flushCache(server, 'no URL'), { code: 'ERR_INVALID_ARG_VALUE' })
  assert.equal(await ask(), '/a 1')
})
