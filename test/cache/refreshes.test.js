'use strict'

// Goal: a stale answer is refreshed by a request that is nobody's, so that what is stored for all never depends on the client whose request has met
// the stale answer; and a refresh that never ends keeps no other one from beginning. Method: handlers that record what they are asked.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const { once } = require('node:events')
const fs = require('node:fs')
const { dial, get } = require('../helpers/client')
const { temporaryFile } = require('../helpers/temporary-file')
const { silence, until } = require('../helpers/waiting')
const { kProtocols, ofCache, serveCached, serveStoredBefore } = require('./protocols-kit')

/** Older than max-age=5. */
const kStale = { 'Cache-Control': 'public, max-age=5, stale-while-revalidate=60', Age: '10' }
const kFresh = { 'Cache-Control': 'public, max-age=60, stale-while-revalidate=60' }

/** What a client may send of its own with a request that a stored answer may answer. */
const kOfClient = {
  Cookie: 'user=ada',
  'User-Agent': 'agent of ada',
  'X-Api-Key': 'key of ada',
  'X-Forwarded-For': '192.0.2.1',
  Referer: 'http://a.example/ada',
  Accept: 'text/ada',
  'Accept-Encoding': 'gzip',
  'If-None-Match': '"ada"',
  'If-Modified-Since': 'Sun, 06 Nov 1994 08:49:37 GMT',
  'If-Match': '"ada"',
  'If-Unmodified-Since': 'Sun, 06 Nov 1994 08:49:37 GMT',
  'If-Range': '"ada"',
  Range: 'bytes=0-1',
  'Cache-Control': 'max-stale=100',
  traceparent: '00-ada'
}

/** @param {string[]} raw @returns {string[]} lines in lower case, sorted, without Host */
const linesOf = (raw) => raw.flatMap((name, i) => i % 2 === 0 && name.toLowerCase() !== 'host' ? [`${name.toLowerCase()}: ${raw[i + 1]}`] : []).sort()

for (const [protocol, serve] of Object.entries(kProtocols)) {
  test(`${protocol}: a refresh has no field of the client but those of the key and of Vary`, ofCache, async (t) => {
    /** @type {any[]} */
    const seen = []
    const { ask } = await serve(t, { cache: true }, (req, res) => {
      seen.push({ method: req.method, url: req.url, host: req.headers.host ?? req.headers[':authority'], lines: linesOf(req.rawHeaders) })
      res.writeHead(200, { ...(seen.length === 1 ? kStale : kFresh), Vary: 'Accept-Language, X-Tenant', ETag: '"1"' })
      res.end(`<${seen.length} for ${req.headers.cookie}>`)
    })
    const selecting = { 'Accept-Language': 'de', 'X-Tenant': 't', 'X-Forwarded-Proto': 'https' }
    assert.equal((await ask('/a?b', selecting)).body, '<1 for undefined>')
    await ask('/a?b', { ...selecting, ...kOfClient })
    await until(() => seen.length === 2, 'the refresh')
    assert.deepEqual({ ...seen[1], lines: [] }, { ...seen[0], lines: [] })
    assert.deepEqual(seen[1].lines.filter((/** @type {string} */ line) => !line.startsWith('connection:')),
      ['accept-language: de', 'if-none-match: "1"', 'x-forwarded-proto: https', 'x-tenant: t'])
    await until(async () => (await ask('/a?b', selecting)).body === '<2 for undefined>', 'the refreshed answer')
    // The other client gets it, too.
    assert.equal((await ask('/a?b', { ...selecting, Cookie: 'user=bob' })).body, '<2 for undefined>')
    assert.equal(seen.length, 2)
  })
}

test('a refresh expects nothing, and has no fields of the connection, if the request had them', ofCache, async (t) => {
  let expected = 0
  /** @type {string[][]} */
  const seen = []
  const { ask, server } = await serveCached(t, (req, res, n) => {
    seen.push(linesOf(req.rawHeaders))
    res.writeHead(200, n === 1 ? kStale : kFresh).end(`<${n}>`)
  })
  server.on('checkContinue', (/** @type {any} */ req, /** @type {any} */ res) => {
    expected++
    server.emit('request', req, res)
  })
  await ask('/')
  assert.equal((await ask('/', { Expect: '100-continue', TE: 'trailers', Connection: 'TE, X-Hop', 'X-Hop': '1', 'Upgrade-Insecure-Requests': '1', 'Content-Length': '0' })).body, '<1>')
  await until(() => seen.length === 2, 'the refresh')
  assert.deepEqual([seen[1], expected], [['connection: close'], 0])
})

test('a HEAD that meets a stale answer has it refreshed by a GET', ofCache, async (t) => {
  /** @type {string[]} */
  const methods = []
  const { ask } = await serveCached(t, (req, res, n) => {
    methods.push(req.method)
    res.writeHead(200, n === 1 ? kStale : kFresh).end(`<${n}>`)
  })
  await ask('/')
  await ask('/', {}, 'HEAD')
  await until(async () => (await ask('/')).body === '<2>', 'the refreshed answer')
  assert.deepEqual(methods, ['GET', 'GET'])
})

