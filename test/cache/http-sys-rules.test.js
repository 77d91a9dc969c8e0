'use strict'

// Goal: with the rules of HTTP.SYS a server stores, and answers with, what ASP.NET's ResponseCachingTests and the page "Kernel Mode
// Cache" say of HTTP.SYS itself. Runs on the engine and on the double of httpapi.dll; where the two differ on purpose, the test says so.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const { setTimeout: sleep } = require('node:timers/promises')
const { backend, http } = require('../helpers/backend')
const { capabilities, needs } = require('../helpers/capabilities')
const { dial, request } = require('../helpers/client')
const { until } = require('../helpers/waiting')
const { counting, kHttpSys } = require('./kit')

const { flushCache, setCachePolicy } = /** @type {any} */ (http)

/** On stock Node nobody keeps anything. @param {...any} names */
const where = (...names) => backend === 'node' ? { skip: 'stock Node keeps no responses' } : needs('caches', ...names)
const isOurs = capabilities?.cacheRules === true

const kYear = 365 * 24 * 3600
const kModified = 'Tue, 01 Feb 2022 10:00:00 GMT'
const kBefore = 'Mon, 31 Jan 2022 10:00:00 GMT'

/** @param {import('./kit').Handler} handler @returns {import('./kit').Handler} whose responses have ten seconds */
const timed = (handler) => (req, res, count) => {
  res.cacheDuration = 10
  handler(req, res, count)
}

/** Asks twice, and says whether the second answer came from the cache. @param {any} t @param {import('./kit').Handler} handler @param {import('./kit').Asked} [asked] */
async function isKept (t, handler, asked) {
  const { ask, counted } = await counting(t, kHttpSys, handler)
  const [first, second] = [await ask(asked), await ask(asked)]
  if (counted.count === 1) assert.deepEqual([second.status, second.body], [first.status, first.body])
  return counted.count === 1
}

test('a response with a time is kept, and one without a Content-Type is not', where(), async (t) => {
  assert.equal(await isKept(t, timed((req, res) => { res.end('kept') })), true)
  assert.equal(await isKept(t, timed((req, res) => {
    res.removeHeader('Content-Type')
    res.end('not kept')
  })), false)
})

test('without a time nothing is kept', where(), async (t) => {
  assert.equal(await isKept(t, (req, res) => { res.end('no word') }), false)
})

for (const seconds of [0, 0.9, -10, '10', NaN, 2 ** 32, null]) {
  test(`the time ${JSON.stringify(seconds)} is none`, where(), async (t) => {
    assert.equal(await isKept(t, (req, res) => {
      res.cacheDuration = seconds
      res.end('not kept')
    }), false)
  })
}

for (const seconds of [1, kYear, 2 ** 31 - 1, 2 ** 32 - 1]) {
  test(`the time ${seconds} is one`, where(), async (t) => {
    assert.equal(await isKept(t, (req, res) => {
      res.cacheDuration = seconds
      res.end('kept')
    }), true)
  })
}

test('a kept response is forgotten when its time is over', where(), async (t) => {
  const { ask } = await counting(t, kHttpSys, (req, res, count) => {
    res.cacheDuration = 1
    res.end(String(count))
  })
  assert.equal((await ask()).body, '1')
  assert.equal((await ask()).body, '1')
  await until(async () => (await ask()).body === '2', 'the end of its time')
})

test('userInvalidates is kept until its URL is flushed, and below a path with recursive', where(), async (t) => {
  const { server, port, ask } = await counting(t, kHttpSys, (req, res, count) => {
    setCachePolicy(res, { policy: 'userInvalidates' })
    res.end(`${req.url} ${count}`)
  })
  const bodies = async (/** @type {string[]} */ ...paths) => {
    const all = []
    for (const path of paths) all.push((await ask({ path })).body)
    return all
  }
  assert.deepEqual(await bodies('/a/1', '/a/2', '/b', '/a/1'), ['/a/1 1', '/a/2 2', '/b 3', '/a/1 1'])
  flushCache(server, `http://127.0.0.1:${port}/a/`)
  assert.deepEqual(await bodies('/a/1', '/a/2', '/b'), ['/a/1 1', '/a/2 2', '/b 3'])
  flushCache(server, `http://127.0.0.1:${port}/a/1`)
  assert.deepEqual(await bodies('/a/1', '/a/2', '/b'), ['/a/1 4', '/a/2 2', '/b 3'])
  flushCache(server, `http://127.0.0.1:${port}/a/`, { recursive: true })
  assert.deepEqual(await bodies('/a/1', '/a/2', '/b'), ['/a/1 5', '/a/2 6', '/b 3'])
})

