'use strict'

// Goal: no answer reaches somebody for whom it was not made. Each test is an attack, or a mistake of an application, of which caches in
// front of applications are known; over HTTP/1.1 and HTTP/2. The application allows as much as it can: its answers are `public` and fresh.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const { setTimeout: sleep } = require('node:timers/promises')
const { backend, http } = require('../helpers/backend')
const { needs } = require('../helpers/capabilities')
const { certificate } = require('../helpers/certificates')
const { dial, serve } = require('../helpers/client')
const { freePort } = require('../helpers/free-port')
const tlsKit = require('../helpers/tls')
const { until } = require('../helpers/waiting')
const { clients, counting } = require('./kit')

const options = { ...(backend === 'node' ? { skip: 'stock Node keeps no responses' } : needs('cacheRules')), timeout: 120_000 }
const kPublic = 'public, max-age=600'

/** A test over each protocol. @param {string} name @param {(t: import('node:test').TestContext, ask: (typeof clients)[string]) => Promise<void>} run */
function overBoth (name, run) {
  for (const [protocol, ask] of Object.entries(clients)) test(`${name}, over ${protocol}`, options, (t) => run(t, ask))
}

/** A server whose answers anybody may keep. @param {any} t @param {import('./kit').Handler} handler @param {any} [cache] @param {any} [more] */
function permissive (t, handler, cache = true, more = {}) {
  return counting(t, cache, (req, res, count) => {
    res.setHeader('Cache-Control', kPublic)
    handler(req, res, count)
  }, { http2: true, ...more })
}

/** Asks for everything twice: the first time fills the cache. @template T @param {T[]} all @param {(one: T) => Promise<void>} check */
async function twice (all, check) {
  for (const one of [...all, ...all]) await check(one)
}

test('an unsafe request makes its URL obsolete although nobody gets the answer to it', options, async (t) => {
  for (const isLeft of [true, false]) {
    let state = 0
    const { port, ask } = await permissive(t, (req, res) => {
      if (req.method === 'GET') return res.end(`state ${state}`)
      state++
      if (!isLeft) res.destroy()
    })
    assert.equal((await ask()).body, 'state 0')
    const wire = await dial(t, port)
    wire.write(`PUT / HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Length: 0\r\n\r\n`)
    await until(() => state === 1, 'JavaScript has the request')
    if (isLeft) wire.destroy()
    await until(async () => (await ask()).body === 'state 1', 'a new answer')
  }
})

// -- What is not in the key.

overBoth('each Host has its own answer, below one prefix for all of them', async (t, ask) => {
  let count = 0
  const server = http.createServer({ cache: true, http2: true }, (req, res) => {
    count++
    res.setHeader('Cache-Control', kPublic)
    res.end(`for ${req.headers.host ?? req.headers[':authority']}`)
  })
  const prefix = `http://*:${await freePort()}/`
  await serve(t, server, prefix)
  const port = Number(new URL(prefix.replace('*', 'a')).port)
  await twice([`a.test:${port}`, `b.test:${port}`, 'a.test', `A.test:${port}`, `a.test.:${port}`], async (host) => {
    assert.equal((await ask(port, { headers: { Host: host } })).body, `for ${host}`)
  })
  assert.ok(count >= 5 && count < 10, String(count))
})

overBoth('each value of a forwarding field has its own answer', async (t, ask) => {
  const names = ['X-Forwarded-Host', 'X-Forwarded-Proto', 'X-Forwarded-Port', 'X-Forwarded-Prefix', 'X-Forwarded-Server', 'X-Host', 'X-Forwarded-Scheme', 'Forwarded']
  const { port, counted } = await permissive(t, (req, res) => {
    res.end(JSON.stringify(names.map((name) => req.headers[name.toLowerCase()] ?? '')))
  })
  const cases = names.flatMap((name) => ['evil', 'good', ''].map((value) => ({ name, value })))
  await twice(cases, async ({ name, value }) => {
    const { body } = await ask(port, { headers: value === '' ? {} : { [name]: value } })
    assert.deepEqual(JSON.parse(body), names.map((other) => other === name ? value : ''), name)
  })
  assert.ok(counted.count < cases.length * 2, 'nothing was stored')
})

