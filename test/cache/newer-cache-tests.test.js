'use strict'

// Goal: the cache passes what the newest tests of http-tests/cache-tests ask for, which its npm package does not have: 40 tests of our own from
// RFC 9111, RFC 9213 (CDN-Cache-Control), RFC 5861 (stale-while-revalidate) and RFC 8297 (interim responses). `id` is that of the suite.

const { describe, test } = require('node:test')
const assert = require('node:assert/strict')
const { setTimeout: sleep } = require('node:timers/promises')
const { until } = require('../helpers/waiting')
const { needsCache, serveCached } = require('./origin-kit')

/** @typedef {Record<string, string>} Fields */
/** @typedef {{ ask: (headers?: Fields) => Promise<import('./origin-kit').Answer>, calls: () => number }} Resource one URL of a server */

/** A lifetime of one second is over, whatever part of a second Date left out. */
const kStaleMs = 2100
const kDay = 86_400

/** @param {number} seconds from now */
const date = (seconds) => new Date(Date.now() + seconds * 1000).toUTCString()

/**
 * @param {import('node:test').TestContext} t
 * @param {((call: number, res: import('node:http').ServerResponse) => Fields) | Fields} fields of the answer to each call of the handler
 * @returns {Promise<Resource>}
 */
async function resourceOf (t, fields) {
  let calls = 0
  const { ask } = await serveCached(t, (_req, res) => {
    calls++
    for (const [name, value] of Object.entries(typeof fields === 'function' ? fields(calls, res) : fields)) res.setHeader(name, value)
    res.setHeader('X-Call', String(calls))
    res.end(`answer ${calls}`)
  })
  return { ask: (headers) => ask({ path: '/', headers }), calls: () => calls }
}

/**
 * Asks twice.
 *
 * @param {import('node:test').TestContext} t
 * @param {Parameters<typeof resourceOf>[1]} fields
 * @param {number} [pauseMs]
 */
async function askTwice (t, fields, pauseMs = 0) {
  const resource = await resourceOf(t, fields)
  const first = await resource.ask()
  assert.equal(first.body, 'answer 1')
  if (pauseMs > 0) await sleep(pauseMs)
  const second = await resource.ask()
  return { first, second, isReused: second.body === 'answer 1', calls: resource.calls() }
}

/**
 * @typedef {object} Row what becomes of a second request
 * @property {string} id
 * @property {string} name
 * @property {Fields | (() => Fields)} fields
 * @property {boolean} isReused
 * @property {number} [pauseMs]
 * @property {Fields} [answered] fields of the second answer
 * @property {RegExp} [age] of the second answer
 */

const kNever = 'Thu, 01 Jan 1970 00:00:00 GMT'

/** RFC 9111, RFC 5861. @type {Row[]} */
const kGeneral = [
  { id: 'freshness-max-age-stale', name: 'a response is not reused once its max-age is over', fields: { 'Cache-Control': 'max-age=1' }, pauseMs: kStaleMs, isReused: false },
  { id: 'age-parse-large-minus-one', name: 'an Age of 2^31 - 1 is older than any lifetime', fields: { 'Cache-Control': 'max-age=3600', Age: '2147483647' }, isReused: false },
  { id: 'age-parse-large', name: 'an Age of 2^31 is older than any lifetime', fields: { 'Cache-Control': 'max-age=3600', Age: '2147483648' }, isReused: false },
  { id: 'age-parse-larger', name: 'an Age of 2^31 + 1 is older than any lifetime', fields: { 'Cache-Control': 'max-age=3600', Age: '2147483649' }, isReused: false },
  { id: 'status-200-must-understand', name: 'must-understand overrides no-store for a status whose meaning is known', fields: { 'Cache-Control': 'max-age=3600, no-store, must-understand' }, isReused: true },
  { id: 'stale-while-revalidate', name: 'a stale response is reused within its window', fields: { 'Cache-Control': 'max-age=1, stale-while-revalidate=3600', ETag: '"a"' }, pauseMs: kStaleMs, isReused: true, age: /^[23]$/ },
]

