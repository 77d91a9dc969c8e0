'use strict'

// Goal: a target whose responses are refused again and again costs nothing more than without a cache, and nothing else changes: figures,
// other requests for it, and what is stored for it by whatever way. Method: many requests for one target, then the odd one.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const { ofCache, serveCached } = require('./protocols-kit')

/** More than the lane needs to remember the target. */
const kRepeats = 20
const kStored = { 'Cache-Control': 'max-age=60' }

/** @param {import('./protocols-kit').Ask} ask @param {string} [path] */
async function refuseOften (ask, path = '/page') {
  for (let i = 1; i <= kRepeats; i++) assert.equal((await ask(path)).body, String(i))
}

test('each request counts as a miss and its response as refused', ofCache, async (t) => {
  const { ask, server } = await serveCached(t, (req, res, n) => res.end(String(n)))
  await refuseOften(ask)
  const { misses, hits, stored, refused } = server.cache.stats()
  assert.deepEqual({ misses, hits, stored, refused }, { misses: kRepeats, hits: 0, stored: 0, refused: { NO_FRESHNESS: kRepeats } })
})

test('what another request stores for the target answers the next one at once', ofCache, async (t) => {
  const { ask, calls } = await serveCached(t, (req, res, n) => res.writeHead(200, req.headers['x-store'] && kStored).end(String(n)))
  await refuseOften(ask)
  assert.equal((await ask('/page', { 'X-Store': '1' })).body, String(kRepeats + 1))
  assert.equal((await ask('/page')).body, String(kRepeats + 1))
  assert.equal(calls(), kRepeats + 1)
})

test('other targets, hosts and queries of the server are stored', ofCache, async (t) => {
  const { ask } = await serveCached(t, (req, res, n) => {
    res.writeHead(200, req.url === '/page' && req.headers.host !== 'other' ? {} : kStored).end(String(n))
  })
  await refuseOften(ask)
  for (const [path, headers] of /** @type {const} */ ([['/page?a', {}], ['/', {}], ['/page', { Host: 'other' }]])) {
    const { body } = await ask(path, headers)
    assert.equal((await ask(path, headers)).body, body, path)
  }
})

test('only-if-cached is 504, and an unsafe request empties what it changes', ofCache, async (t) => {
  const { ask } = await serveCached(t, (req, res, n) => {
    res.writeHead(200, req.method === 'POST' ? { Location: '/stored' } : req.url === '/stored' ? kStored : {}).end(String(n))
  })
  await refuseOften(ask)
  assert.equal((await ask('/page', { 'Cache-Control': 'only-if-cached' })).status, 504)
  const { body } = await ask('/stored')
  assert.equal((await ask('/stored')).body, body)
  await ask('/page', {}, 'POST')
  assert.notEqual((await ask('/stored')).body, body)
})

test('a response that is refused for its own reason counts as that', ofCache, async (t) => {
  const { ask, server } = await serveCached(t, (req, res, n) => res.writeHead(200, { 'Cache-Control': 'private' }).end(String(n)))
  await refuseOften(ask)
  assert.deepEqual(server.cache.stats().refused, { PRIVATE: kRepeats })
})

test('Cache-Status says of each answer why it is not stored', ofCache, async (t) => {
  const { ask } = await serveCached(t, (req, res, n) => res.end(String(n)), { rules: 'rfc9111', status: 'debug' })
  await refuseOften(ask)
  assert.equal((await ask('/page')).headers['cache-status'], 'httpsys; fwd=uri-miss; detail=NO_FRESHNESS')
})