overBoth('a field that replaces URL or method neither fills the cache nor is answered by it', async (t, ask) => {
  const { port, counted } = await permissive(t, (req, res, count) => { res.end(String(count)) })
  for (const name of ['X-Original-URL', 'X-Rewrite-URL', 'X-Original-URI', 'X-HTTP-Method', 'X-HTTP-Method-Override', 'X-Method-Override']) {
    const path = `/${name}`
    await ask(port, { path, headers: { [name]: 'DELETE' } })
    const plain = await ask(port, { path })
    assert.equal(plain.body, String(counted.count), `${name} has filled the cache`)
    assert.notEqual((await ask(port, { path, headers: { [name]: 'DELETE' } })).body, plain.body)
    assert.equal((await ask(port, { path })).body, plain.body, 'the plain answer was not stored')
  }
})

overBoth('paths that look alike have answers of their own', async (t, ask) => {
  const { port } = await permissive(t, (req, res) => { res.end(req.url) })
  const paths = [
    '/me', '/me/', '/me/x.css', '/me%2f', '/me%2F', '/me;a.js', '/ME', '/%6de', '/me?', '/me?a=1;b', '/me?a=1&b', '/me?b&a=1', '//me', '/./me', '/x/../me', '/me%00.css',
    '/me%3fx.css', '/me%23x.css', '/me?x.css', '/me%0a.css', '/me\\x.css'
  ]
  await twice(paths, async (path) => assert.equal((await ask(port, { path })).body, path))
})

// -- Whose answer it is.

overBoth('the answer to a request with credentials is nobody else\'s', async (t, ask) => {
  const { port } = await permissive(t, (req, res) => { res.end(`for ${req.headers.authorization ?? req.headers['proxy-authorization'] ?? 'nobody'}`) })
  await twice([{ Authorization: 'Basic YTpi' }, {}, { Authorization: 'Bearer c' }, { 'Proxy-Authorization': 'Basic ZA==' }], async (headers) => {
    assert.equal((await ask(port, { headers })).body, `for ${Object.values(headers)[0] ?? 'nobody'}`)
  })
})

overBoth('the answer to a request with a cookie is stored only if it says public', async (t, ask) => {
  const { port } = await counting(t, true, (req, res, count) => {
    res.setHeader('Cache-Control', req.url.startsWith('/public') ? kPublic : 'max-age=600')
    res.end(`${req.headers.cookie} ${count}`)
  }, { http2: true })
  await twice(['user=1', 'user=2'], async (Cookie) => {
    assert.match((await ask(port, { headers: { Cookie } })).body, new RegExp(`^${Cookie} `))
  })
  // What says nothing about users is not given to those who have named themselves, either.
  const { body: anonymous } = await ask(port)
  assert.match((await ask(port, { headers: { Cookie: 'user=1' } })).body, /^user=1 /)
  assert.equal((await ask(port)).body, anonymous)
  const { body: shared } = await ask(port, { path: '/public', headers: { Cookie: 'user=1' } })
  assert.equal((await ask(port, { path: '/public', headers: { Cookie: 'user=2' } })).body, shared)
})

overBoth('the default time is for nobody who can be told from others', async (t, ask) => {
  const { port } = await counting(t, { rules: 'httpsys', duration: 600 }, (req, res) => {
    const { cookie, authorization, 'x-api-key': key, 'x-unknown': unknown } = req.headers
    res.end(`for ${cookie ?? authorization ?? key ?? unknown ?? 'nobody'}`)
  }, { http2: true })
  const cases = [{}, { Cookie: 'session=a' }, { Cookie: 'session=b' }, { Authorization: 'Basic YTpi' }, { 'X-Api-Key': 'c' }, { 'X-Unknown': 'd' }]
  for (const path of ['/me', '/me/x.css', '/me;a.js', '/static/a.js']) {
    await twice(cases, async (headers) => {
      assert.equal((await ask(port, { path, headers })).body, `for ${Object.values(headers)[0] ?? 'nobody'}`)
    })
  }
})