/** RFC 9213. @type {Row[]} */
const kTargeted = [
  { id: 'cdn-max-age', name: 'max-age of CDN-Cache-Control is a lifetime', fields: { 'CDN-Cache-Control': 'max-age=3600' }, isReused: true },
  { id: 'cdn-max-age-max', name: 'a max-age of 2^31 is a long one', fields: { 'CDN-Cache-Control': 'max-age=2147483648' }, isReused: true },
  { id: 'cdn-max-age-max-plus', name: 'a max-age above 2^31 is a long one', fields: { 'CDN-Cache-Control': 'max-age=99999999999' }, isReused: true },
  { id: 'cdn-max-age-age', name: 'a response whose Age is above the lifetime is not reused', fields: { 'CDN-Cache-Control': 'max-age=3600', Age: '12000' }, isReused: false },
  { id: 'cdn-max-age-0', name: 'a max-age of 0 is no lifetime', fields: { 'CDN-Cache-Control': 'max-age=0' }, isReused: false },
  { id: 'cdn-max-age-extension', name: 'a member that nobody knows changes nothing', fields: { 'CDN-Cache-Control': 'unknown, max-age=3600' }, isReused: true },
  { id: 'cdn-max-age-expires', name: 'a past Expires is ignored beside it', fields: { 'CDN-Cache-Control': 'max-age=3600', Expires: kNever }, isReused: true },
  { id: 'cdn-max-age-cc-max-age-invalid-expires', name: 'an Expires that is no date is ignored beside it', fields: { 'CDN-Cache-Control': 'max-age=3600', Expires: '0' }, isReused: true },
  { id: 'cdn-max-age-0-expires', name: 'a future Expires is ignored beside a max-age of 0', fields: () => ({ 'CDN-Cache-Control': 'max-age=0', Expires: date(kDay) }), isReused: false },
  { id: 'cdn-max-age-short-cc-max-age', name: 'its longer lifetime wins', fields: { 'CDN-Cache-Control': 'max-age=3600', 'Cache-Control': 'max-age=1' }, pauseMs: kStaleMs, isReused: true },
  { id: 'cdn-max-age-long-cc-max-age', name: 'its shorter lifetime wins', fields: { 'CDN-Cache-Control': 'max-age=1', 'Cache-Control': 'max-age=3600' }, pauseMs: kStaleMs, isReused: false },
  { id: 'cdn-private', name: 'its private wins over lifetimes elsewhere', fields: () => ({ 'CDN-Cache-Control': 'private', 'Cache-Control': 'max-age=3600', Expires: date(kDay) }), isReused: false },
  { id: 'cdn-no-cache', name: 'its no-cache wins over lifetimes elsewhere', fields: () => ({ 'CDN-Cache-Control': 'no-cache', 'Cache-Control': 'max-age=3600', Expires: date(kDay) }), isReused: false },
  { id: 'cdn-no-store-cc-fresh', name: 'its no-store wins over lifetimes elsewhere', fields: () => ({ 'CDN-Cache-Control': 'no-store', 'Cache-Control': 'max-age=3600', Expires: date(kDay) }), isReused: false },
  { id: 'cdn-fresh-cc-nostore', name: 'its lifetime wins over no-store elsewhere', fields: { 'CDN-Cache-Control': 'max-age=3600', 'Cache-Control': 'no-store' }, isReused: true },
  { id: 'cdn-cc-invalid-sh-type-unknown', name: 'one that is no structured field is ignored', fields: { 'CDN-Cache-Control': 'max-age=3600, &&&&&', 'Cache-Control': 'no-store' }, isReused: false },
  { id: 'cdn-cc-invalid-sh-type-wrong', name: 'one whose max-age is a string is no lifetime', fields: { 'CDN-Cache-Control': 'max-age="3600"', 'Cache-Control': 'no-store' }, isReused: false },
  { id: 'cdn-max-age-space-before-equals', name: 'one with a space before the equals sign is ignored', fields: { 'CDN-Cache-Control': 'max-age =3600', 'Cache-Control': 'max-age=1' }, pauseMs: kStaleMs, isReused: false },
  { id: 'cdn-max-age-space-after-equals', name: 'one with a space behind the equals sign is ignored', fields: { 'CDN-Cache-Control': 'max-age= 3600', 'Cache-Control': 'max-age=1' }, pauseMs: kStaleMs, isReused: false },
  { id: 'cdn-max-age-case-insensitive', name: 'keys of structured fields are lower case: one with capitals is ignored', fields: { 'CDN-Cache-Control': 'MaX-aGe=3600' }, isReused: false },
  { id: 'cdn-remove-header', name: 'the field goes on to the client', fields: { 'CDN-Cache-Control': 'max-age=3600' }, isReused: true, answered: { 'cdn-cache-control': 'max-age=3600' } },
  { id: 'cdn-remove-age-exceed', name: 'Age is sent though it is above the lifetime that clients see', fields: { 'CDN-Cache-Control': 'max-age=3600', 'Cache-Control': 'max-age=1' }, pauseMs: kStaleMs, isReused: true, age: /^[23]$/ },
]

