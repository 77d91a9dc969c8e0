'use strict'

// Goal: whatever way a response leaves JavaScript, the cache has exactly its bytes, or nothing. Method: responses that are written in every
// way that Node has, asked for twice; what the second answer is, and how often the handler ran.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const fs = require('node:fs')
const { Buffer } = require('node:buffer')
const { dial, get } = require('../helpers/client')
const { until } = require('../helpers/waiting')
const { http } = require('../helpers/backend')
const { kProtocols, ofCache, serveCached } = require('./protocols-kit')

/** @typedef {(res: any, body: string) => void} Write */

/** Ways to send a body that a cache keeps. @type {Record<string, Write>} */
const kKept = {
  'end() alone': (res, body) => res.end(body),
  'end() with a buffer': (res, body) => res.end(Buffer.from(body)),
  'write() and end()': (res, body) => {
    for (let i = 0; i < body.length; i += 1000) res.write(body.slice(i, i + 1000))
    res.end()
  },
  'pieces in later turns': async (res, body) => {
    for (let i = 0; i < body.length; i += Math.ceil(body.length / 3)) {
      res.write(body.slice(i, i + Math.ceil(body.length / 3)))
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
    res.end()
  },
  'Content-Length and pieces': (res, body) => {
    res.setHeader('Content-Length', body.length)
    res.write(body.slice(0, 10))
    setImmediate(() => res.end(body.slice(10)))
  },
  'flushHeaders() first': (res, body) => {
    res.flushHeaders()
    setImmediate(() => res.end(body))
  },
  'a corked response': (res, body) => {
    res.cork()
    res.write(body.slice(0, 10))
    res.write(body.slice(10))
    res.end()
    res.uncork()
  },
  '103 before it': (res, body) => {
    res.writeEarlyHints({ link: '</style.css>; rel=preload' })
    setImmediate(() => res.end(body))
  }
}

for (const [protocol, serve] of Object.entries(kProtocols)) {
  for (const bytes of [20, 5000, 300_000]) {
    test(`${protocol}: a body of ${bytes} bytes is the same from the cache, however it was written`, ofCache, async (t) => {
      let calls = 0
      const body = 'abcdefghij'.repeat(bytes / 10)
      const ways = Object.values(kKept)
      const { ask } = await serve(t, { cache: true }, (req, res) => {
        calls++
        res.setHeader('Cache-Control', 'max-age=60')
        ways[Number(req.url.slice(1))](res, body)
      })
      for (const [i, name] of Object.keys(kKept).entries()) {
        assert.equal((await ask(`/${i}`)).body, body, name)
        const again = await ask(`/${i}`)
        assert.equal(again.body, body, name)
        assert.equal(again.headers['content-length'], String(bytes), name)
        assert.equal(again.headers['transfer-encoding'], undefined, name)
        assert.match(again.headers.age, /^\d+$/, name)
      }
      assert.equal(calls, ways.length)
    })
  }
}

/** Ways to end a response after which nothing is kept. @type {Record<string, Write>} */
const kRefused = {
  'a destroyed response': (res, body) => {
    res.write(body)
    setTimeout(() => res.destroy(), 10)
  },
  trailers: (res, body) => {
    res.setHeader('Trailer', 'X-Sum')
    res.write(body)
    res.addTrailers({ 'X-Sum': '1' })
    res.end()
  },
  'fewer bytes than Content-Length says': (res, body) => {
    res.setHeader('Content-Length', body.length + 5)
    res.write(body)
    setTimeout(() => res.destroy(), 10)
  },
  'a cookie': (res, body) => res.setHeader('Set-Cookie', 'a=b').end(body),
  'more bytes than an entry may have': (res) => {
    for (let i = 0; i < 20; ++i) res.write('x'.repeat(10_000))
    res.end()
  },
  'a Content-Length above what an entry may have': (res) => {
    res.setHeader('Content-Length', 200_000)
    res.end('x'.repeat(200_000))
  }
}

for (const [name, write] of Object.entries(kRefused)) {
  test(`a response with ${name} is not kept`, ofCache, async (t) => {
    const { ask, calls, server } = await serveCached(t, (req, res) => {
      res.setHeader('Cache-Control', 'max-age=60')
      write(res, 'body')
    }, { maxEntryBytes: 100_000 })
    await ask('/').catch(() => {})
    await ask('/').catch(() => {})
    assert.equal(calls(), 2)
    assert.deepEqual(server.cache.entries(), [])
    assert.equal(server.cache.stats().stored, 0)
  })
}

test('a client that leaves within a response leaves nothing in the cache', ofCache, async (t) => {
  const { ask, calls, port, server } = await serveCached(t, (req, res, n) => {
    res.setHeader('Cache-Control', 'max-age=60')
    res.write('half')
    if (n > 1) res.end('whole')
  })
  const wire = await dial(t, port)
  await wire.write(get()).until('half')
  wire.destroy()
  await until(() => server.connections === 0 || server._connections === 0, 'the server hears of the end')
  assert.equal((await ask('/')).body, 'halfwhole')
  assert.equal((await ask('/')).body, 'halfwhole')
  assert.equal(calls(), 2)
})

test('fields of the connection are not kept, nor those that Connection names', ofCache, async (t) => {
  const { ask } = await serveCached(t, (req, res) => {
    res.writeHead(200, {
      'Cache-Control': 'max-age=60', Connection: 'keep-alive, X-Hop', 'X-Hop': '1', 'Keep-Alive': 'timeout=9', 'Proxy-Authenticate': 'Basic', 'X-Kept': '2'
    })
    res.end('x')
  })
  await ask('/')
  const { headers } = await ask('/')
  assert.deepEqual([headers['x-hop'], headers['proxy-authenticate'], headers['x-kept']], [undefined, undefined, '2'])
  assert.notEqual(headers['keep-alive'], 'timeout=9')
})

test('pipelined responses are kept each under its own URL', ofCache, async (t) => {
  const { ask, port, calls } = await serveCached(t, (req, res) => {
    res.setHeader('Cache-Control', 'max-age=60')
    setTimeout(() => res.end(`<${req.url}>`), req.url === '/0' ? 30 : 0)
  })
  const wire = await dial(t, port)
  const paths = Array.from({ length: 10 }, (_, i) => `/${i}`)
  await wire.write(paths.map((path) => get(path)).join('')).until('</9>')
  for (const path of paths) assert.equal((await ask(path, { Host: 'a' })).body, `<${path}>`)
  assert.equal(calls(), 10)
})

test('a policy of one response is not that of another one on its connection', ofCache, async (t) => {
  const { port, server } = await serveCached(t, (req, res) => {
    res.setHeader('Content-Type', 'text/plain')
    if (req.url === '/kept') res.cacheDuration = 60
    if (req.url === '/first') setTimeout(() => res.end(`<${req.url}>`), 30)
    else res.end(`<${req.url}>`)
  }, { rules: 'httpsys' })
  const wire = await dial(t, port)
  await wire.write(get('/first') + get('/kept') + get('/last')).until('</last>')
  assert.deepEqual(server.cache.entries().map((/** @type {any} */ entry) => entry.url), ['http://a/kept'])
})

test('unsafe methods make entries obsolete before their own answer arrives: the URL, its variants, Location, Content-Location', ofCache, async (t) => {
  const { ask, calls } = await serveCached(t, (req, res, n) => {
    res.setHeader('Cache-Control', 'max-age=60')
    res.setHeader('Vary', 'Accept-Language')
    if (req.method === 'POST') {
      res.statusCode = Number(req.headers['x-status'])
      if (req.headers['x-location']) res.setHeader('Location', req.headers['x-location'])
      if (req.headers['x-content-location']) res.setHeader('Content-Location', req.headers['x-content-location'])
    }
    res.end(String(n))
  })
  const host = { Host: 'a.example' }
  const fill = async () => {
    for (const path of ['/a', '/dir/b', '/c']) {
      for (const language of ['de', 'en']) await ask(path, { ...host, 'Accept-Language': language })
    }
    return calls()
  }
  assert.equal(await fill(), 6)
  assert.equal(await fill(), 6)
  await ask('/a', { ...host, 'X-Status': '500' }, 'POST')
  assert.equal(await fill(), 7)
  await ask('/a', { ...host, 'X-Status': '204' }, 'POST')
  assert.equal(await fill(), 10)
  await ask('/dir/x', { ...host, 'X-Status': '201', 'X-Location': 'b', 'X-Content-Location': 'http://a.example/c' }, 'POST')
  assert.equal(await fill(), 15)
  await ask('/dir/x', { ...host, 'X-Status': '201', 'X-Location': 'http://b.example/a', 'X-Content-Location': '//c.example/c' }, 'POST')
  assert.equal(await fill(), 16)
})

test('files that sendFile() sends are not kept, and are refused by name', ofCache, async (t) => {
  const { ask, calls, server } = await serveCached(t, (req, res) => {
    res.setHeader('Cache-Control', 'max-age=60')
    const pending = /** @type {any} */ (http).sendFile(res, __filename, {}, () => {})
    return pending
  })
  const text = fs.readFileSync(__filename, 'latin1')
  assert.equal((await ask('/')).body, text)
  assert.equal((await ask('/')).body, text)
  assert.equal(calls(), 2)
  assert.ok(server.cache.stats().refused.FILE > 0)
})

for (const [name, invalidate] of /** @type {[string, (cached: any) => any][]} */ ([
  ['an unsafe request', ({ ask }) => ask('/', {}, 'POST')],
  ['a flush', ({ server }) => server.cache.flush()]
])) {
  test(`what JavaScript has begun to answer before ${name} is not kept`, ofCache, async (t) => {
    /** @type {() => void} */
    let finish = () => {}
    const cached = await serveCached(t, (req, res, n) => {
      res.setHeader('Cache-Control', 'max-age=60')
      if (n === 1) finish = () => res.end('old')
      else res.end('new')
    })
    const { ask, server } = cached
    const first = ask('/')
    await until(() => cached.calls() === 1, 'JavaScript has the request')
    await invalidate(cached)
    finish()
    assert.equal((await first).body, 'old')
    assert.equal((await ask('/')).body, 'new')
    assert.equal((await ask('/')).body, 'new')
    assert.equal(server.cache.stats().refused.OBSOLETE, 1)
  })
}

test('an unsafe request that fails makes nothing obsolete, in whatever pieces its answer comes', ofCache, async (t) => {
  const { ask } = await serveCached(t, (req, res, n) => {
    res.setHeader('Cache-Control', 'max-age=60')
    if (req.method === 'GET') return res.end(String(n))
    res.statusCode = 500
    res.cork()
    res.write('no')
    res.end('pe')
    res.uncork()
  })
  assert.equal((await ask('/')).body, '1')
  await ask('/', {}, 'DELETE')
  assert.equal((await ask('/')).body, '1')
})

test('a URL whose Vary changes with the variant keeps all variants', ofCache, async (t) => {
  /** @type {Record<string, string>} */
  const kVary = { en: 'Accept-Language', de: 'Accept-Language, X-A', fr: 'X-B, Accept-Language', it: 'X-A' }
  for (const languages of [['en', 'de', 'fr'], ['de', 'en', 'fr'], ['fr', 'de', 'en'], ['en', 'it']]) {
    const { ask, calls } = await serveCached(t, (req, res, n) => {
      const language = req.headers['accept-language']
      res.writeHead(200, { 'Cache-Control': 'max-age=60', Vary: kVary[language] }).end(`${language} ${req.headers['x-a']} ${req.headers['x-b']} ${n}`)
    })
    const requests = languages.flatMap((language) => [{}, { 'X-A': '1' }, { 'X-B': '1' }].map((fields) => ({ 'Accept-Language': language, ...fields })))
    for (const headers of requests) await ask('/', headers)
    const before = calls()
    for (const headers of requests) {
      const [language, a, b] = (await ask('/', headers)).body.split(' ')
      assert.equal(language, headers['Accept-Language'])
      // What the answer depends on is that of the request.
      if (kVary[language].includes('X-A')) assert.equal(a, `${headers['X-A']}`)
      if (kVary[language].includes('X-B')) assert.equal(b, `${headers['X-B']}`)
    }
    assert.equal(calls(), before, `hits for ${languages}`)
  }
})