overBoth('private, no-store and Set-Cookie are not stored', async (t, ask) => {
  const { port, counted } = await counting(t, true, (req, res, count) => {
    const kind = decodeURIComponent(req.url.slice(1))
    res.setHeader('Cache-Control', kind === 'cookie' ? kPublic : `${kind}, max-age=600`)
    if (kind === 'cookie') res.setHeader('Set-Cookie', `session=${count}`)
    res.end(String(count))
  }, { http2: true })
  for (const path of ['/private', '/no-store', '/cookie', '/private="set-cookie"', '/public, private', '/max-age=100, no-store']) {
    const before = counted.count
    const answers = [await ask(port, { path: encodeURI(path) }), await ask(port, { path: encodeURI(path) })]
    assert.notEqual(answers[0].body, answers[1].body, path)
    assert.equal(counted.count, before + 2)
  }
})

overBoth('a response that varies by who asks is as a private one', async (t, ask) => {
  const { port } = await permissive(t, (req, res) => {
    res.setHeader('Vary', decodeURIComponent(req.url.slice(1)))
    res.end(`for ${req.headers.cookie ?? 'nobody'}`)
  })
  for (const vary of ['Cookie', 'Authorization', 'Accept, Cookie', '*', 'Accept, *']) {
    const path = `/${encodeURIComponent(vary)}`
    await twice([{ Cookie: 'user=1' }, { Cookie: 'user=2' }, {}], async (headers) => {
      assert.equal((await ask(port, { path, headers })).body, `for ${Object.values(headers)[0] ?? 'nobody'}`, vary)
    })
  }
})

overBoth('Vary makes a variant of each value', async (t, ask) => {
  const { port, counted } = await permissive(t, (req, res) => {
    res.setHeader('Vary', 'Accept-Language, X-Theme')
    res.end(`${req.headers['accept-language'] ?? ''} ${req.headers['x-theme'] ?? ''}`)
  })
  const cases = [['de', 'dark'], ['de', 'light'], ['en', 'dark'], ['', 'dark'], ['de', '']]
  await twice(cases, async ([language, theme]) => {
    const headers = { ...(language === '' ? {} : { 'Accept-Language': language }), ...(theme === '' ? {} : { 'X-Theme': theme }) }
    assert.equal((await ask(port, { headers })).body, `${language} ${theme}`)
  })
  assert.equal(counted.count, cases.length)
})

test('two lines of a field are no variant of one line, of which the application reads more', options, async (t) => {
  const { port } = await permissive(t, (req, res) => {
    res.setHeader('Vary', 'User-Agent, X-Theme')
    res.end(`<${req.headers['user-agent']}> <${req.headers['x-theme']}>`)
  })
  const ask = async (/** @type {string[]} */ lines) => {
    const wire = await dial(t, port)
    wire.write(`GET / HTTP/1.1\r\nHost: a.test\r\n${lines.map((line) => `${line}\r\n`).join('')}\r\n`)
    const text = await wire.until(/<[^>]*> <[^>]*>/)
    wire.destroy()
    return /<([^>]*)> <([^>]*)>/.exec(text)?.slice(1)
  }
  await twice([['a'], ['b'], ['a', 'b'], ['a, b']], async (agents) => {
    // Node takes the first line of User-Agent, and joins those of fields that it does not know.
    for (const theme of ['c, d', 'c']) {
      assert.deepEqual(await ask([...agents.map((value) => `User-Agent: ${value}`), `X-Theme: ${theme}`]), [agents[0], theme])
    }
  })
})

overBoth('each of a hundred clients at once gets its own cookie', async (t, ask) => {
  const { port, counted } = await counting(t, true, async (req, res, count) => {
    await sleep(50)
    res.setHeader('Cache-Control', kPublic)
    res.setHeader('Set-Cookie', `session=${count}`)
    res.end(`session ${count}`)
  }, { http2: true })
  const answers = await Promise.all(Array.from({ length: 100 }, () => ask(port, { path: '/login' })))
  assert.equal(new Set(answers.map(({ headers }) => String(headers['set-cookie']))).size, 100)
  assert.equal(new Set(answers.map(({ body }) => body)).size, 100)
  assert.equal(counted.count, 100)
})

// -- Requests that are not what they seem.

overBoth('a GET with a body neither fills the cache nor is answered by it', async (t, ask) => {
  const { port, counted } = await permissive(t, (req, res, count) => {
    let body = ''
    req.on('data', (/** @type {Buffer} */ piece) => { body += piece }).on('end', () => res.end(`${body} ${count}`))
  })
  const fat = { body: 'evil', headers: { 'Content-Length': '4' } }
  assert.equal((await ask(port, fat)).body, 'evil 1')
  assert.equal((await ask(port)).body, ' 2')
  assert.equal((await ask(port)).body, ' 2')
  assert.equal((await ask(port, { ...fat, body: 'more' })).body, 'more 3')
  assert.equal(counted.count, 3)
})

