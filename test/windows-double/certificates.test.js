'use strict'

// Goal: https:// prefixes need a certificate that the system has for them, and say so; bindings and reservations are
// made, listed and deleted with HttpSetServiceConfiguration() and its kin. The double has no TLS: what comes over an
// https:// prefix is in clear text.

const { afterEach, test } = require('node:test')
const assert = require('node:assert/strict')
const { once } = require('node:events')
const { setImmediate: turn } = require('node:timers/promises')
const { X509Certificate } = require('node:crypto')
const { rootCertificates } = require('node:tls')
const systemConfig = require('@httpsys/core-native/system-config')
const { loadBinding } = require('../../packages/core-native/lib/backend/binding')
const { http } = require('../helpers/backend')
const { dial, get, request, serve } = require('../helpers/client')
const { freePort } = require('../helpers/free-port')
const { forget, plan, report, showCertificate, showWhenAsked, slow } = require('../helpers/httpapi-double')

const kFileNotFound = 2
const kAccessDenied = 5
const kNotSupported = 50
const kInvalidParameter = 87
const kAlreadyExists = 183
const kHash = Buffer.alloc(20, 0xab)

const timed = { timeout: 20_000 }
const config = /** @type {import('../../packages/core-native/types/binding').SystemConfig} */ (loadBinding().systemConfig)

afterEach(async () => {
  if (process.env.HTTPAPI_DOUBLE_PORT === undefined) return
  await plan('')
  await slow(0)
  await showWhenAsked(Buffer.alloc(0))
})

/** The double is there from the first server on. @param {import('node:test').TestContext} t */
const ready = (t) => serve(t, http.createServer())

test('an https:// prefix without a certificate is an error with the command that binds one', timed, async (t) => {
  await ready(t)
  const { open } = await report()
  const port = await freePort()
  const server = http.createServer()
  server.listen(`https://localhost:${port}/`)
  const [error] = await once(server, 'error')
  assert.equal(error.code, 'ERR_HTTPSYS_SYSTEM_CERTIFICATE')
  assert.match(error.message, new RegExp(`netsh http add sslcert hostnameport=localhost:${port} certhash=`))
  assert.deepEqual((await report()).open, open)
})

for (const host of ['', 'localhost']) {
  test(`with a certificate for ${host || 'every address'} it is served, and sockets are encrypted`, timed, async (t) => {
    await ready(t)
    const port = await freePort()
    assert.equal(config.addCertificate(host, port, kHash, 'MY'), 0)
    t.after(() => config.deleteCertificate(host, port))
    const server = http.createServer((req, res) => {
      const { encrypted, getProtocol } = /** @type {any} */ (req.socket)
      res.end(`${encrypted} ${getProtocol?.call(req.socket)}`)
    })
    await serve(t, server, `https://localhost:${port}/`)
    assert.equal((await request({ port, headers: { Host: `localhost:${port}` } })).body, 'true TLSv1.3')
  })
}

test('updateCertificate() replaces a certificate that is bound', timed, async (t) => {
  await ready(t)
  const port = await freePort()
  const endpoint = `*:${port}`
  const hash = kHash.toString('hex')
  assert.throws(() => systemConfig.updateCertificate(endpoint, { hash }), { code: 'ENOENT' })
  systemConfig.addCertificate(endpoint, { hash })
  t.after(() => config.deleteCertificate('', port))
  const bound = () => systemConfig.listCertificates().find((entry) => entry.endpoint === endpoint)
  systemConfig.updateCertificate(endpoint, { hash: 'ab'.repeat(20), store: 'WebHosting' })
  assert.deepEqual(bound(), { endpoint, hash: 'ab'.repeat(20), store: 'WebHosting' })
  assert.throws(() => systemConfig.updateCertificate(endpoint, { hash: 'none' }), { code: 'ERR_INVALID_ARG_VALUE' })
  assert.deepEqual(bound(), { endpoint, hash: 'ab'.repeat(20), store: 'WebHosting' })
})

for (const [host, port] of /** @type {[string, number][]} */ ([['', 18443], ['127.0.0.1', 18444], ['::1', 18445], ['shop.example', 18446]])) {
  test(`a certificate for ${host || 'every address'} is added, found, listed and deleted`, timed, async (t) => {
    await ready(t)
    assert.equal(config.findCertificate(host, port), kFileNotFound)
    assert.equal(config.addCertificate(host, port, kHash, 'MY'), 0)
    assert.equal(config.addCertificate(host, port, kHash, 'MY'), kAlreadyExists)
    const found = /** @type {any} */ (config.findCertificate(host, port))
    assert.ok(Buffer.from(found.hash).equals(kHash))
    assert.equal(found.store, 'MY')
    const list = /** @type {any[]} */ (config.listCertificates())
    assert.deepEqual(list.map((entry) => [entry.host, entry.port]), [[host, port]])
    assert.equal(config.deleteCertificate(host, port), 0)
    assert.equal(config.deleteCertificate(host, port), kFileNotFound)
    assert.deepEqual(config.listCertificates(), [])
  })
}

test('a URL reservation is added, listed and deleted', timed, async (t) => {
  await ready(t)
  const prefix = 'http://+:18080/'
  assert.equal(config.addReservation(prefix, 'D:(A;;GX;;;WD)'), 0)
  assert.equal(config.addReservation(prefix, 'D:(A;;GX;;;WD)'), kAlreadyExists)
  assert.deepEqual(config.listReservations(), [{ prefix, sddl: 'D:(A;;GX;;;WD)' }])
  assert.equal(config.deleteReservation(prefix), 0)
  assert.equal(config.deleteReservation(prefix), kFileNotFound)
  assert.deepEqual(config.listReservations(), [])
})

