'use strict'

// Goal: served folders are part of their server: over every protocol, beside its JavaScript in the order of requests, for the clients that its
// handler would see, on ports that processes share; they come and go at any time. Method: servers with both, asked for both.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const fs = require('node:fs')
const express = require('express')
const path = require('node:path')
const { Buffer } = require('node:buffer')
const { once } = require('node:events')
const { createAdapter } = require('@httpsys/express-adapter')
const { startChild } = require('../helpers/child')
const { needs } = require('../helpers/capabilities')
const { backend, http } = require('../helpers/backend')
const { dial, get, listen, stop } = require('../helpers/client')
const { freePort } = require('../helpers/free-port')
const { kProtocols } = require('./kit')
const { answerFromJavaScript, clientOf, makeSite, serveFolder, temporaryFolder } = require('./static-kit')

const options = { ...needs('servesFiles'), ...(backend === 'node' && { skip: 'node:http serves no folders' }) }

const kMiB = 1024 * 1024
/** Around the limits of what is read at once, of a window, of a frame and of a record. */
const kSizes = [0, 1, 13, 8192, 8193, 16_384, 35_840, 262_143, 262_145, kMiB + 7, 3 * kMiB]

/** @param {number} size */
const pattern = (size) => Buffer.from(Uint8Array.from({ length: size }, (_, i) => i % 251))

for (const [protocol, start] of Object.entries(kProtocols)) {
  test(`${protocol}: files of every size, ranges, errors and JavaScript's answers`, options, async (t) => {
    const root = temporaryFolder(t)
    for (const size of kSizes) fs.writeFileSync(path.join(root, `${size}.bin`), pattern(size))
    fs.mkdirSync(path.join(root, 'sub'))
    const { server, get } = await start(t, answerFromJavaScript)
    await server.serveFiles('/files/', root)
    for (const size of kSizes) {
      const all = pattern(size)
      const whole = await get(`/files/${size}.bin`)
      assert.deepEqual([whole.status, whole.isWhole, whole.headers['content-length'], whole.body.equals(all)], [200, true, String(size), true], `${size} bytes`)
      assert.match(whole.headers.date, / GMT$/)
      if (size < 10) continue
      const [from, to] = [Math.floor(size / 3), Math.ceil(size / 2)]
      const some = await get(`/files/${size}.bin`, { headers: { range: `bytes=${from}-${to}` } })
      assert.deepEqual([some.status, some.body.equals(all.subarray(from, to + 1))], [206, true], `${size} bytes, ${from} to ${to}`)
      const parts = await get(`/files/${size}.bin`, { headers: { range: 'bytes=0-1,5-6' } })
      assert.deepEqual([parts.status, parts.isWhole], [206, true])
    }
    const same = await get('/files/13.bin', { headers: { 'if-none-match': '*' } })
    assert.deepEqual([same.status, same.isWhole, same.body.length], [304, true, 0])
    const statuses = await Promise.all(['/files/none', '/files/sub', '/files/.x', '/files/%zz', '/other'].map((path) => get(path)))
    assert.deepEqual(statuses.map(({ status }) => status), [404, 301, 404, 400, 299])
    assert.equal(statuses[1].headers.location, '/files/sub/')
    const many = await Promise.all(Array.from({ length: 60 }, (_, i) => get(`/files/${kSizes[i % kSizes.length]}.bin`)))
    for (const [i, { body }] of many.entries()) assert.ok(body.equals(pattern(kSizes[i % kSizes.length])))
  })
}

