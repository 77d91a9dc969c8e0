'use strict'

// Reservations and running servers.

const assert = require('node:assert/strict')
const { once } = require('node:events')
const http = require('node:http')
const { test } = require('node:test')
const { createServer, backend } = require('@httpsys/core-native')
const { addReservation, deleteReservation } = require('@httpsys/core-native/reservations')
const { certificate } = require('../helpers/certificates')
const { dial, request, serve } = require('../helpers/client')
const { freePort } = require('../helpers/free-port')
const tls = require('../helpers/tls')
const { ownUrlacl } = require('../helpers/urlacl')

const skip = backend === 'node' ? 'node:http has no prefixes to reserve' : false

/** @param {number} port @param {string} url @returns {Promise<number>} the status */
async function statusOf (port, url) {
  const [response] = await once(http.get({ port, path: url, agent: false }), 'response')
  response.resume()
  return response.statusCode
}

/** @param {() => Promise<boolean>} isSo */
async function eventually (isSo) {
  for (const end = Date.now() + 10_000; ;) {
    if (await isSo()) return
    assert.ok(Date.now() < end, 'not within 10 s')
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

test('a prefix reserved for another application is EACCES, one reserved for this is not', { skip }, async (t) => {
  ownUrlacl(t)
  const port = await freePort()
  addReservation(`http://*:${port}/theirs/`, { register: ['app:somebody else'] })
  addReservation(`http://*:${port}/ours/`, { register: ['app:ours'] })
  const server = createServer()
  t.after(() => server.close())
  assert.throws(() => server.listen(`http://*:${port}/theirs/`), { code: 'EACCES', message: /reserved for app:somebody else in .*urlacl\.json/ })
  assert.throws(() => server.listen(`http://*:${port}/ours/below/`), { code: 'EACCES' })
  server.listen({ prefix: `http://*:${port}/ours/below/`, queueName: 'ours' })
  await once(server, 'listening')
  await assert.rejects(server.addPrefix(`http://*:${port}/theirs/deeper/`), { code: 'EACCES' })
})

test('what a running server lost, or nobody has registered, is answered with 503 until the reservation goes', { skip }, async (t) => {
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
  await eventually(async () => await statusOf(port, '/a/x') === 503)
  await eventually(async () => await statusOf(port, '/b/x') === 503)
  assert.equal(await statusOf(port, '/c'), 200)
  const [warning] = await warned
  assert.match(warning.message, /\/a\/" cannot be registered: .*The running server has lost it/)
  assert.deepEqual(server.prefixes, [`http://*:${port}/`])
  deleteReservation(`http://*:${port}/b/`)
  await eventually(async () => await statusOf(port, '/b/x') === 200)
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

test('a server that has lost its only prefix answers 503, and may add it again when it has the right', { skip }, async (t) => {
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
  await eventually(async () => await statusOf(port, '/a/x') === 503)
  await ask(/503 Service Unavailable/, 1)
  assert.deepEqual(server.prefixes, [])
  assert.equal(await statusOf(port, '/b'), 404)
  await assert.rejects(server.addPrefix(prefix), { code: 'EACCES' })
  await assert.rejects(server.removePrefix(prefix), { code: 'ERR_HTTPSYS_PREFIX_STATE', message: /it has none/ })
  // A change that has nothing to do with it takes nothing from it.
  addReservation(`http://*:${port}/b/`, kTheirs)
  await eventually(async () => await statusOf(port, '/b/') === 503)
  assert.deepEqual(seen.map(({ code }) => code), ['HTTPSYS_PREFIX_DROPPED'])

  deleteReservation(prefix)
  deleteReservation(`http://*:${port}/b/`)
  // Nobody has it, and nobody keeps it.
  await eventually(async () => await statusOf(port, '/a/x') === 400)
  await server.addPrefix(prefix)
  assert.deepEqual(server.prefixes, [prefix])
  assert.equal((await request({ port, path: '/a/x' })).body, prefix)
  await ask(/200 OK/, 2)
  assert.equal(await statusOf(port, '/b'), 404)
  addReservation(prefix, kTheirs)
  await eventually(async () => await statusOf(port, '/a/x') === 503)
  assert.equal(seen.length, 2)
})

test('a server that has lost its only prefix of a port listens there on, until it closes', { skip }, async (t) => {
  ownUrlacl(t)
  const [kept, lost] = [await freePort(), await freePort()]
  const server = createServer(echo)
  await serve(t, server, [`http://*:${kept}/`, `http://*:${lost}/a/`])
  addReservation(`http://*:${lost}/`, kTheirs)
  await eventually(async () => await statusOf(lost, '/a/') === 503)
  assert.equal(await statusOf(kept, '/a/'), 200)
  assert.deepEqual(server.prefixes, [`http://*:${kept}/`])
  // What comes and goes beside it does not take its port along.
  deleteReservation(`http://*:${lost}/`)
  await eventually(async () => await statusOf(lost, '/a/') === 400)
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

test('a port goes on speaking TLS when its prefixes are lost', { skip }, async (t) => {
  ownUrlacl(t)
  const port = await freePort()
  const plain = await freePort()
  const server = createServer(echo)
  await serve(t, server, [`https://*:${port}/a/`, `http://*:${plain}/a/`], certificate('localhost'))
  const status = async () => (await tls.request(port, { path: '/a/' })).status
  assert.equal(await status(), 200)
  addReservation(`https://*:${port}/a/`, kTheirs)
  addReservation(`http://*:${plain}/a/`, kTheirs)
  await eventually(async () => await statusOf(plain, '/a/') === 503)
  assert.equal(await status(), 503)
  deleteReservation(`https://*:${port}/a/`)
  await server.addPrefix(`https://*:${port}/a/`)
  assert.equal(await status(), 200)
})