test('what the system refuses is told by its number', timed, async (t) => {
  await ready(t)
  for (const status of [kAccessDenied, kInvalidParameter]) {
    await plan(`HttpSetServiceConfiguration:1:${status}:2,HttpDeleteServiceConfiguration:1:${status}:2,HttpQueryServiceConfiguration:1:${status}:3`)
    assert.equal(config.addCertificate('', 18447, kHash, 'MY'), status)
    assert.equal(config.addReservation('http://+:18080/', 'D:(A;;GX;;;WD)'), status)
    assert.equal(config.deleteCertificate('', 18447), status)
    assert.equal(config.deleteReservation('http://+:18080/'), status)
    assert.equal(config.findCertificate('', 18447), status)
    assert.equal(config.listCertificates(), status)
    assert.equal(config.listReservations(), status)
  }
})

test('whoever may not look for a certificate listens all the same', timed, async (t) => {
  await ready(t)
  const port = await freePort()
  await plan(`HttpQueryServiceConfiguration:1:${kAccessDenied}:10`)
  await serve(t, http.createServer(), `https://localhost:${port}/`)
})

test('the certificate that a client has shown is that of its socket', timed, async (t) => {
  await ready(t)
  // Any one will do: the double believes it.
  const shown = new X509Certificate(rootCertificates[0])
  const port = await freePort()
  assert.equal(config.addCertificate('', port, kHash, 'MY'), 0)
  t.after(() => config.deleteCertificate('', port))
  await serve(t, http.createServer((req, res) => {
    const { fingerprint256 = 'none' } = /** @type {import('node:tls').TLSSocket} */ (req.socket).getPeerCertificate()
    res.end(fingerprint256)
  }), `https://localhost:${port}/`)
  const ask = async () => (await request({ port, headers: { Host: `localhost:${port}` } })).body
  assert.equal(await ask(), 'none')
  await showCertificate(shown.raw)
  t.after(() => showCertificate(Buffer.alloc(0)))
  assert.equal(await ask(), shown.fingerprint256)
})

/**
 * A server that asks its clients for certificates; rejectUnauthorized with /strict.
 *
 * @param {import('node:test').TestContext} t
 * @param {(outcome: any[]) => void} [hear]
 */
async function serveAsking (t, hear = () => {}) {
  await ready(t)
  const port = await freePort()
  assert.equal(config.addCertificate('', port, kHash, 'MY'), 0)
  t.after(() => config.deleteCertificate('', port))
  await serve(t, http.createServer((req, res) => {
    const socket = /** @type {import('node:tls').TLSSocket} */ (req.socket)
    socket.renegotiate({ requestCert: true, rejectUnauthorized: req.url === '/strict' }, (/** @type {any} */ error) => {
      const { fingerprint256 = 'none' } = socket.getPeerCertificate() ?? {}
      const outcome = [error?.code ?? null, error?.status ?? null, socket.authorized, fingerprint256]
      hear(outcome)
      res.end(JSON.stringify(outcome))
    })
  }), `https://localhost:${port}/`)
  return port
}

/** @param {number} port @param {string} [path] */
const askedOutcome = async (port, path = '/') => JSON.parse((await request({ port, path, headers: { Host: `localhost:${port}` } })).body)

test('renegotiate() asks the client for a certificate, which is then that of its socket', timed, async (t) => {
  const port = await serveAsking(t)
  assert.deepEqual(await askedOutcome(port), [null, null, false, 'none'])
  const shown = new X509Certificate(rootCertificates[0])
  await showWhenAsked(shown.raw)
  assert.deepEqual(await askedOutcome(port), [null, null, true, shown.fingerprint256])
  assert.deepEqual(await askedOutcome(port, '/strict'), [null, null, true, shown.fingerprint256])
  await slow(20)
  assert.deepEqual(await askedOutcome(port), [null, null, true, shown.fingerprint256])
  // Longer than what HTTP.SYS is asked with first.
  await showWhenAsked(Buffer.concat([shown.raw, Buffer.alloc(10_000)]))
  assert.deepEqual(await askedOutcome(port), [null, null, true, shown.fingerprint256])
})

test('with rejectUnauthorized a client without a certificate loses its connection', timed, async (t) => {
  const heard = /** @type {any[]} */ ([])
  const port = await serveAsking(t, (outcome) => heard.push(outcome[0]))
  await assert.rejects(askedOutcome(port, '/strict'), { code: 'ECONNRESET' })
  assert.deepEqual(heard, ['ERR_TLS_RENEGOTIATE'])
})

test('what HTTP.SYS says against asking is an error with its number, and the connection stays', timed, async (t) => {
  const port = await serveAsking(t)
  for (const late of ['', ':1:late']) {
    await plan(`HttpReceiveClientCertificate:1:${kNotSupported}${late}`)
    assert.deepEqual(await askedOutcome(port), ['ERR_TLS_RENEGOTIATE', kNotSupported, false, 'none'])
  }
})

test('whoever waits for the certificate of a client that leaves hears of it', timed, async (t) => {
  /** @type {(outcome: any[]) => void} */
  let hear = () => {}
  const heard = new Promise((resolve) => { hear = resolve })
  const port = await serveAsking(t, (outcome) => hear(outcome))
  await forget()
  await showWhenAsked(null)
  const wire = await dial(t, port)
  wire.write(get('/').replace('Host: a', `Host: localhost:${port}`))
  while ((await report()).calls.HttpReceiveClientCertificate !== 1) await turn()
  wire.socket.destroy()
  assert.deepEqual((await heard).slice(0, 2), ['ERR_TLS_RENEGOTIATE', null])
})