test('setCachePolicy() counts more than the property, and none forbids', where(), async (t) => {
  assert.equal(await isKept(t, timed((req, res) => {
    setCachePolicy(res, { policy: 'none' })
    res.end('not kept')
  })), false)
  assert.equal(await isKept(t, (req, res) => {
    setCachePolicy(res, { policy: 'timeToLive', seconds: 10 })
    res.cacheDuration = 0
    res.end('kept')
  }), true)
})

test('a response in one piece is kept, with and without its length', where(), async (t) => {
  assert.equal(await isKept(t, timed((req, res) => { res.end('whole') })), true)
  assert.equal(await isKept(t, timed((req, res) => {
    res.setHeader('Content-Length', 5)
    res.end('whole')
  })), true)
})

test('a response whose first write has its whole length is kept', where('cacheRules'), async (t) => {
  assert.equal(await isKept(t, timed((req, res) => {
    res.setHeader('Content-Length', 5)
    res.write('whole')
    setImmediate(() => res.end())
  })), true)
})

test('a response that leaves in pieces, or before its body, is not kept', where(), async (t) => {
  assert.equal(await isKept(t, timed((req, res) => {
    res.flushHeaders()
    setImmediate(() => res.end('late'))
  })), false)
  assert.equal(await isKept(t, timed((req, res) => {
    res.write('a piece, ')
    setImmediate(() => res.end('another one'))
  })), false)
})

test('each final status is kept but 206, and on the engine 304', where(), async (t) => {
  const { ask, counted } = await counting(t, kHttpSys, timed((req, res) => {
    res.statusCode = Number(req.url.slice(1))
    if (res.statusCode === 206) res.setHeader('Content-Range', 'bytes 0-3/10')
    res.end()
  }))
  const lost = []
  for (let status = 200; status < 600; status++) {
    const before = counted.count
    assert.equal((await ask({ path: `/${status}` })).status, status)
    assert.equal((await ask({ path: `/${status}` })).status, status)
    if (counted.count - before === 2) lost.push(status)
  }
  // HTTP.SYS keeps a 304 that has a time: it would answer everybody, also those who have nothing.
  assert.deepEqual(lost, isOurs ? [206, 304] : [206])
})

test('other methods go past the cache, and leave what is in it', where(), async (t) => {
  const methods = ['HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH', 'PROPFIND', 'PROPPATCH', 'MKCOL', 'COPY', 'MOVE', 'LOCK', 'UNLOCK', 'SEARCH', 'MERGE', 'REPORT']
  const { ask, counted } = await counting(t, kHttpSys, timed((req, res, count) => { res.end(String(count)) }))
  assert.equal((await ask()).body, '1')
  for (const [at, method] of methods.entries()) {
    await ask({ method })
    assert.equal(counted.count, at + 2, method)
    assert.equal((await ask()).body, '1', `GET behind ${method}`)
  }
})

test('no other method fills the cache', where(), async (t) => {
  const { ask } = await counting(t, kHttpSys, timed((req, res, count) => { res.end(String(count)) }))
  await ask({ method: 'HEAD' })
  await ask({ method: 'POST' })
  assert.equal((await ask()).body, '3')
})

test('Vary makes variants; HTTP.SYS ignores it, and gives all the first one', where(), async (t) => {
  const { ask } = await counting(t, kHttpSys, timed((req, res) => {
    res.setHeader('Vary', 'Accept-Language')
    res.end(String(req.headers['accept-language']))
  }))
  const inLanguage = async (/** @type {string} */ language) => (await ask({ headers: { 'Accept-Language': language } })).body
  assert.equal(await inLanguage('de'), 'de')
  assert.equal(await inLanguage('en'), isOurs ? 'en' : 'de')
  assert.equal(await inLanguage('de'), 'de')
})

test('a response that sets a cookie is never kept; HTTP.SYS keeps it', where(), async (t) => {
  const handler = timed((req, res) => {
    res.setHeader('Set-Cookie', 'user=1')
    res.end('a cookie')
  })
  assert.equal(await isKept(t, handler), !isOurs)
})

