'use strict'

// Goal: a stale entry costs as little as the application allows: a 304 makes it fresh, it answers while it is refreshed, and it stands in for
// an application that fails. Method: handlers that look at what they are asked, over every protocol.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const { setTimeout: sleep } = require('node:timers/promises')
const { until } = require('../helpers/waiting')
const { kProtocols, ofCache, serveCached } = require('./protocols-kit')

/** Old enough for max-age=5. */
const kOld = { Age: '10' }

test('the age of a 304 is that of what it confirms', ofCache, async (t) => {
  const { ask, calls } = await serveCached(t, (req, res, count) => {
    res.writeHead(count === 1 ? 200 : 304, { 'Cache-Control': 'max-age=5', ...kOld, ETag: '"a"' }).end(count === 1 ? 'body' : undefined)
  })
  assert.equal((await ask('/')).body, 'body')
  for (const count of [2, 3]) {
    const { body, headers } = await ask('/')
    assert.deepEqual([body, headers.age, calls()], ['body', kOld.Age, count])
  }
})

for (const [protocol, serve] of Object.entries(kProtocols)) {
  test(`${protocol}: JavaScript is asked about what is stored, and a 304 makes it fresh`, ofCache, async (t) => {
    /** @type {any[]} */
    const seen = []
    const { ask, server } = await serve(t, { cache: true }, (req, res) => {
      seen.push({ none: req.headers['if-none-match'], since: req.headers['if-modified-since'] })
      if (seen.length === 1) {
        res.writeHead(200, { 'Cache-Control': 'max-age=5', ...kOld, ETag: '"one"', 'X-Old': 'a', 'X-Kept': 'k', 'Last-Modified': 'Sun, 06 Nov 1994 08:49:37 GMT' })
        return res.end('body')
      }
      res.writeHead(304, { 'Cache-Control': 'max-age=60', ETag: '"one"', 'X-Old': 'b' })
      res.end()
    })
    assert.equal((await ask('/')).body, 'body')
    // The client has something else, which nobody asks about.
    const second = await ask('/', { 'If-None-Match': '"two"' })
    assert.deepEqual([second.status, second.body, second.headers['x-old'], second.headers['x-kept']], [200, 'body', 'b', 'k'])
    assert.equal(second.headers['content-length'], '4')
    assert.deepEqual(seen[1], { none: '"one"', since: 'Sun, 06 Nov 1994 08:49:37 GMT' })
    const third = await ask('/')
    assert.deepEqual([third.status, third.body, third.headers['x-old']], [200, 'body', 'b'])
    assert.equal(seen.length, 2)
    const { revalidated } = server.cache.stats()
    assert.equal(revalidated, 1)
  })

  test(`${protocol}: a client that has the same gets 304, although JavaScript has answered 304 to the cache`, ofCache, async (t) => {
    let calls = 0
    const { ask } = await serve(t, { cache: true }, (req, res) => {
      const isFirst = ++calls === 1
      res.writeHead(isFirst ? 200 : 304, { 'Cache-Control': 'max-age=5', ETag: '"one"', ...(isFirst ? kOld : {}) })
      res.end(isFirst ? 'body' : undefined)
    })
    await ask('/')
    const second = await ask('/', { 'If-None-Match': '"one"' })
    assert.deepEqual([second.status, second.body, second.headers.etag], [304, '', '"one"'])
    assert.equal((await ask('/')).body, 'body')
    assert.equal(calls, 2)
  })

  test(`${protocol}: a changed response takes the place of the stale one`, ofCache, async (t) => {
    let calls = 0
    const { ask } = await serve(t, { cache: true }, (req, res) => {
      calls++
      res.writeHead(200, { 'Cache-Control': `max-age=${calls === 1 ? 5 : 60}`, ETag: `"${calls}"`, ...(calls === 1 ? kOld : {}) })
      res.end(`body ${calls}`)
    })
    assert.deepEqual([(await ask('/')).body, (await ask('/')).body, (await ask('/')).body], ['body 1', 'body 2', 'body 2'])
    assert.equal(calls, 2)
  })

  test(`${protocol}: stale-while-revalidate answers at once, and refreshes once, without a client`, ofCache, async (t) => {
    /** @type {any[]} */
    const seen = []
    /** @type {() => void} */
    let finish = () => {}
    const { ask, server } = await serve(t, { cache: { rules: 'rfc9111', status: true } }, (req, res) => {
      seen.push({ url: req.url, none: req.headers['if-none-match'], range: req.headers.range, x: req.headers['x-field'], secure: Boolean(req.socket.encrypted), version: req.httpVersion })
      const n = seen.length
      const headers = { 'Cache-Control': 'max-age=5, stale-while-revalidate=60', ETag: `"${n}"`, Vary: 'X-Field', ...(n === 1 ? kOld : {}) }
      if (n === 1) return res.writeHead(200, headers).end('body 1')
      finish = () => {
        res.writeHead(200, headers)
        res.write('bo')
        res.end('dy 2')
      }
    })
    await ask('/a?b', { 'X-Field': '1' })
    for (let i = 0; i < 5; ++i) assert.equal((await ask('/a?b', { 'X-Field': '1', Range: 'bytes=0-3' })).body, 'body')
    await until(() => seen.length === 2, 'the refresh')
    assert.deepEqual(seen[1], { ...seen[0], none: '"1"', range: undefined })
    assert.equal((await ask('/a?b', { 'X-Field': '1' })).body, 'body 1')
    finish()
    await until(async () => (await ask('/a?b', { 'X-Field': '1' })).body === 'body 2', 'the new response')
    assert.equal(seen.length, 2)
    assert.equal(server.cache.stats().stale >= 6, true)
  })

  test(`${protocol}: stale-if-error answers for a handler that fails, or destroys the connection`, ofCache, async (t) => {
    let calls = 0
    const { ask } = await serve(t, { cache: true }, (req, res) => {
      calls++
      if (calls === 1) return res.writeHead(200, { 'Cache-Control': 'max-age=5, stale-if-error=60', ...kOld }).end('body')
      if (calls === 2) return res.writeHead(503, { 'Cache-Control': 'no-store' }).end('x'.repeat(1000))
      if (calls === 3) {
        res.writeHead(500)
        res.write('x'.repeat(100_000))
        return setTimeout(() => res.end('y'), 10)
      }
      if (calls === 4) return res.destroy()
      res.writeHead(404).end('not there')
    })
    assert.equal((await ask('/')).body, 'body')
    for (let i = 0; i < 2; ++i) {
      const { status, body, headers } = await ask('/')
      assert.deepEqual([status, body], [200, 'body'])
      assert.ok(Number(headers.age) >= 10)
    }
    assert.equal((await ask('/')).body, 'body')
    // What is no failure is told.
    assert.equal((await ask('/')).status, 404)
    assert.equal(calls, 5)
  })
}

