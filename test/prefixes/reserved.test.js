'use strict'

// Reservations and running servers.

const assert = require('node:assert/strict')
const { once } = require('node:events')
const fs = require('node:fs')
const http = require('node:http')
const path = require('node:path')
const { test } = require('node:test')
const { createServer, backend } = require('@httpsys/core-native')
const { addReservation, deleteReservation } = require('@httpsys/core-native/reservations')
const { certificate } = require('../helpers/certificates')
const { dial, request, serve } = require('../helpers/client')
const { freePort } = require('../helpers/free-port')
const tls = require('../helpers/tls')
const { ownUrlacl } = require('../helpers/urlacl')
const { until } = require('../helpers/waiting')

// A request that nobody answers ends its test, not the file: a busy machine needs a second for the longest.
// Less than a test may take, so that a failure names what did not come.
const kUntilMs = 20_000
const limits = { skip: backend === 'node' ? 'node:http has no prefixes to reserve' : false, timeout: 30_000 }

/** @param {number} port @param {string} url @returns {Promise<number>} the status */
async function statusOf (port, url) {
  const [response] = await once(http.get({ port, path: url, agent: false }), 'response')
  response.resume()
  return response.statusCode
}

/** @param {number} port @param {string} url @param {number} status */
function untilStatus (port, url, status) {
  return until(async () => await statusOf(port, url) === status, `${status} for ${url}`, kUntilMs)
}

test('a prefix reserved for another application is EACCES, one reserved for this is not', limits, async (t) => {
  ownUrlacl(t)
  const port = await freePort()
  addReservation(`http://*:${port}/theirs/`, { register: ['app:somebody else'] })
  addReservation(`http://*:${port}/ours/`, { register: ['app:ours'] })
  const server = createServer()
  t.after(() => server.close())
  await assert.rejects(once(server.listen(`http://*:${port}/theirs/`), 'listening'), { code: 'EACCES', message: /reserved for app:somebody else in .*urlacl\.json/ })
  await assert.rejects(once(server.listen(`http://*:${port}/ours/below/`), 'listening'), { code: 'EACCES' })
  server.listen({ prefix: `http://*:${port}/ours/below/`, queueName: 'ours' })
  await once(server, 'listening')
  await assert.rejects(server.addPrefix(`http://*:${port}/theirs/deeper/`), { code: 'EACCES' })
})