test('a request behind a body, in a pipeline, is looked up by its own target', options, async (t) => {
  const { port } = await permissive(t, (req, res) => { req.resume().on('end', () => res.end(`<${req.method} ${req.url}>`)) })
  const host = `Host: 127.0.0.1:${port}\r\n`
  const hidden = `GET /hidden HTTP/1.1\r\n${host}\r\n`
  const pipeline = [
    `GET /first HTTP/1.1\r\n${host}Content-Length: ${hidden.length}\r\n\r\n${hidden}`,
    `GET /chunked HTTP/1.1\r\n${host}Transfer-Encoding: chunked\r\n\r\n${hidden.length.toString(16)}\r\n${hidden}\r\n0\r\n\r\n`,
    `GET /second HTTP/1.1\r\n${host}\r\n`,
    `POST /second HTTP/1.1\r\n${host}Content-Length: 0\r\n\r\n`,
    `GET /second HTTP/1.1\r\n${host}\r\n`
  ]
  const expected = ['<GET /first>', '<GET /chunked>', '<GET /second>', '<POST /second>', '<GET /second>']
  for (let round = 0; round < 3; round++) {
    const wire = await dial(t, port)
    wire.write(pipeline.join(''))
    const text = await wire.until(/<\w+ \/\w+>/, expected.length)
    assert.deepEqual(text.match(/<\w+ \/\w+>/g), expected)
    wire.destroy()
  }
})

test('answers of the cache keep the order of a pipeline', options, async (t) => {
  const { port } = await permissive(t, async (req, res) => {
    if (req.url.startsWith('/slow')) {
      await sleep(30)
      res.setHeader('Cache-Control', 'no-store')
    }
    res.end(`<${req.url}>`)
  })
  const ask = async (/** @type {string[]} */ targets) => {
    const wire = await dial(t, port)
    wire.write(targets.map((target) => `GET ${target} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`).join(''))
    const text = await wire.until(/<\/\w+>/, targets.length)
    wire.destroy()
    return text.match(/<(\/\w+)>/g)
  }
  await ask(['/a', '/b'])
  for (let round = 0; round < 5; round++) {
    const targets = ['/a', '/slow1', '/b', '/a', `/new${round}`, '/slow2', '/b', `/new${round}`]
    assert.deepEqual(await ask(targets), targets.map((target) => `<${target}>`))
  }
})

overBoth('HEAD and Range fill nothing', async (t, ask) => {
  const { port, counted } = await permissive(t, (req, res, count) => {
    if (req.headers.range !== undefined) res.writeHead(206, { 'Content-Range': 'bytes 0-0/4' })
    res.end(req.headers.range === undefined ? `all ${count}` : 'p')
  })
  assert.equal((await ask(port, { method: 'HEAD' })).body, '')
  assert.equal((await ask(port, { headers: { Range: 'bytes=0-0' } })).body, 'p')
  assert.equal((await ask(port)).body, 'all 3')
  assert.equal((await ask(port)).body, 'all 3')
  assert.equal(counted.count, 3)
})

overBoth('an error is stored only if it says so itself', async (t, ask) => {
  const { port, counted } = await counting(t, { rules: 'httpsys', duration: 600 }, (req, res, count) => {
    if (req.url.startsWith('/own')) res.cacheDuration = 600
    res.writeHead(Number(req.url.slice(-3))).end(String(count))
  }, { http2: true })
  for (const status of [400, 404, 431, 500, 503]) {
    const before = counted.count
    for (let i = 0; i < 2; i++) assert.equal((await ask(port, { path: `/${status}` })).status, status)
    assert.equal(counted.count, before + 2, `${status} by default`)
    for (let i = 0; i < 2; i++) assert.equal((await ask(port, { path: `/own/${status}` })).status, status)
    assert.equal(counted.count, before + 3, `${status} by its own time`)
  }
})

const kUnasked = { heuristics: { heuristics: true }, duration: { rules: 'httpsys', duration: 600 } }