test('many that wait for an application that fails get the stale entry, and ask no more', ofCache, async (t) => {
  const { ask, calls } = await serveCached(t, (req, res, n) => {
    if (n === 1) return res.writeHead(200, { 'Cache-Control': 'max-age=5, stale-if-error=60', ...kOld }).end('body')
    setTimeout(() => (n === 2 ? res.writeHead(503).end() : res.destroy()), 100)
  })
  await ask('/')
  for (let round = 0; round < 2; ++round) {
    const answers = await Promise.all(Array.from({ length: 30 }, () => ask('/')))
    assert.ok(answers.every(({ status, body }) => status === 200 && body === 'body'))
    assert.equal(calls(), 2 + round)
  }
})

test('what has become private leaves the cache, also while it may be stale', ofCache, async (t) => {
  const { ask, server } = await serveCached(t, (req, res, n) => {
    const control = n === 1 ? 'max-age=5, stale-while-revalidate=60' : 'private'
    res.writeHead(200, { 'Cache-Control': control, ...(n === 1 ? kOld : {}) }).end(`body ${n}`)
  })
  assert.equal((await ask('/')).body, 'body 1')
  assert.equal((await ask('/')).body, 'body 1')
  await until(() => server.cache.entries().length === 0, 'the refresh')
  assert.notEqual((await ask('/')).body, 'body 1')
})

test('a fresh entry stays when a client that wants no stored answer gets one that may not be stored', ofCache, async (t) => {
  const { ask, calls } = await serveCached(t, (req, res, n) => {
    res.writeHead(200, { 'Cache-Control': n === 1 ? 'max-age=60' : 'no-store' }).end(`body ${n}`)
  })
  assert.equal((await ask('/')).body, 'body 1')
  assert.equal((await ask('/', { 'Cache-Control': 'no-cache' })).body, 'body 2')
  assert.deepEqual([(await ask('/')).body, calls()], ['body 1', 2])
})

test('a stored response that must be confirmed is a 504 when JavaScript destroys the connection', ofCache, async (t) => {
  const { ask, calls } = await serveCached(t, (req, res, n) => {
    if (n > 1) return res.destroy()
    res.writeHead(200, { 'Cache-Control': 'max-age=5, must-revalidate', ETag: '"one"', ...kOld }).end('body')
  })
  await ask('/')
  const { status, body } = await ask('/')
  assert.deepEqual([status, body, calls()], [504, '', 2])
  // Without a stored response the client learns it from the connection, as of node:http.
  await assert.rejects(ask('/other'))
})

test('many at once ask about one stale entry once', ofCache, async (t) => {
  const { ask, calls } = await serveCached(t, (req, res, n) => {
    if (n === 1) return res.writeHead(200, { 'Cache-Control': 'max-age=5', ETag: '"one"', ...kOld }).end('body')
    setTimeout(() => res.writeHead(304, { 'Cache-Control': 'max-age=60', ETag: '"one"' }).end(), 50)
  })
  await ask('/')
  const answers = await Promise.all(Array.from({ length: 30 }, () => ask('/')))
  assert.ok(answers.every(({ status, body }) => status === 200 && body === 'body'))
  assert.equal(calls(), 2)
})

