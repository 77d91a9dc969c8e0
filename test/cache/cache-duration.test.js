'use strict'

// Goal: res.cacheDuration and HTTPSYS_CACHE_DURATION mean what they mean to httpsys, whichever way the head of the response leaves.

const { afterEach, test } = require('node:test')
const assert = require('node:assert/strict')
const fs = require('node:fs')
const { backend, http } = require('../helpers/backend')
const { needs } = require('../helpers/capabilities')
const { dial } = require('../helpers/client')
const { temporaryFile } = require('../helpers/temporary-file')
const { clients, counting, kHttpSys } = require('./kit')

const { sendFile, setCachePolicy } = /** @type {any} */ (http)
const options = backend === 'node' ? { skip: 'stock Node keeps no responses' } : needs('cacheRules')
const { file } = temporaryFile(Buffer.from('the file'))

afterEach(() => { delete process.env.HTTPSYS_CACHE_DURATION })

/** Whether the second request was answered without the handler. @param {any} t @param {any} cache @param {import('./kit').Handler} handler @param {import('./kit').Asked} [asked] */
async function isStored (t, cache, handler, asked) {
  const { ask, counted } = await counting(t, cache, handler)
  const [first, second] = [await ask(asked), await ask(asked)]
  assert.deepEqual([second.status, second.body.replace(/\d+$/, '')], [first.status, first.body.replace(/\d+$/, '')])
  return counted.count === 1
}

test('without the variable and the option the property has no effect', options, async (t) => {
  assert.equal(await isStored(t, undefined, (req, res) => {
    res.cacheDuration = 10
    res.end('x')
  }), false)
})

test('a negative variable turns it off', options, async (t) => {
  process.env.HTTPSYS_CACHE_DURATION = '-1'
  assert.equal(await isStored(t, undefined, (req, res) => {
    res.cacheDuration = 10
    res.end('x')
  }), false)
})

test('with the variable 0 the responses are stored that set a time', options, async (t) => {
  process.env.HTTPSYS_CACHE_DURATION = '0'
  assert.equal(await isStored(t, undefined, (req, res) => {
    res.cacheDuration = 10
    res.end('x')
  }), true)
  assert.equal(await isStored(t, undefined, (req, res) => { res.end('x') }), false)
})

test('with a time in the variable every response is stored that the safety rules allow', options, async (t) => {
  process.env.HTTPSYS_CACHE_DURATION = '10'
  assert.equal(await isStored(t, undefined, (req, res) => { res.end('x') }), true)
  assert.equal(await isStored(t, undefined, (req, res) => {
    res.cacheDuration = 0
    res.end('x')
  }), false)
  assert.equal(await isStored(t, undefined, (req, res) => { res.writeHead(404).end('x') }), false)
  assert.equal(await isStored(t, undefined, (req, res) => {
    res.cacheDuration = 10
    res.writeHead(404).end('x')
  }), true)
})

test('the default is for requests with harmless fields, and for those that the application calls harmless', options, async (t) => {
  const duration = 10
  const handler = (/** @type {any} */ req, /** @type {any} */ res) => { res.end('x') }
  const asked = { headers: { 'X-Forwarded-For': '192.0.2.1' } }
  assert.equal(await isStored(t, { rules: 'httpsys', duration }, handler, asked), false)
  assert.equal(await isStored(t, { rules: 'httpsys', duration, harmlessFields: ['X-Forwarded-For'] }, handler, asked), true)
  assert.equal(await isStored(t, { rules: 'httpsys', duration, harmlessFields: ['X-Forwarded-For'] }, handler, { headers: { 'X-Api-Key': 'a' } }), false)
  for (const headers of [{ Referer: 'http://a/' }, { 'Sec-Fetch-Site': 'same-origin' }]) {
    assert.equal(await isStored(t, { rules: 'httpsys', duration }, handler, { headers }), false)
    assert.equal(await isStored(t, { rules: 'httpsys', duration, harmlessFields: Object.keys(headers) }, handler, { headers }), true)
  }
  assert.equal(await isStored(t, { rules: 'httpsys', duration }, handler, {
    headers: { Accept: '*/*', 'Accept-Language': 'de', 'User-Agent': 'x', DNT: '1', 'Sec-Fetch-Mode': 'cors', Priority: 'u=1', traceparent: '00-0-0-00' }
  }), true)
})

/** Ways by which a head leaves; each sets the property as late as it may. @type {Record<string, (req: any, res: any, count: number) => void>} */
const kWays = {
  'end(text)': (req, res) => {
    res.cacheDuration = 10
    res.end('text')
  },
  // The defect of httpsys: it read the property from the socket, where nobody sets it, and before the handler could.
  'writeHead(), then the property, then end()': (req, res) => {
    res.writeHead(200, { 'Content-Length': 4 })
    res.cacheDuration = 10
    res.end('text')
  },
  'end() of a large body': (req, res) => {
    res.cacheDuration = 10
    res.end(Buffer.alloc(100_000, 'a'))
  },
  'end() with a callback, which is Node\'s own': (req, res) => {
    res.writeHead(200, { 'Content-Length': 4 })
    res.cacheDuration = 10
    res.end('text', 'latin1', () => {})
  },
  'write() of all, then end()': (req, res) => {
    res.setHeader('Content-Length', 4)
    res.cacheDuration = 10
    res.write('text')
    res.end()
  },
  'informational responses before': (req, res) => {
    res.writeEarlyHints({ link: '</a.css>; rel=preload' })
    res.cacheDuration = 10
    res.end('text')
  },
  'later than the handler': (req, res) => {
    setTimeout(() => {
      res.writeHead(200)
      res.cacheDuration = 10
      res.end('text')
    }, 5)
  }
}