test('what a running server lost, or nobody has registered, is answered with 503 until the reservation goes', limits, async (t) => {
  ownUrlacl(t)
  const port = await freePort()
  const server = createServer((req, res) => res.end(req.urlPrefix))
  t.after(() => server.close())
  server.listen([`http://*:${port}/`, `http://*:${port}/a/`])
  await once(server, 'listening')
  assert.equal(await statusOf(port, '/a/x'), 200)
  const warned = once(process, 'warning')
  addReservation(`http://*:${port}/a/`, { register: ['app:somebody else'] })
  addReservation(`http://*:${port}/b/`, { register: ['app:somebody else'] })
  await untilStatus(port, '/a/x', 503)
  await untilStatus(port, '/b/x', 503)
  assert.equal(await statusOf(port, '/c'), 200)
  const [warning] = await warned
  assert.match(warning.message, /\/a\/" cannot be registered: .*The running server has lost it/)
  assert.deepEqual(server.prefixes, [`http://*:${port}/`])
  deleteReservation(`http://*:${port}/b/`)
  await untilStatus(port, '/b/x', 200)
})

const kTheirs = { register: ['app:somebody else'] }

/** What the process is warned of from here on. @param {import('node:test').TestContext} t */
function warnings (t) {
  /** @type {any[]} */
  const seen = []
  const see = (/** @type {any} */ warning) => seen.push(warning)
  process.on('warning', see)
  t.after(() => process.off('warning', see))
  return seen
}

const echo = (/** @type {any} */ req, /** @type {any} */ res) => res.end(req.urlPrefix)

test('a server that has lost its only prefix answers 503, and may add it again when it has the right', limits, async (t) => {
  ownUrlacl(t)
  const seen = warnings(t)
  const port = await freePort()
  const prefix = `http://*:${port}/a/`
  const server = createServer(echo)
  await serve(t, server, prefix)
  const wire = await dial(t, port)
  const ask = async (/** @type {RegExp} */ answer, /** @type {number} */ times) => {
    wire.write('GET /a/x HTTP/1.1\r\nHost: h\r\n\r\n')
    await wire.until(answer, times)
  }
  await ask(/200 OK/, 1)
  addReservation(prefix, kTheirs)
  await untilStatus(port, '/a/x', 503)
  await ask(/503 Service Unavailable/, 1)
  assert.deepEqual(server.prefixes, [])
  assert.equal(await statusOf(port, '/b'), 404)
  await assert.rejects(server.addPrefix(prefix), { code: 'EACCES' })
  await assert.rejects(server.removePrefix(prefix), { code: 'ERR_HTTPSYS_PREFIX_STATE', message: /it has none/ })
  // A change that has nothing to do with it takes nothing from it.
  addReservation(`http://*:${port}/b/`, kTheirs)
  await untilStatus(port, '/b/', 503)
  assert.deepEqual(seen.map(({ code }) => code), ['HTTPSYS_PREFIX_DROPPED'])

  deleteReservation(prefix)
  deleteReservation(`http://*:${port}/b/`)
  // Nobody has it, and nobody keeps it.
  await untilStatus(port, '/a/x', 400)
  await server.addPrefix(prefix)
  assert.deepEqual(server.prefixes, [prefix])
  assert.equal((await request({ port, path: '/a/x' })).body, prefix)
  await ask(/200 OK/, 2)
  assert.equal(await statusOf(port, '/b'), 404)
  addReservation(prefix, kTheirs)
  await untilStatus(port, '/a/x', 503)
  assert.equal(seen.length, 2)
})

test('a server that has lost its only prefix of a port listens there on, until it closes', limits, async (t) => {
  ownUrlacl(t)
  const [kept, lost] = [await freePort(), await freePort()]
  const server = createServer(echo)
  await serve(t, server, [`http://*:${kept}/`, `http://*:${lost}/a/`])
  addReservation(`http://*:${lost}/`, kTheirs)
  await untilStatus(lost, '/a/', 503)
  assert.equal(await statusOf(kept, '/a/'), 200)
  assert.deepEqual(server.prefixes, [`http://*:${kept}/`])
  // What comes and goes beside it does not take its port along.
  deleteReservation(`http://*:${lost}/`)
  await untilStatus(lost, '/a/', 400)
  await server.addPrefix(`http://*:${lost}/b/`)
  assert.deepEqual([await statusOf(lost, '/b/'), await statusOf(lost, '/a/')], [200, 404])
  await server.removePrefix(`http://*:${lost}/b/`)
  await assert.rejects(server.removePrefix(`http://*:${kept}/`), { code: 'ERR_HTTPSYS_PREFIX_STATE', message: /last prefix/ })
  assert.equal(await statusOf(lost, '/b/'), 400)
  await server.addPrefix(`http://*:${lost}/a/`)
  await server.removePrefix(`http://*:${kept}/`)
  assert.equal(await statusOf(lost, '/a/'), 200)
  server.close()
  await once(server, 'close')
  for (const port of [kept, lost]) await assert.rejects(request(port), { code: 'ECONNREFUSED' })
  await serve(t, server, lost)
  assert.equal(await statusOf(lost, '/anything'), 200)
})

test('a socket of one address stays open for a prefix that is lost, and closes with the last one', {
  ...limits, skip: limits.skip || (process.platform !== 'linux' && 'needs more loopback addresses than one')
}, async (t) => {
  ownUrlacl(t)
  const port = await freePort()
  const at = (/** @type {number} */ last, path = '/') => `http://127.0.0.${last}:${port}${path}`
  const server = createServer(echo)
  await serve(t, server, [at(1), at(2, '/a/'), at(2, '/b/')])
  const statusAt2 = async (/** @type {string} */ path) => (await request({ port, host: '127.0.0.2', path })).status
  addReservation(at(2, '/a/'), kTheirs)
  await until(async () => await statusAt2('/a/') === 503, 'the prefix is lost', kUntilMs)
  await server.removePrefix(at(2, '/b/'))
  assert.equal(await statusAt2('/a/'), 503)
  deleteReservation(at(2, '/a/'))
  await until(async () => await statusAt2('/a/') !== 503, 'the reservation is gone', kUntilMs)
  await server.addPrefix(at(2, '/a/'))
  assert.equal(await statusAt2('/a/'), 200)
  await server.removePrefix(at(2, '/a/'))
  await assert.rejects(statusAt2('/a/'), { code: 'ECONNREFUSED' })
  assert.equal((await request({ port, host: '127.0.0.1' })).status, 200)
})

test('a port goes on speaking TLS when its prefixes are lost', limits, async (t) => {
  ownUrlacl(t)
  const port = await freePort()
  const plain = await freePort()
  const server = createServer(echo)
  await serve(t, server, [`https://*:${port}/a/`, `http://*:${plain}/a/`], certificate('localhost'))
  const status = async () => (await tls.request(port, { path: '/a/' })).status
  assert.equal(await status(), 200)
  addReservation(`https://*:${port}/a/`, kTheirs)
  addReservation(`http://*:${plain}/a/`, kTheirs)
  await untilStatus(plain, '/a/', 503)
  assert.equal(await status(), 503)
  deleteReservation(`https://*:${port}/a/`)
  await server.addPrefix(`https://*:${port}/a/`)
  assert.equal(await status(), 200)
})

/** @param {any} server @param {...any} on arguments of listen() @returns {Promise<any>} the error */
async function failing (server, ...on) {
  let isSync = true
  const failed = new Promise((resolve, reject) => {
    server.once('listening', () => reject(new Error(`it listens on ${JSON.stringify(on)}`)))
    server.once('error', (/** @type {any} */ error) => {
      server.removeAllListeners('listening')
      assert.equal(isSync, false, 'as net.Server, not before listen() has returned')
      resolve(error)
    })
  })
  server.listen(...on)
  isSync = false
  return failed
}

test('listen(port) needs the right that the prefix of its address needs', limits, async (t) => {
  const file = ownUrlacl(t)
  const port = await freePort()
  const server = createServer((req, res) => res.end('ok'))
  t.after(() => server.close())
  addReservation(`http://*:${port}/`, kTheirs)
  addReservation(`http://127.0.0.1:${port}/`, { register: ['app:ours'] })
  for (const on of [[port], [{ port, host: '::' }], [{ port, host: '0.0.0.0' }], [{ port, queueName: 'ours' }], [{ port, ipv6Only: true }], [{ port, exclusive: true }]]) {
    const error = await failing(server, ...on)
    assert.match(error.message, new RegExp(`^"http://\\*:${port}/" cannot be registered: .* reserved for app:somebody else in ${file}`))
    assert.deepEqual([error.code, error.syscall, error.port, error.prefix, error.file], ['EACCES', 'listen', port, `http://*:${port}/`, file])
    assert.ok(error.errno < 0)
  }
  assert.equal((await failing(server, port, '127.0.0.1')).code, 'EACCES')
  fs.appendFileSync(file, 'nonsense')
  assert.equal((await failing(server, port)).code, 'ERR_HTTPSYS_URLACL')
  // A port of the system's choice, and what is no port, is nobody's to reserve.
  await serve(t, server, 0)
  const onPath = createServer()
  await serve(t, onPath, path.join(path.dirname(file), 'http.sock'))
  server.close()
  await once(server, 'close')
  fs.rmSync(file)
  addReservation(`http://127.0.0.1:${port}/`, { register: ['app:ours'] })
  await serve(t, server, { port, host: '127.0.0.1', queueName: 'ours' })
  assert.equal((await request(port)).body, 'ok')
})

test('a server on a port loses what is reserved below it, or the port, and may have it again', limits, async (t) => {
  ownUrlacl(t)
  const seen = warnings(t)
  const port = await freePort()
  const server = createServer((req, res) => res.end(String(req.urlPrefix)))
  await serve(t, server, port)
  assert.deepEqual(server.prefixes, [`http://*:${port}/`])
  addReservation(`http://*:${port}/b/`, kTheirs)
  await untilStatus(port, '/b/x', 503)
  assert.equal((await request(port)).body, 'undefined')
  addReservation(`http://*:${port}/`, kTheirs)
  await untilStatus(port, '/', 503)
  assert.deepEqual(server.prefixes, [])
  deleteReservation(`http://*:${port}/`)
  await untilStatus(port, '/', 404)
  assert.equal(await statusOf(port, '/b/x'), 503)
  await server.addPrefix(`http://*:${port}/`)
  assert.equal((await request(port)).body, `http://*:${port}/`)
  assert.equal(await statusOf(port, '/b/x'), 503)
  assert.deepEqual(seen.map(({ code }) => code), ['HTTPSYS_PREFIX_DROPPED'])
  // Another listen() begins anew.
  server.close()
  await once(server, 'close')
  deleteReservation(`http://*:${port}/b/`)
  await serve(t, server, port, '127.0.0.1')
  assert.deepEqual(server.prefixes, [`http://127.0.0.1:${port}/`])
  addReservation(`http://127.0.0.1:${port}/`, kTheirs)
  await untilStatus(port, '/', 503)
})

test('a port that nothing is reserved on is served without looking at requests first', limits, async (t) => {
  ownUrlacl(t)
  const [reserved, free] = [await freePort(), await freePort()]
  addReservation(`http://*:${reserved}/b/`, kTheirs)
  const servers = [createServer(), createServer(), createServer()]
  const ports = [await serve(t, servers[0], reserved), await serve(t, servers[1], free), await serve(t, servers[2], 0)]
  addReservation(`http://*:${ports[2]}/`, kTheirs)
  await untilStatus(reserved, '/b/', 503)
  // JavaScript hears of a connection before its request only where every request is this server's.
  let early = 0
  servers[0].on('connection', () => { early++ })
  for (const at of [1, 2]) {
    const connected = once(servers[at], 'connection')
    await dial(t, ports[0])
    await dial(t, ports[at])
    await connected
    assert.equal(early, 0)
  }
})