test('a request with credentials neither fills the cache nor is answered by it', where(), async (t) => {
  const { ask } = await counting(t, kHttpSys, timed((req, res, count) => { res.end(String(count)) }))
  const headers = { Authorization: 'Basic YTpi' }
  assert.deepEqual([(await ask({ headers })).body, (await ask({ headers })).body], ['1', '2'])
  assert.deepEqual([(await ask()).body, (await ask()).body], ['3', '3'])
  assert.equal((await ask({ headers })).body, '4')
})

for (const headers of [
  { 'Cache-Control': 'no-cache' }, { 'Cache-Control': 'max-age=0' }, { 'Cache-Control': 'min-fresh=100000' }, { 'Cache-Control': 'max-stale' }, { Pragma: 'no-cache' }
]) {
  test(`a client cannot demand a new response by ${Object.entries(headers)[0].join(': ')}`, where(), async (t) => {
    const { ask } = await counting(t, kHttpSys, timed((req, res, count) => { res.end(String(count)) }))
    assert.deepEqual([(await ask()).body, (await ask({ headers })).body], ['1', '1'])
  })
}

test('an entry answers a range with a part, and several with several', where(), async (t) => {
  const { ask, counted } = await counting(t, kHttpSys, timed((req, res) => { res.end('0123456789'.repeat(200)) }))
  await ask()
  const one = await ask({ headers: { Range: 'bytes=2-4' } })
  assert.deepEqual([one.status, one.headers['content-range'], one.body], [206, 'bytes 2-4/2000', '234'])
  const last = await ask({ headers: { Range: 'bytes=-3' } })
  assert.deepEqual([last.status, last.headers['content-range'], last.body], [206, 'bytes 1997-1999/2000', '789'])
  const several = await ask({ headers: { Range: 'bytes=0-1,1504-1505' } })
  assert.equal(several.status, 206)
  assert.match(several.headers['content-type'], /^multipart\/byteranges; *boundary=/i)
  assert.match(several.body, /bytes 0-1\/2000\r\n(?:[^]*\r\n)?\r\n01\r\n[^]*bytes 1504-1505\/2000\r\n(?:[^]*\r\n)?\r\n45\r\n/)
  assert.equal(counted.count, 1)
})

test('the part that answers a range is not kept, and neither is what answers a Range or If-Range', where(), async (t) => {
  const { ask } = await counting(t, kHttpSys, timed((req, res, count) => {
    if (req.headers.range === 'bytes=0-0') res.writeHead(206, { 'Content-Range': 'bytes 0-0/10' })
    res.end(String(count))
  }))
  await ask({ headers: { Range: 'bytes=0-0' } })
  await ask({ headers: { Range: 'bytes=0-' } })
  await ask({ headers: { 'If-Range': '"a"' } })
  assert.deepEqual([(await ask()).body, (await ask()).body], ['4', '4'])
})

test('Age is not added, and the application\'s own stays', where(), async (t) => {
  const { ask } = await counting(t, kHttpSys, timed((req, res) => {
    if (req.url === '/own') res.setHeader('Age', '72')
    res.end('old')
  }))
  for (const [path, age] of [['/', undefined], ['/own', '72']]) {
    assert.equal((await ask({ path })).headers.age, age)
    await sleep(1)
    assert.equal((await ask({ path })).headers.age, age)
  }
})

test('If-Modified-Since is answered by an entry', where(), async (t) => {
  const { ask, counted } = await counting(t, kHttpSys, timed((req, res) => {
    res.setHeader('Last-Modified', kModified)
    res.end('content')
  }))
  await ask()
  const known = await ask({ headers: { 'If-Modified-Since': kModified } })
  assert.deepEqual([known.status, known.body], [304, ''])
  const old = await ask({ headers: { 'If-Modified-Since': kBefore } })
  assert.deepEqual([old.status, old.body], [200, 'content'])
  assert.equal(counted.count, 1)
})

test('a request with a body, and WebDAV\'s Translate, go past the cache', where(), async (t) => {
  const { ask } = await counting(t, kHttpSys, timed((req, res, count) => { req.resume().on('end', () => res.end(String(count))) }))
  await ask({ body: 'a body', headers: { 'Content-Length': 6 } })
  await ask({ headers: { Translate: 'f' } })
  assert.deepEqual([(await ask()).body, (await ask()).body], ['3', '3'])
  assert.equal((await ask({ body: 'a body', headers: { 'Content-Length': 6 } })).body, '4')
})

