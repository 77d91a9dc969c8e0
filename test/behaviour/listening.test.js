'use strict'

// Goal: listen() and close(), by port and by URL prefix, on every backend.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const { once } = require('node:events')
const { http, backend } = require('../helpers/backend')
const { needs } = require('../helpers/capabilities')
const { listen, request, serve, stop } = require('../helpers/client')
const { urlError } = require('../../packages/core-native/lib/listen/url-error')
const { freePort } = require('../helpers/free-port')

/** Stock Node knows no prefixes. */
const withPrefixes = { ...needs(), ...(backend === 'node' && { skip: 'stock Node has no URL prefixes' }) }

/** @param {string} name */
const answer = (name) => http.createServer((req, res) => res.end(`${name} ${/** @type {any} */ (req).urlPrefix ?? ''}`))

/** @param {number} port @param {string} path */
async function ask (port, path) {
  return (await request({ port, path, headers: { Host: `localhost:${port}` } })).body
}

test('listen(0) takes a free port, which address() tells', needs(), async (t) => {
  const server = http.createServer((req, res) => res.end())
  assert.equal(server.address(), null)
  const port = await serve(t, server)
  const address = /** @type {import('node:net').AddressInfo} */ (server.address())
  assert.equal(address.address, '127.0.0.1')
  assert.equal(address.family, 'IPv4')
  assert.ok(port > 0 && server.listening)
})

test('listen() without a host serves every address', needs(), async (t) => {
  const port = await serve(t, http.createServer((req, res) => res.end('everywhere')), 0)
  assert.equal((await request({ port, host: '127.0.0.1' })).body, 'everywhere')
  assert.equal((await request({ port, host: '127.0.0.1', headers: { Host: `localhost:${port}` } })).body, 'everywhere')
})

test('a Host that is nobody\'s name is served, too', needs('foreignHosts'), async (t) => {
  const port = await serve(t, http.createServer((req, res) => res.end(req.headers.host)))
  assert.equal((await request({ port, headers: { Host: 'elsewhere.test' } })).body, 'elsewhere.test')
})

test('a port in use is EADDRINUSE', needs(), async (t) => {
  const port = await serve(t, http.createServer())
  const second = http.createServer()
  second.listen(port, '127.0.0.1')
  const [error] = await once(second, 'error')
  assert.equal(error.code, 'EADDRINUSE')
  assert.equal(error.syscall, 'listen')
  assert.equal(error.port, port)
  assert.equal(second.listening, false)
})

test('a port can be used again after close()', needs(), async (t) => {
  const first = http.createServer((req, res) => res.end('first'))
  const port = await listen(first)
  assert.equal((await request(port)).body, 'first')
  await stop(first)
  await serve(t, http.createServer((req, res) => res.end('second')), port, '127.0.0.1')
  assert.equal((await request(port)).body, 'second')
})

test('close() waits for the answer that is on its way', needs(), async (t) => {
  const server = http.createServer((req, res) => {
    server.close()
    setTimeout(() => res.end('last'), 20)
  })
  const port = await listen(server)
  const closed = once(server, 'close')
  assert.equal((await request(port)).body, 'last')
  await closed
})

test('listening twice is ERR_SERVER_ALREADY_LISTEN', needs(), async (t) => {
  const server = http.createServer()
  await serve(t, server)
  assert.throws(() => server.listen(0), { code: 'ERR_SERVER_ALREADY_LISTEN' })
})

test('servers of one process share a port, and the longest prefix has the request', withPrefixes, async (t) => {
  const port = await freePort()
  await serve(t, answer('root'), `http://localhost:${port}/`)
  await serve(t, answer('shop'), `http://localhost:${port}/shop/`)
  await serve(t, answer('cart'), `http://localhost:${port}/shop/cart/`)
  assert.equal(await ask(port, '/'), `root http://localhost:${port}/`)
  assert.equal(await ask(port, '/shopping'), `root http://localhost:${port}/`)
  assert.equal(await ask(port, '/shop/x'), `shop http://localhost:${port}/shop/`)
  assert.equal(await ask(port, '/shop/cart/1?x=/'), `cart http://localhost:${port}/shop/cart/`)
})