for (const [name, cache] of Object.entries(kUnasked)) {
  overBoth(`${name}: what forbids storing counts, well-formed or not, beside whatever else`, async (t, ask) => {
    const forbidding = [
      { 'Cache-Control': 'private, no-store', 'CDN-Cache-Control': 'stale-if-error=60' },
      { 'Cache-Control': 'private', 'CDN-Cache-Control': 'foo' },
      { 'Cache-Control': 'no-store', 'CDN-Cache-Control': 'max-age="60", stale-if-error=60' },
      { 'Cache-Control': 'public; max-age=60; no-store' },
      { 'Cache-Control': 'x="y, private' },
      { 'CDN-Cache-Control': 'no-store &' },
      { Pragma: 'no-cache' }
    ]
    const { port, counted } = await counting(t, cache, (req, res, count) => {
      res.setHeader('Last-Modified', 'Mon, 01 Jan 2024 00:00:00 GMT')
      for (const [field, value] of Object.entries(forbidding[req.url.slice(1)] ?? {})) res.setHeader(field, value)
      res.end(String(count))
    }, { http2: true })
    await ask(port, { path: '/silent' })
    assert.equal((await ask(port, { path: '/silent' })).body, '1', 'what forbids nothing is stored')
    for (const [i, fields] of forbidding.entries()) {
      const before = counted.count
      for (let n = 0; n < 2; n++) await ask(port, { path: `/${i}` })
      assert.equal(counted.count, before + 2, JSON.stringify(fields))
    }
  })
}

overBoth('httpsys: a lifetime in CDN-Cache-Control does not override private and no-store', async (t, ask) => {
  const { port, counted } = await counting(t, { rules: 'httpsys', duration: 600 }, (req, res, count) => {
    res.setHeader('Cache-Control', req.url.slice(1))
    res.setHeader('CDN-Cache-Control', 'public, max-age=60')
    res.end(String(count))
  }, { http2: true })
  for (const path of ['/private', '/no-store', '/no-cache']) for (let n = 0; n < 2; n++) await ask(port, { path })
  assert.equal(counted.count, 6)
})

for (const rules of ['rfc9111', 'httpsys']) {
  overBoth(`${rules}: what one client is refused for is not answered to others`, async (t, ask) => {
    const { port, counted } = await permissive(t, (req, res, count) => {
      if (req.headers['x-refused'] !== undefined) res.statusCode = Number(req.url.slice(1))
      res.end(String(count))
    }, { rules })
    for (const status of [408, 412, 416, 417, 421, 425, 428, 429, 431, 511]) {
      const path = `/${status}`
      assert.equal((await ask(port, { path, headers: { 'X-Refused': '1' } })).status, status)
      assert.equal((await ask(port, { path })).status, 200)
      const before = counted.count
      assert.equal((await ask(port, { path, headers: { 'X-Refused': '1' } })).status, 200, 'the good answer is stored')
      assert.equal(counted.count, before)
    }
  })

  overBoth(`${rules}: what a request with a precondition gets is not answered to others`, async (t, ask) => {
    const { port } = await permissive(t, (req, res) => {
      // Applications exist that say so with a 200.
      res.end(req.headers['if-match'] ?? req.headers['if-unmodified-since'] ?? 'good')
    }, { rules })
    await ask(port, { headers: { 'If-Match': '"x"' } })
    await ask(port, { headers: { 'If-Unmodified-Since': 'Mon, 01 Jan 2024 00:00:00 GMT' } })
    assert.equal((await ask(port)).body, 'good')
    assert.equal((await ask(port, { headers: { 'If-Match': '"x"' } })).body, 'good', 'the cache ignores it')
  })
}

overBoth('what a request with an oversized header gets is not stored', async (t, ask) => {
  const { port } = await permissive(t, (req, res) => { res.end('good') })
  const refused = await ask(port, { headers: { 'X-Long': 'a'.repeat(30_000) } }).catch(() => ({ status: 431 }))
  assert.notEqual(refused.status, 200)
  assert.deepEqual([(await ask(port)).status, (await ask(port)).body], [200, 'good'])
})

overBoth('an unfinished response is not stored', async (t, ask) => {
  const { port, counted } = await permissive(t, (req, res, count) => {
    if (count > 1) return res.end('whole')
    res.write('a pie')
    setImmediate(() => res.destroy())
  })
  await assert.rejects(async () => {
    const { body } = await ask(port)
    // A stream that was reset may end without an error of its own.
    if (body !== 'whole') throw new Error('cut off')
  })
  assert.equal((await ask(port)).body, 'whole')
  assert.equal(counted.count, 2)
})