test('requests that go past the cache refresh nothing', ofCache, async (t) => {
  /** @type {string[]} */
  const seen = []
  const { ask } = await serveCached(t, (req, res, n) => {
    seen.push(linesOf(req.rawHeaders).filter((line) => /^(authorization|x-original-url)/.test(line)).join())
    res.writeHead(200, n === 1 ? kStale : { 'Cache-Control': 'private' }).end(`<${n}>`)
  })
  await ask('/')
  assert.equal((await ask('/', { Authorization: 'Basic x' })).body, '<2>')
  assert.equal((await ask('/', { 'X-Original-URL': '/admin' })).body, '<3>')
  await silence(50)
  assert.deepEqual(seen, ['', 'authorization: Basic x', 'x-original-url: /admin'])
})

test('an answer that varies by what a refresh must not send is not refreshed, and stays stale', ofCache, async (t) => {
  const { ask, calls } = await serveCached(t, (req, res, n) => {
    res.writeHead(200, { ...kStale, Vary: 'If-None-Match' }).end(`<${n}>`)
  })
  for (let i = 0; i < 2; i++) assert.equal((await ask('/', { 'If-None-Match': '"ada"' })).body, '<1>')
  await silence(50)
  assert.equal(calls(), 1)
})

test('what a refreshed answer sets for one user reaches nobody', ofCache, async (t) => {
  const { ask, calls } = await serveCached(t, (req, res, n) => {
    res.writeHead(200, n === 1 ? kStale : { ...kFresh, 'Set-Cookie': `session=${n}` }).end(`<${n}>`)
  })
  await ask('/')
  assert.equal((await ask('/', { Cookie: 'session=ada' })).body, '<1>')
  await until(async () => {
    const { headers, body } = await ask('/', { Cookie: 'session=bob' })
    assert.notEqual(body, '<2>')
    return headers['set-cookie'] !== undefined
  }, 'the stale answer has left')
  assert.ok(calls() >= 3)
})

test('a refresh that gets a private file ends the stale answer', ofCache, async (t) => {
  const { file } = temporaryFile(Buffer.from('<private>'))
  const { ask } = await serveCached(t, (req, res, n) => {
    if (n === 1) return res.writeHead(200, kStale).end('<public>')
    res.writeHead(200, { 'Cache-Control': 'private', 'Content-Length': 9 })
    fs.createReadStream(file).pipe(res)
  })
  await ask('/')
  assert.equal((await ask('/')).body, '<public>')
  await until(async () => (await ask('/')).body === '<private>', 'the stale answer has left')
})

test('refreshes that never end are given up after refreshTimeout, so that others begin', ofCache, async (t) => {
  const kHanging = 16
  let hanging = 0
  let closed = 0
  const { ask } = await serveCached(t, (req, res) => {
    if (req.headers.connection === 'close') {
      if (req.url === '/good') return res.writeHead(200, kFresh).end('refreshed')
      hanging++
      once(res, 'close').then(() => closed++)
      return
    }
    res.writeHead(200, kStale).end('stale')
  }, { rules: 'rfc9111', refreshTimeout: 500 })
  for (const path of ['/good', ...Array.from({ length: kHanging }, (_, i) => `/${i}`)]) await ask(path)
  for (let i = 0; i < kHanging; i++) assert.equal((await ask(`/${i}`)).body, 'stale')
  await until(() => hanging === kHanging, 'as many refreshes as a server may have')
  assert.equal((await ask('/good')).body, 'stale')
  await until(async () => (await ask('/good')).body === 'refreshed', 'a refresh when the others were given up')
  await until(() => closed === kHanging, 'all of them were given up')
  // The stale answer of a refresh that was given up is refreshed again.
  assert.equal((await ask('/0')).body, 'stale')
  await until(() => hanging === kHanging + 1, 'another refresh')
})

test('a request that waits for the cache to ask in its place asks itself after refreshTimeout', ofCache, async (t) => {
  const { ask, calls, port } = await serveStoredBefore(t, 'HTTP/1.1', { cache: { refreshTimeout: 300 } }, (req, res, n) => {
    if (n > 2) res.writeHead(200, kFresh).end(`<${n}>`)
  }, { Host: 'a' })
  const first = await dial(t, port)
  first.write(get())
  await until(() => calls() === 1, 'the first one has reached JavaScript')
  const answer = ask('/', { Host: 'a' })
  await silence(50)
  first.destroy()
  assert.equal((await answer).body, '<3>')
  assert.equal(calls(), 3)
})

test('a failure does not replace a good answer that may still be given out, whatever lifetime it names', ofCache, async (t) => {
  for (const status of [500, 501, 503, 599]) {
    const { ask, server } = await serveCached(t, (req, res, n) => {
      // Middleware has set the lifetime before the application failed.
      const lifetime = { 'Cache-Control': `public, max-age=${n === 1 ? 5 : 60}, stale-while-revalidate=600` }
      if (n === 1) return res.writeHead(200, { ...lifetime, Age: '10' }).end('good')
      res.writeHead(status, lifetime).end('failed')
    })
    await ask('/')
    await until(async () => {
      assert.equal((await ask('/')).body, 'good')
      return server.cache.stats().refused.ERROR_STATUS >= 3
    }, 'three refreshes have failed')
    // A client that demands a new answer gets the failure, and nobody else.
    assert.equal((await ask('/', { 'Cache-Control': 'no-cache' })).status, status)
    assert.equal((await ask('/')).body, 'good')
  }
})