test('one server has several prefixes, and knows which one a request came by', withPrefixes, async (t) => {
  const port = await freePort()
  const server = answer('both')
  await serve(t, server, [`http://localhost:${port}/a/`, `http://localhost:${port}/b/`])
  assert.deepEqual(/** @type {any} */ (server).prefixes, [`http://localhost:${port}/a/`, `http://localhost:${port}/b/`])
  assert.equal(await ask(port, '/a/1'), `both http://localhost:${port}/a/`)
  assert.equal(await ask(port, '/b/1'), `both http://localhost:${port}/b/`)
})

test('stripPrefix cuts the prefix off the URL', withPrefixes, async (t) => {
  const port = await freePort()
  const options = /** @type {any} */ ({ stripPrefix: true })
  const server = http.createServer(options, (req, res) => res.end(`${/** @type {any} */ (req).baseUrl} ${req.url}`))
  await serve(t, server, `http://localhost:${port}/app/`)
  assert.equal(await ask(port, '/app/x?y'), '/app /x?y')
})

test('prefixes can be added and removed while serving', withPrefixes, async (t) => {
  const port = await freePort()
  const server = /** @type {any} */ (answer('one'))
  await serve(t, server, `http://localhost:${port}/a/`)
  await serve(t, answer('other'), `http://localhost:${port}/`)
  assert.equal(await ask(port, '/b/'), `other http://localhost:${port}/`)
  await server.addPrefix(`http://localhost:${port}/b/`)
  assert.equal(await ask(port, '/b/'), `one http://localhost:${port}/b/`)
  await assert.rejects(server.addPrefix(`http://localhost:${port}/b/`), { code: 'EADDRINUSE' })
  await server.removePrefix(`http://localhost:${port}/b/`)
  assert.equal(await ask(port, '/b/'), `other http://localhost:${port}/`)
  await assert.rejects(server.removePrefix(`http://localhost:${port}/b/`), { code: 'ERR_HTTPSYS_PREFIX_STATE' })
})

test('a prefix that is registered already is EADDRINUSE, and nothing of the list stays', withPrefixes, async (t) => {
  const port = await freePort()
  await serve(t, answer('first'), `http://localhost:${port}/a/`)
  const second = answer('second')
  second.listen(/** @type {any} */ ([`http://localhost:${port}/b/`, `http://localhost:${port}/a/`]))
  const [error] = await once(second, 'error')
  assert.equal(error.code, 'EADDRINUSE')
  assert.match(error.message, new RegExp(`http://localhost:${port}/a/`))
  await serve(t, answer('third'), `http://localhost:${port}/b/`)
  assert.equal(await ask(port, '/b/'), `third http://localhost:${port}/b/`)
})

test('an error of HTTP.SYS says what it means and which command helps', () => {
  const url = 'http://+:8080/shop/'
  const denied = urlError(5, url)
  assert.equal(denied.code, 'EACCES')
  assert.match(denied.message, /netsh http add urlacl url=http:\/\/\+:8080\/shop\/ user=".+"$/)
  assert.deepEqual([denied.syscall, denied.prefix, denied.status], ['listen', url, 5])
  assert.ok(denied.errno < 0)
  assert.equal(urlError(183, url).code, 'EADDRINUSE')
  assert.match(urlError(183, url).message, /already registered.*netsh http show servicestate/)
  assert.equal(urlError(32, url).code, 'EADDRINUSE')
  assert.match(urlError(32, url).message, /does not use HTTP\.SYS/)
  assert.equal(urlError(87, url).code, 'EINVAL')
  assert.match(urlError(1450, url).message, /with the error 1450/)
  const plain = /** @type {any} */ (urlError(183, url, { address: '::', port: 8080 }))
  assert.deepEqual([plain.address, plain.port], ['::', 8080])
})