test('pipelined requests for files and for JavaScript are answered in order, however long each takes', options, async (t) => {
  const root = makeSite(t)
  fs.writeFileSync(path.join(root, 'large.txt'), 'L'.repeat(500_000))
  const { port } = await serveFolder(t, root, { fallthrough: true }, (req, res) => {
    setTimeout(() => res.end(`<${req.url}>`), Number(/\d+/.exec(req.url)?.[0]))
  })
  const asked = ['/js?50', '/a.txt', '/js?0', '/large.txt', '/app.js', '/js?20', '/none?5', '/js?0', '/large.txt', '/index.html', '/js?30']
  const bodies = new Map([['/a.txt', '0123456789'], ['/large.txt', 'L'.repeat(500_000)], ['/app.js', 'app()'], ['/index.html', '<p>index']])
  const wire = await dial(t, port)
  wire.write(asked.map((path) => get(path)).join('') + 'GET /a.txt HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
  let rest = await wire.untilClosed()
  for (const path of [...asked, '/a.txt']) {
    const end = rest.indexOf('\r\n\r\n') + 4
    const length = Number(/content-length: (\d+)/i.exec(rest.slice(0, end))?.[1])
    assert.equal(rest.slice(end, end + length), bodies.get(path) ?? `<${path}>`)
    rest = rest.slice(end + length)
  }
  assert.equal(rest, '')
})

test('misses, other methods and their bodies reach Express; middleware hears of no file', options, async (t) => {
  const heard = /** @type {string[]} */ ([])
  const app = express()
  app.use((req, res, next) => {
    heard.push(`${req.method} ${req.url}`)
    next()
  })
  app.use(express.text())
  app.post('/assets/a.txt', (req, res) => { res.send(`posted ${req.body}`) })
  app.get('/assets/made', (req, res) => { res.send('made') })
  const adapter = createAdapter(app).static('/assets/', makeSite(t))
  t.after(() => stop(adapter.server))
  const port = await listen(adapter.server)
  const ask = clientOf(t, port)
  assert.equal((await ask({ path: '/assets/a.txt' })).body, '0123456789')
  assert.equal((await ask({ path: '/assets/sub/' })).body, '<p>sub')
  assert.equal((await ask({ path: '/assets/sub' })).headers.location, '/assets/sub/')
  assert.equal((await ask({ path: '/assets' })).headers.location, '/assets/')
  assert.deepEqual(heard, [])
  assert.equal((await ask({ path: '/assets/made' })).body, 'made')
  assert.equal((await ask({ path: '/assets/none' })).status, 404)
  assert.equal((await ask({ path: '/assets/.hidden' })).status, 404)
  assert.equal((await ask({ method: 'OPTIONS', path: '/assets/a.txt' })).headers.allow, 'POST')
  const answer = await fetch(`http://127.0.0.1:${port}/assets/a.txt`, { method: 'POST', body: 'text', headers: { 'content-type': 'text/plain' } })
  assert.equal(await answer.text(), 'posted text')
  assert.deepEqual(heard, ['GET /assets/made', 'GET /assets/none', 'GET /assets/.hidden', 'OPTIONS /assets/a.txt', 'POST /assets/a.txt'])
  // The adapter's own arguments.
  assert.throws(() => adapter.static('http://*:1/assets/', '.'), { code: 'ERR_INVALID_ARG_VALUE' })
  assert.throws(() => adapter.static('/assets/', '.'), { code: 'ERR_HTTPSYS_FILES' })
  assert.throws(() => adapter.static('/b/', '.', /** @type {any} */ ({ setHeaders () {} })), { code: 'ERR_HTTPSYS_OPTION' })
  assert.throws(() => adapter.static('/b/', '.', /** @type {any} */ (null)), { code: 'ERR_INVALID_ARG_TYPE' })
  await adapter.server.removeFiles('/assets/')
  assert.equal((await ask({ path: '/assets/a.txt' })).status, 404)
})

test('without fallthrough other methods are 405, and their bodies are passed over', options, async (t) => {
  const { port } = await serveFolder(t, makeSite(t))
  const wire = await dial(t, port)
  wire.write('POST /a.txt HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nbody!')
  wire.write('PUT /a.txt HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n')
  wire.write('GET /a.txt HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
  const text = await wire.untilClosed()
  assert.deepEqual([...text.matchAll(/^HTTP\/1\.1 (\d+)/gm)].map(([, status]) => status), ['405', '405', '200'])
  assert.equal([...text.matchAll(/^Allow: GET, HEAD\r$/gmi)].length, 2)
  assert.match(text, /0123456789$/)
})

test('HTTP/1.0 gets files, with and without keep-alive, and HEAD no body', options, async (t) => {
  const { port } = await serveFolder(t, makeSite(t))
  const once = await dial(t, port)
  assert.match(await once.write('GET /a.txt HTTP/1.0\r\n\r\n').untilClosed(), /^HTTP\/1\.1 200 OK\r\n.*\r\n\r\n0123456789$/s)
  const kept = await dial(t, port)
  kept.write('HEAD /a.txt HTTP/1.0\r\nConnection: keep-alive\r\n\r\n')
  assert.match(await kept.until('\r\n\r\n'), /Content-Length: 10\r\n/i)
  assert.match(await kept.write('GET /empty HTTP/1.0\r\n\r\n').untilClosed(), /Content-Length: 0\r\n.*\r\n\r\n$/is)
})

test('folders come and go before and after listen(), and the longest path wins', options, async (t) => {
  const [one, two] = [makeSite(t, { 'a.txt': 'one', 'only.txt': 'one' }), makeSite(t, { 'a.txt': 'two' })]
  const server = /** @type {any} */ (http.createServer(answerFromJavaScript))
  t.after(() => stop(server))
  await server.serveFiles('/x/', one, { fallthrough: true })
  const port = await listen(server)
  const ask = clientOf(t, port)
  const bodyOf = async (/** @type {string} */ path) => (await ask({ path })).body
  assert.equal(await bodyOf('/x/a.txt'), 'one')
  await server.serveFiles('/x/y/', two, { fallthrough: true })
  assert.deepEqual([await bodyOf('/x/y/a.txt'), await bodyOf('/x/y/only.txt'), await bodyOf('/X/Y/a.txt'), await bodyOf('/x/Y/../a.txt')],
    ['two', 'GET /x/y/only.txt', 'two', 'one'])
  assert.equal(await bodyOf('/x/A.TXT'), 'GET /x/A.TXT')
  await server.removeFiles('/x/y/')
  assert.equal(await bodyOf('/x/y/a.txt'), 'GET /x/y/a.txt')
  assert.throws(() => server.serveFiles('/X/', two), { code: 'ERR_HTTPSYS_FILES', root: one })
  await server.removeFiles('/x')
  assert.equal(await bodyOf('/x/a.txt'), 'GET /x/a.txt')
  await assert.rejects(server.removeFiles('/x/'), { code: 'ERR_HTTPSYS_FILES' })
  // What is said of the port is said of everything on it.
  await server.serveFiles(`http://127.0.0.1:${port}/`, two)
  assert.equal(await bodyOf('/a.txt'), 'two')
  await server.removeFiles(`http://127.0.0.1:${port}/`)
  assert.equal(await bodyOf('/a.txt'), 'GET /a.txt')
})

test('a path is below each prefix of the application, also of those that are added', options, async (t) => {
  const root = makeSite(t)
  const port = await freePort()
  const server = /** @type {any} */ (http.createServer(answerFromJavaScript))
  t.after(() => stop(server))
  await server.serveFiles('/assets/', root)
  server.listen([`http://127.0.0.1:${port}/shop/`, `http://127.0.0.1:${port}/b%20log/`])
  await once(server, 'listening')
  const ask = clientOf(t, port)
  const statuses = async () => (await Promise.all(['/shop/assets/a.txt', '/b%20log/assets/a.txt', '/assets/a.txt', '/later/assets/a.txt', '/shop/a.txt'].map((path) => ask({ path }))))
    .map(({ status }) => status)
  assert.deepEqual(await statuses(), [200, 200, 404, 404, 299])
  await server.addPrefix(`http://127.0.0.1:${port}/later/`)
  await server.removePrefix(`http://127.0.0.1:${port}/b%20log/`)
  assert.deepEqual(await statuses(), [200, 404, 404, 200, 299])
})

test('a prefix is registered for its folder, and goes with it; close() ends it', options, async (t) => {
  const root = makeSite(t)
  const [port, other] = [await freePort(), await freePort()]
  const server = /** @type {any} */ (http.createServer(answerFromJavaScript))
  t.after(() => stop(server))
  // It listens by itself, and both calls at once are one listen() and one addPrefix().
  await Promise.all([server.serveFiles(`http://127.0.0.1:${port}/one/`, root), server.serveFiles(`http://127.0.0.1:${port}/two/`, root)])
  assert.deepEqual(server.prefixes, [`http://127.0.0.1:${port}/one/`, `http://127.0.0.1:${port}/two/`])
  const ask = clientOf(t, port)
  assert.equal((await ask({ path: '/one/a.txt' })).body, '0123456789')
  assert.equal((await ask({ path: '/two' })).headers.location, '/two/')
  await server.addPrefix(`http://127.0.0.1:${port}/app/`)
  await server.serveFiles(`http://127.0.0.1:${port}/app/`, root, { fallthrough: true })
  assert.deepEqual([(await ask({ path: '/app/a.txt' })).status, (await ask({ path: '/app/none' })).status], [200, 299])
  // The prefix of the application stays.
  await server.removeFiles(`http://127.0.0.1:${port}/app/`)
  assert.deepEqual([(await ask({ path: '/app/a.txt' })).status, server.prefixes.length], [299, 3])
  await server.removeFiles(`http://127.0.0.1:${port}/one/`)
  assert.deepEqual([(await ask({ path: '/one/a.txt' })).status, server.prefixes.length], [404, 2])
  await server.removePrefix(`http://127.0.0.1:${port}/app/`)
  await assert.rejects(server.removeFiles(`http://127.0.0.1:${port}/two/`), { code: 'ERR_HTTPSYS_PREFIX_STATE' })
  assert.equal((await ask({ path: '/two/a.txt' })).status, 200)
  // Somebody else's prefix, and a server that does not begin to listen.
  const late = /** @type {any} */ (http.createServer())
  await assert.rejects(late.serveFiles(`http://127.0.0.1:${port}/two/`, root), { code: 'EADDRINUSE' })
  await late.serveFiles(`http://127.0.0.1:${other}/two/`, root)
  t.after(() => stop(late))
  await assert.rejects(late.serveFiles(`http://127.0.0.1:${port}/two/`, root), { code: 'EADDRINUSE' })
  assert.equal((await clientOf(t, other)({ path: '/two/a.txt' })).status, 200)
  await server.serveFiles('/stays/', root)
  await stop(server)
  const again = await listen(server)
  const askAgain = clientOf(t, again)
  assert.deepEqual([(await askAgain({ path: '/two/a.txt' })).status, (await askAgain({ path: '/stays/a.txt' })).status], [299, 200])
})

test('a call right behind listen() waits for it', options, async (t) => {
  const root = makeSite(t)
  const port = await freePort()
  const server = /** @type {any} */ (http.createServer(answerFromJavaScript))
  t.after(() => stop(server))
  server.listen(port, '127.0.0.1')
  await server.serveFiles(`http://127.0.0.1:${port}/files/`, root)
  const ask = clientOf(t, port)
  assert.deepEqual([(await ask({ path: '/files/a.txt' })).status, (await ask({ path: '/a.txt' })).status], [200, 299])
})

test('what is wrong with a folder, or a server, is said at once', options, async (t) => {
  const root = makeSite(t)
  const server = /** @type {any} */ (http.createServer())
  for (const [args, code] of /** @type {[any[], string][]} */ ([
    [['/a/', path.join(root, 'none')], 'ERR_HTTPSYS_FILES'], [['/a/', path.join(root, 'a.txt')], 'ERR_HTTPSYS_FILES'], [['/a/', ''], 'ERR_INVALID_ARG_VALUE'],
    [['/a/', 'a\0'], 'ERR_INVALID_ARG_VALUE'], [['/a/'], 'ERR_INVALID_ARG_TYPE'], [[undefined, root], 'ERR_INVALID_ARG_TYPE'], [['a/', root], 'ERR_HTTPSYS_PREFIX_SYNTAX'],
    [['/a?b/', root], 'ERR_HTTPSYS_PREFIX_SYNTAX'], [['http://*:x/', root], 'ERR_HTTPSYS_PREFIX_SYNTAX'], [['/a/', root, { maxage: 1 }], 'ERR_HTTPSYS_OPTION']
  ])) assert.throws(() => server.serveFiles(...args), { code }, JSON.stringify(args))
  // Each message names what was written, and begins with no function that was not called.
  const adapter = createAdapter(() => {})
  for (const [where, folder, message] of /** @type {[string, string, string | RegExp][]} */ ([
    ['assets', root, '"assets" is no path; write "/assets/"'], ['./assets/x', root, '"./assets/x" is no path; write "/assets/x/"'], ['', root, '"" is no path; write "/shop/"'],
    ['/a?x', root, '"/a?x" is no path: it has a "?" or "#", which no path of a request has; write "/a/"'],
    ['/a/', path.join(root, 'none'), /^The folder .*none does not exist; \S+ does$/]
  ])) {
    assert.throws(() => server.serveFiles(where, folder), { message })
    assert.throws(() => adapter.static(where, folder), { message })
  }
  await server.serveFiles('/url/', new URL(`file://${root}/`))
  const lenient = /** @type {any} */ (http.createServer(/** @type {any} */ ({ insecureHTTPParser: true })))
  assert.throws(() => lenient.serveFiles('/a/', root), { code: 'ERR_HTTPSYS_FILES' })
  await assert.rejects(lenient.removeFiles('/a/'), { code: 'ERR_HTTPSYS_FILES' })
})

test('stock Node serves no folders, and says so', async (t) => {
  const child = startChild(async ({ http, report }) => {
    const server = /** @type {any} */ (http.createServer())
    const codes = /** @type {string[]} */ ([])
    try {
      server.serveFiles('/', '.')
    } catch (error) {
      codes.push(/** @type {any} */ (error).code)
    }
    await server.removeFiles('/').catch((/** @type {any} */ error) => codes.push(error.code))
    report({ codes })
  }, { env: { HTTPSYS_BACKEND: 'node' } })
  t.after(() => child.kill())
  assert.deepEqual(await child.message('codes'), ['ERR_HTTPSYS_CAPABILITY', 'ERR_HTTPSYS_CAPABILITY'])
})