for (const [name, way] of Object.entries(kWays)) {
  for (const [protocol, ask] of Object.entries(clients)) {
    test(`the property is read when the head leaves: ${name}, over ${protocol}`, options, async (t) => {
      const { port, counted } = await counting(t, kHttpSys, way, { http2: true })
      const first = await ask(port)
      const second = await ask(port)
      assert.deepEqual([first.status, second.status, first.body === second.body, counted.count], [200, 200, true, 1])
    })
  }
}

test('a stored answer tells what has said how long it is good', options, async (t) => {
  for (const cache of [true, kHttpSys]) {
    const { server, ask } = await counting(t, cache, (req, res) => {
      res.setHeader('Cache-Control', 'public, max-age=60')
      if (req.url !== '/rfc9111') setCachePolicy(res, { policy: req.url.slice(1), seconds: req.url === '/timeToLive' ? 5 : 0 })
      res.end('text')
    })
    for (const path of ['/rfc9111', '/timeToLive', '/userInvalidates']) await ask({ path })
    const shown = server.cache.entries().map((/** @type {any} */ { url, policy }) => [new URL(url).pathname.slice(1), policy])
    assert.deepEqual(shown.sort(), [['rfc9111', 'rfc9111'], ['timeToLive', 'timeToLive'], ['userInvalidates', 'userInvalidates']])
  }
})

test('a policy that is none is refused with its type', options, async (t) => {
  const wrong = /** @type {[any, RegExp][]} */ ([
    [undefined, /^The "policy" argument must be an object such as .*Received undefined$/], ['timeToLive', /Received type string$/],
    [{ policy: 'timeToLive', seconds: '5' }, /^The "policy\.seconds" property must be of type number\. Received type string$/]
  ])
  assert.equal(await isStored(t, kHttpSys, (req, res) => {
    for (const [policy, message] of wrong) assert.throws(() => setCachePolicy(res, policy), { code: 'ERR_INVALID_ARG_TYPE', message })
    res.end('text')
  }), false)
})

test('behind the head it is too late', options, async (t) => {
  assert.equal(await isStored(t, kHttpSys, (req, res) => {
    res.setHeader('Content-Length', 4)
    res.flushHeaders()
    setImmediate(() => {
      res.cacheDuration = 10
      assert.throws(() => setCachePolicy(res, { policy: 'userInvalidates' }), { code: 'ERR_HTTP_HEADERS_SENT' })
      res.end('text')
    })
  }), false)
})

test('each of several pipelined responses has its own time', options, async (t) => {
  /** @type {any[]} */
  const waiting = []
  const { port, counted, ask } = await counting(t, kHttpSys, (req, res) => {
    if (req.url === '/b') res.cacheDuration = 10
    if (req.url === '/c') setCachePolicy(res, { policy: 'timeToLive', seconds: 10 })
    waiting.push(res)
    // The last one is answered first.
    if (waiting.length === 4) for (const other of waiting.splice(0).reverse()) other.end(other.req.url)
    else if (req.headers.connection === 'close') res.end(req.url)
  })
  const wire = await dial(t, port)
  wire.write(['/a', '/b', '/c', '/d'].map((path) => `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`).join(''))
  await wire.until(/\r\n\r\n\/[abcd]/, 4)
  assert.equal(counted.count, 4)
  for (const path of ['/b', '/c']) assert.equal((await ask({ path })).body, path)
  assert.equal(counted.count, 4)
  for (const path of ['/a', '/d']) await ask({ path, headers: { Connection: 'close' } })
  assert.equal(counted.count, 6)
})

test('a piped stream is stored if its head names the length', options, async (t) => {
  assert.equal(await isStored(t, kHttpSys, (req, res) => {
    res.setHeader('Content-Length', 8)
    res.cacheDuration = 10
    require('node:stream').Readable.from([Buffer.from('the '), Buffer.from('file')]).pipe(res)
  }), true)
})

test('a file that the engine sends is answered in full, stored or not', options, async (t) => {
  for (const send of [
    (/** @type {any} */ res) => sendFile(res, file, (/** @type {any} */ error) => assert.equal(error, null)),
    (/** @type {any} */ res) => fs.createReadStream(file).pipe(res)
  ]) {
    const { ask } = await counting(t, kHttpSys, (req, res) => {
      res.cacheDuration = 10
      send(res)
    })
    assert.deepEqual([(await ask()).body, (await ask()).body], ['the file', 'the file'])
  }
})

test('with RFC 9111 the property has no effect, and setCachePolicy() has', options, async (t) => {
  assert.equal(await isStored(t, true, (req, res) => {
    res.cacheDuration = 10
    res.end('x')
  }), false)
  assert.equal(await isStored(t, true, (req, res) => {
    setCachePolicy(res, { policy: 'timeToLive', seconds: 10 })
    res.end('x')
  }), true)
})

test('an application\'s own class of responses counts, too', options, async (t) => {
  class Response extends require('node:http').ServerResponse {}
  const { ask, counted } = await counting(t, kHttpSys, (req, res) => {
    assert.ok(res instanceof Response)
    res.cacheDuration = 10
    res.end('x')
  }, { ServerResponse: Response })
  assert.deepEqual([(await ask()).body, (await ask()).body, counted.count], ['x', 'x', 1])
})