// -- Certificates of clients.

test('where clients show certificates nothing is stored: each is answered for itself', options, async (t) => {
  const authority = certificate('authority of caches', { isCa: true })
  const identities = { one: certificate('client one', { issuer: 'authority of caches' }), two: certificate('client two', { issuer: 'authority of caches' }) }
  const stranger = certificate('a stranger')
  for (const rejectUnauthorized of [true, false]) {
    let count = 0
    const { port } = await tlsKit.serve(t, { cache: true, requestCert: true, rejectUnauthorized, ca: authority.cert }, (req, res) => {
      count++
      res.setHeader('Cache-Control', kPublic)
      res.end(String(req.socket.getPeerCertificate()?.subject?.CN ?? 'nobody'))
    })
    for (let round = 0; round < 2; round++) {
      assert.equal((await tlsKit.request(port, identities.one)).body, 'client one')
      assert.equal((await tlsKit.request(port, identities.two)).body, 'client two')
      if (rejectUnauthorized) {
        await assert.rejects(tlsKit.request(port))
        await assert.rejects(tlsKit.request(port, stranger))
      } else {
        assert.equal((await tlsKit.request(port)).body, 'nobody')
        assert.equal((await tlsKit.request(port, stranger)).body, 'a stranger')
      }
    }
    assert.equal(count, rejectUnauthorized ? 4 : 8)
  }
})

test('HTTP and HTTPS have answers of their own', options, async (t) => {
  const handler = (/** @type {any} */ req, /** @type {any} */ res) => {
    res.setHeader('Cache-Control', kPublic)
    res.end(req.socket.encrypted ? 'secret' : 'open')
  }
  const { port } = await tlsKit.serve(t, { cache: true }, handler)
  const plain = await serve(t, http.createServer({ cache: true }, handler))
  const host = { headers: { Host: 'one.test' } }
  for (let round = 0; round < 2; round++) {
    assert.equal((await tlsKit.request(port, host)).body, 'secret')
    assert.equal((await clients['HTTP/1.1'](plain, host)).body, 'open')
  }
})

overBoth('two servers of a process never share an answer', async (t, ask) => {
  const [one, two] = await Promise.all(['one', 'two'].map((name) => permissive(t, (req, res) => { res.end(name) })))
  for (let round = 0; round < 2; round++) {
    assert.equal((await ask(one.port, { headers: { Host: 'same.test' } })).body, 'one')
    assert.equal((await ask(two.port, { headers: { Host: 'same.test' } })).body, 'two')
  }
})

overBoth('what a closed server has stored is not given out by the next one of its port', async (t, ask) => {
  const port = await freePort()
  for (const name of ['first', 'second']) {
    const server = http.createServer({ cache: true, http2: true }, (req, res) => {
      res.setHeader('Cache-Control', kPublic)
      res.end(name)
    })
    await new Promise((resolve) => server.listen(port, '127.0.0.1', () => resolve(null)))
    assert.equal((await ask(port)).body, name)
    assert.equal((await ask(port)).body, name)
    await new Promise((resolve) => server.close(resolve))
  }
})

// -- Floods.

test('a flood of other URLs does not push out what is asked for all the time', options, async (t) => {
  const { port, ask } = await permissive(t, (req, res, count) => { res.end(req.url === '/hot' ? String(count) : 'a'.repeat(1000)) }, { cacheBytes: 2 ** 23 })
  const wire = await dial(t, port)
  let [answers, hot] = [0, 0]
  const first = (await ask({ path: '/hot' })).body
  // More than three times what the cache has room for.
  for (let from = 0; from < 24_000; from += 400) {
    const targets = Array.from({ length: 400 }, (_, i) => `/cold/${from + i}`)
    wire.write(targets.map((target) => `GET ${target} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`).join(''))
    answers += targets.length
    await wire.until('HTTP/1.1 200', targets.length)
    wire.text = ''
    for (let i = 0; i < 3; i++) if ((await ask({ path: '/hot' })).body === first) hot++
  }
  assert.equal(answers, 24_000)
  assert.equal(hot, 180)
})