describe('RFC 9111 and 5861', { concurrency: 8, ...needsCache(), timeout: 60_000 }, () => {
  for (const { id, name, fields, pauseMs, isReused, age = /.*/ } of kGeneral) {
    test(`${name} (${id})`, async (t) => {
      const asked = await askTwice(t, typeof fields === 'function' ? fields() : fields, pauseMs)
      assert.equal(asked.isReused, isReused)
      assert.match(asked.second.headers.age ?? '', age)
    })
  }

  test('a response with no-store replaces nothing that is stored (cc-resp-no-store-old-new)', async (t) => {
    const resource = await resourceOf(t, (call) => ({ 'Cache-Control': call === 1 ? 'max-age=3600' : 'no-store' }))
    assert.equal((await resource.ask()).body, 'answer 1')
    assert.equal((await resource.ask({ 'Cache-Control': 'no-cache' })).body, 'answer 2')
    // What was stored may be used, or the handler is asked again; the second answer was not stored.
    assert.match((await resource.ask()).body, /^answer [13]$/)
  })

  test('a response with no-store and max-age=0 is not stored either (cc-resp-no-store-old-max-age)', async (t) => {
    const resource = await resourceOf(t, (call) => ({ 'Cache-Control': call === 1 ? 'max-age=3600' : 'no-store, max-age=0' }))
    assert.equal((await resource.ask()).body, 'answer 1')
    assert.equal((await resource.ask()).body, 'answer 1')
    assert.equal((await resource.ask({ 'Cache-Control': 'no-cache' })).body, 'answer 2')
    assert.match((await resource.ask()).body, /^answer [13]$/)
  })

  test('a stale response is replaced in the background while it is reused', async (t) => {
    const resource = await resourceOf(t, { 'Cache-Control': 'max-age=1, stale-while-revalidate=3600' })
    await resource.ask()
    await sleep(kStaleMs)
    assert.equal((await resource.ask()).body, 'answer 1')
    await until(async () => (await resource.ask()).body === 'answer 2', 'the new response is stored', 10_000)
    assert.equal(resource.calls(), 2)
  })

  test('a stale response is not reused behind its window (stale-while-revalidate-window)', async (t) => {
    const { isReused } = await askTwice(t, { 'Cache-Control': 'max-age=1, stale-while-revalidate=1', ETag: '"a"' }, kStaleMs + 1000)
    assert.equal(isReused, false)
  })

  test('time in the handler is no age (other-age-delay)', async (t) => {
    const { ask } = await serveCached(t, async (_req, res) => {
      await sleep(1200)
      res.setHeader('Cache-Control', 'max-age=3600')
      res.end('late')
    })
    await ask({ path: '/' })
    assert.match((await ask({ path: '/' })).headers.age, /^[01]$/)
  })

  test('Date and Expires stay what they were (other-date-update-expires, other-date-update-expires-update)', async (t) => {
    const { first, second, isReused } = await askTwice(t, () => ({ Date: date(0), Expires: date(30 * kDay) }), kStaleMs)
    assert.equal(isReused, true)
    assert.equal(second.headers.date, first.headers.date)
    assert.equal(second.headers.expires, first.headers.expires)
  })
})

describe('CDN-Cache-Control, RFC 9213', { concurrency: 8, ...needsCache(), timeout: 60_000 }, () => {
  for (const { id, name, fields, pauseMs, isReused, answered = {}, age = /.*/ } of kTargeted) {
    test(`${name} (${id})`, async (t) => {
      const { second, ...asked } = await askTwice(t, typeof fields === 'function' ? fields() : fields, pauseMs)
      assert.equal(asked.isReused, isReused)
      for (const [field, value] of Object.entries(answered)) assert.equal(second.headers[field], value)
      assert.match(second.headers.age ?? '', age)
    })
  }

  test('Date and Expires stay what they were beyond the lifetime that clients see (cdn-date-update-exceed, cdn-expires-update-exceed)', async (t) => {
    const { first, second, isReused } = await askTwice(t,
      () => ({ Date: date(0), 'Cache-Control': 'max-age=1', Expires: date(1), 'CDN-Cache-Control': 'max-age=3600' }), kStaleMs)
    assert.equal(isReused, true)
    assert.equal(second.headers.date, first.headers.date)
    assert.equal(second.headers.expires, first.headers.expires)
  })
})

describe('interim responses', { concurrency: 8, ...needsCache(), timeout: 60_000 }, () => {
  const kLink = '</style.css>; rel=preload; as=style'
  /** @param {import('node:http').ServerResponse} res */
  const hint = (res) => { res.writeEarlyHints({ link: kLink, 'x-hint': 'yes' }) }

  test('102 passes, and the final response is stored (interim-102)', async (t) => {
    const { first, second, isReused } = await askTwice(t, (_call, res) => {
      res.writeProcessing()
      return { 'Cache-Control': 'max-age=3600' }
    })
    assert.deepEqual(first.interim.map(({ status }) => status), [102])
    assert.equal(isReused, true)
    assert.deepEqual(second.interim, [])
  })

  test('103 passes with its fields, and the final response is stored (interim-103)', async (t) => {
    const { first, isReused } = await askTwice(t, (_call, res) => {
      hint(res)
      return { 'Cache-Control': 'max-age=3600' }
    })
    assert.deepEqual(first.interim.map(({ status, headers }) => [status, headers.link, headers['x-hint']]), [[103, kLink, 'yes']])
    assert.equal(isReused, true)
  })

  test('neither an interim response nor its fields come from the cache (interim-not-cached, interim-no-header-reuse)', async (t) => {
    const { first, second, isReused } = await askTwice(t, (_call, res) => {
      hint(res)
      return { 'Cache-Control': 'max-age=3600' }
    })
    assert.equal(isReused, true)
    assert.deepEqual(second.interim, [])
    for (const { headers } of [first, second]) assert.deepEqual([headers.link, headers['x-hint']], [undefined, undefined])
  })
})