test('a 304 that forbids storing gives the answer, and nothing stays', ofCache, async (t) => {
  const { ask, calls, server } = await serveCached(t, (req, res, n) => {
    if (n === 1) return res.writeHead(200, { 'Cache-Control': 'max-age=5', ETag: '"one"', ...kOld }).end('body')
    res.writeHead(304, { 'Cache-Control': 'no-store', ETag: '"one"' }).end()
  })
  await ask('/')
  assert.deepEqual([(await ask('/')).body, server.cache.entries()], ['body', []])
  assert.equal(calls(), 2)
})

test('a 304 that Node writes as one text is not given to a client that has not asked for it', ofCache, async (t) => {
  const { ask, calls } = await serveCached(t, (req, res, n) => {
    // The short way is left when somebody replaces end().
    const { end } = res
    res.end = function (/** @type {any[]} */ ...args) { return end.apply(this, args) }
    res.cork()
    if (n === 1) res.writeHead(200, { 'Cache-Control': 'max-age=5', ETag: '"one"', ...kOld }).end('body')
    else res.writeHead(304, { 'Cache-Control': 'max-age=60', ETag: '"one"' }).end()
    res.uncork()
  })
  await ask('/')
  const second = await ask('/')
  assert.deepEqual([second.status, second.body, calls()], [200, 'body', 2])
})

test('the keep-alive connection of a client goes on behind answers of stale entries', ofCache, async (t) => {
  const { ask, calls } = await serveCached(t, (req, res, n) => {
    if (req.url === '/other') return res.end('other')
    if (n === 1) return res.writeHead(200, { 'Cache-Control': 'max-age=5, stale-if-error=60', ...kOld }).end('body')
    res.writeHead(500).end('x'.repeat(2_000_000))
  })
  await ask('/')
  for (let i = 0; i < 20; ++i) assert.equal((await ask('/')).body, 'body')
  assert.equal((await ask('/other')).body, 'other')
  assert.equal(calls(), 22)
})

test('Cache-Status says what the cache has done, and why', ofCache, async (t) => {
  const { ask } = await serveCached(t, (req, res) => {
    const headers = { '/kept': { 'Cache-Control': 'max-age=60' }, '/cookie': { 'Cache-Control': 'max-age=60', 'Set-Cookie': 'a=b' } }
    res.writeHead(200, /** @type {any} */ (headers)[req.url] ?? {})
    res.end('body')
  }, { rules: 'rfc9111', status: 'debug' })
  const status = async (/** @type {string} */ path, /** @type {any} */ fields, /** @type {string} */ method) => (await ask(path, fields, method)).headers['cache-status']
  assert.equal(await status('/kept', {}, 'GET'), 'httpsys; fwd=uri-miss; stored')
  assert.match(await status('/kept', {}, 'GET'), /^httpsys; hit; ttl=(60|59)$/)
  assert.equal(await status('/kept', { 'Cache-Control': 'no-cache' }, 'GET'), 'httpsys; fwd=request; stored')
  assert.equal(await status('/cookie', {}, 'GET'), 'httpsys; fwd=uri-miss; detail=SET_COOKIE')
  assert.equal(await status('/none', {}, 'GET'), 'httpsys; fwd=uri-miss; detail=NO_FRESHNESS')
  assert.equal(await status('/kept', {}, 'DELETE'), 'httpsys; fwd=method; detail=METHOD')
  assert.equal(await status('/kept', { Authorization: 'x' }, 'GET'), 'httpsys; fwd=bypass; detail=AUTHORIZATION')
})

test('Cache-Status is there when JavaScript destroys the connection and the cache answers', ofCache, async (t) => {
  const { ask } = await serveCached(t, (req, res, n) => {
    if (n > 2) return res.destroy()
    const control = req.url === '/stale' ? 'max-age=5, stale-if-error=60' : 'max-age=5, must-revalidate'
    res.writeHead(200, { 'Cache-Control': control, ETag: '"one"', ...kOld }).end('body')
  }, { rules: 'rfc9111', status: true })
  for (const path of ['/stale', '/confirmed']) await ask(path)
  const stale = await ask('/stale')
  assert.deepEqual([stale.status, stale.headers['cache-status']], [200, 'httpsys; hit; detail=STALE_IF_ERROR'])
  const unconfirmed = await ask('/confirmed')
  assert.deepEqual([unconfirmed.status, unconfirmed.headers['cache-status']], [504, 'httpsys; fwd=stale'])
  const nothing = await ask('/nothing', { 'Cache-Control': 'only-if-cached' })
  assert.deepEqual([nothing.status, nothing.headers['cache-status']], [504, 'httpsys'])
})

test('without stale-while-revalidate nobody gets a stale answer', ofCache, async (t) => {
  const { ask, calls } = await serveCached(t, (req, res, n) => {
    res.writeHead(200, { 'Cache-Control': 'max-age=1', ETag: `"${n}"` }).end(`body ${n}`)
  })
  assert.equal((await ask('/')).body, 'body 1')
  await sleep(1100)
  assert.equal((await ask('/')).body, 'body 2')
  assert.equal(calls(), 2)
})