test('an expectation other than 100-continue does not fill the cache', where(), async (t) => {
  const { server, port, ask, counted } = await counting(t, kHttpSys, timed((req, res, count) => { res.end(String(count)) }))
  server.on('checkExpectation', (req, res) => server.emit('request', req, res))
  const wire = await dial(t, port)
  wire.write(`GET / HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nExpect: something\r\nConnection: close\r\n\r\n`)
  await wire.untilClosed()
  const before = counted.count
  await ask()
  assert.equal(counted.count, before + 1)
})

test('a response of more than 256 KiB is not kept', where(), async (t) => {
  // To HTTP.SYS a body above 64 KiB goes in several calls, so that it is not kept anyway.
  assert.equal(await isKept(t, timed((req, res) => { res.end(Buffer.alloc((isOurs ? 250 : 60) * 1024, 'a')) })), true)
  assert.equal(await isKept(t, timed((req, res) => { res.end(Buffer.alloc(256 * 1024, 'a')) })), false)
})

test('a response with a Last-Modified that is no date is not kept', where(), async (t) => {
  assert.equal(await isKept(t, timed((req, res) => {
    res.setHeader('Last-Modified', 'long ago')
    res.end('not kept')
  })), false)
})

// Windows adds a Date to what has none.
test('a response without a Date is not kept', where('cacheRules'), async (t) => {
  assert.equal(await isKept(t, timed((req, res) => {
    res.sendDate = false
    res.end('not kept')
  })), false)
})

// -- What ASP.NET reads from the header; the kernel of Windows does not.

/** @param {string} name @param {boolean} expected @param {Record<string, string>} headers */
function headerRule (name, expected, headers) {
  test(name, where('cacheRules'), async (t) => {
    assert.equal(await isKept(t, (req, res) => {
      for (const [field, value] of Object.entries(headers)) res.setHeader(field, value)
      res.end('by its header')
    }), expected)
  })
}

const later = () => new Date(Date.now() + 60_000).toUTCString()

headerRule('public with max-age is kept', true, { 'Cache-Control': 'public, max-age=10' })
headerRule('public with s-maxage is kept', true, { 'Cache-Control': 'public, s-maxage=10' })
headerRule('public with a future Expires is kept', true, { 'Cache-Control': 'public', Expires: later() })
headerRule('s-maxage counts before max-age', true, { 'Cache-Control': 'public, max-age=0, s-maxage=10' })
headerRule('s-maxage=0 counts before max-age', false, { 'Cache-Control': 'public, max-age=10, s-maxage=0' })
headerRule('max-age counts before Expires', false, { 'Cache-Control': 'public, max-age=0', Expires: later() })
headerRule('max-age without public is not kept', false, { 'Cache-Control': 'max-age=10' })
headerRule('public alone is not kept', false, { 'Cache-Control': 'public' })
headerRule('private is not kept', false, { 'Cache-Control': 'private, max-age=10' })
headerRule('no-store is not kept', false, { 'Cache-Control': 'public, no-store, max-age=10' })
headerRule('no-cache is not kept', false, { 'Cache-Control': 'public, no-cache, max-age=10' })
headerRule('Expires without public is not kept', false, { Expires: later() })
headerRule('Expires "0" is not kept', false, { 'Cache-Control': 'public', Expires: '0' })
headerRule('Expires "-1" is not kept', false, { 'Cache-Control': 'public', Expires: '-1' })
headerRule('a header rule with Set-Cookie is not kept', false, { 'Cache-Control': 'public, max-age=10', 'Set-Cookie': 'a=1' })
headerRule('a header rule with Vary is not kept', false, { 'Cache-Control': 'public, max-age=10', Vary: 'Accept' })
headerRule('a header rule with Pragma is not kept', false, { 'Cache-Control': 'public, max-age=10', Pragma: 'no-cache' })

test('a 304 with a header rule is never kept: it would answer everybody', where('cacheRules'), async (t) => {
  assert.equal(await isKept(t, (req, res) => {
    res.writeHead(304, { 'Cache-Control': 'public, max-age=10' })
    res.end()
  }), false)
})

test('what a kept response is asked for stays on its connection', where(), async (t) => {
  const { port } = await counting(t, kHttpSys, timed((req, res, count) => { res.end(`body ${count}`) }))
  await request(port)
  const wire = await dial(t, port)
  const get = `GET / HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`
  wire.write(get)
  await wire.until('body 1')
  wire.write(get)
  await wire.until('body 1', 2)
})
