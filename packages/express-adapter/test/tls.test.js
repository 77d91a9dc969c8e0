'use strict'

// Goal: options of TLS mean HTTPS wherever an adapter takes options; they are never ignored in silence.

const assert = require('node:assert/strict')
const { once } = require('node:events')
const fs = require('node:fs')
const https = require('node:https')
const net = require('node:net')
const os = require('node:os')
const path = require('node:path')
const { test } = require('node:test')
const { createAdapter } = require('..')
const { certificate } = require('../../../test/helpers/certificates')
const { freePort } = require('../../../test/helpers/free-port')

const pair = () => certificate('localhost')
const answer = (/** @type {any} */ req, /** @type {any} */ res) => res.end(`encrypted: ${req.socket.encrypted === true}`)

/** @param {any} t @param {any} adapter @param {...any} args of listen() @returns {Promise<any>} the address */
async function listen (t, adapter, ...args) {
  adapter.listen(...args)
  t.after(() => {
    adapter.server.closeAllConnections()
    adapter.close()
  })
  if (!adapter.server.listening) await once(adapter.server, 'listening')
  return adapter.server.address()
}

/** @param {any} where a port, or a Unix socket @param {any} [options] @returns {Promise<string>} the body, or the code of the error */
function get (where, options = {}) {
  const to = typeof where === 'string' ? { socketPath: where } : { port: where, host: '127.0.0.1' }
  return new Promise((resolve) => {
    https.get({ ...to, servername: 'localhost', ca: pair().cert, agent: false, ...options }, (res) => {
      let text = ''
      res.setEncoding('latin1').on('data', (piece) => { text += piece }).on('end', () => resolve(text))
    }).on('error', (error) => resolve(/** @type {any} */ (error).code))
  })
}

/** @param {number} port @returns {Promise<string>} what plain HTTP is answered */
async function getPlain (port) {
  const socket = net.connect(port, '127.0.0.1').on('error', () => {})
  socket.write('GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
  let text = ''
  socket.setEncoding('latin1').on('data', (piece) => { text += piece })
  await once(socket, 'close')
  return text
}

/** @type {[string, () => any, any[]][]} */
const kForms = [
  ['createAdapter(app, { key, cert }).listen(port)', () => createAdapter(answer, pair()), [0]],
  ['createAdapter(app, { key, cert }).listen(port, options)', () => createAdapter(answer, pair()), [0, { host: '127.0.0.1' }]],
  ['adapter.listen(port, { key, cert })', () => createAdapter(answer), [0, pair()]],
  ['adapter.listen("port", { key, cert })', () => createAdapter(answer), ['0', pair()]],
  ['adapter.listen({ port, key, cert })', () => createAdapter(answer), [{ port: 0, host: '127.0.0.1', ...pair() }]],
  ['key in createAdapter(), cert in listen()', () => createAdapter(answer, { minVersion: 'TLSv1.3' }), [0, pair()]]
]

/** As a class of the application has them. */
class Config {
  get key () { return pair().key }
  get cert () { return pair().cert }
}

for (const [how, options] of /** @type {[string, any][]} */ ([['inherited', Object.create(pair())], ['accessors of a class', new Config()]])) {
  kForms.push(
    [`createAdapter(app, options).listen(port), ${how},`, () => createAdapter(answer, options), [0]],
    [`adapter.listen(port, options), ${how},`, () => createAdapter(answer), [0, options]],
    [`adapter.listen({ port, … }), ${how},`, () => createAdapter(answer), [Object.assign(Object.create(options), { port: 0 })]],
    [`adapter.listen({ key, cert }) with its port ${how}`, () => createAdapter(answer), [Object.assign(Object.create({ port: 0 }), pair())]])
}

for (const [title, create, args] of kForms) {
  test(`${title} serves HTTPS and no plain HTTP`, async (t) => {
    const { port } = await listen(t, create(), ...args)
    assert.equal(await get(port), 'encrypted: true')
    assert.doesNotMatch(await getPlain(port), /200 OK/)
  })
}

test('options of TLS that listen() would not read are refused, whatever the adapter was created with', () => {
  const terms = { requestCert: true, rejectUnauthorized: true }
  const create = () => createAdapter(answer, pair())
  for (const args of [[0, '127.0.0.1', terms], [0, 511, terms], [{ port: 0 }, terms], [{ port: 0 }, () => {}, terms], [undefined, terms], [0, {}, terms]]) {
    for (const options of [terms, Object.create(terms)]) {
      const given = args.map((arg) => arg === terms ? options : arg)
      for (const adapter of [create(), createAdapter(answer)]) {
        assert.throws(() => adapter.listen(...given), { code: 'ERR_HTTPSYS_OPTION', option: 'requestCert', message: /it belongs to listen\({ port, host, … }\)/ })
        assert.equal(adapter.server.listening, false)
      }
    }
  }
})

test('options of TLS beside http:// prefixes are refused, inherited ones, too', () => {
  const prefix = 'http://127.0.0.1:1/'
  for (const options of [pair(), Object.create(pair()), new Config()]) {
    assert.throws(() => createAdapter(answer, options).listen(prefix), { code: 'ERR_HTTPSYS_OPTION', option: 'key' })
    assert.throws(() => createAdapter(answer).listen([prefix], options), { code: 'ERR_HTTPSYS_OPTION', option: 'key' })
  }
})

test('a Unix socket is spoken TLS on, too', async (t) => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'httpsys-'))
  t.after(() => fs.rmSync(folder, { recursive: true }))
  await listen(t, createAdapter(answer), path.join(folder, 'a'), pair())
  assert.equal(await get(path.join(folder, 'a')), 'encrypted: true')
})

test('an adapter that is created with a certificate has an https.Server', () => {
  assert.ok(createAdapter(answer, pair()).server instanceof https.Server)
  assert.ok(!(createAdapter(answer).server instanceof https.Server))
})

test('Express is aligned to a server with TLS', async (t) => {
  const app = require('express')()
  app.get('/', (/** @type {any} */ req, /** @type {any} */ res) => { res.send(`${req.protocol} ${req.secure}`) })
  const adapter = createAdapter(app, pair())
  t.after(() => adapter.uninstall())
  assert.equal(await get((await listen(t, adapter, 0)).port), 'https true')
})

test('what listen() says about client certificates counts, wherever the certificate was given', async (t) => {
  const authority = certificate('authority of clients', { isCa: true })
  const client = certificate('a client', { issuer: 'authority of clients' })
  const terms = { requestCert: true, rejectUnauthorized: true, ca: authority.cert }
  const prefix = async () => [`https://127.0.0.1:${await freePort()}/`]
  for (const [created, args] of /** @type {[any, any[]][]} */ ([
    [{ ...pair(), ...terms }, [0]],
    [pair(), [0, terms]],
    [terms, [0, pair()]],
    [undefined, [0, { ...pair(), ...terms }]],
    [pair(), [...await prefix(), terms]],
    [terms, [...await prefix(), pair()]]
  ])) {
    const { port } = await listen(t, createAdapter(answer, created), ...args)
    assert.notEqual(await get(port), 'encrypted: true')
    assert.equal(await get(port, client), 'encrypted: true')
  }
})

test('a version given to createAdapter() holds beside a certificate given to listen()', async (t) => {
  const { port } = await listen(t, createAdapter(answer, { minVersion: 'TLSv1.3' }), 0, pair())
  assert.notEqual(await get(port, { maxVersion: 'TLSv1.2' }), 'encrypted: true')
})

test('after close() an adapter listens without TLS when it is given none', async (t) => {
  const adapter = createAdapter(answer)
  adapter.listen(0, pair())
  await once(adapter.server, 'listening')
  await new Promise((resolve) => adapter.close(resolve))
  if (require('@httpsys/core-native').backend === 'node') return // Its listeners are those of TLS from then on.
  const { port } = await listen(t, adapter, 0)
  assert.match(await getPlain(port), /encrypted: false$/)
})

test('options of TLS beside http:// prefixes alone are refused', () => {
  for (const [created, args] of /** @type {[any, any[]][]} */ ([
    [pair(), ['http://127.0.0.1:1/']],
    [pair(), [['http://127.0.0.1:1/', 'http://127.0.0.1:2/']]],
    [pair(), [{ prefix: 'http://127.0.0.1:1/' }]],
    [{ devCert: false }, [{ prefixes: ['http://127.0.0.1:1/'] }]],
    [undefined, ['http://127.0.0.1:1/', pair()]],
    [undefined, ['http://127.0.0.1:1/', { devCert: true }]]
  ])) {
    assert.throws(() => createAdapter(answer, created).listen(...args), { code: 'ERR_HTTPSYS_OPTION' })
  }
})

test('options of TLS without any certificate are refused', async (t) => {
  const before = process.env.HTTPSYS_SSLCERT
  process.env.HTTPSYS_SSLCERT = path.join(os.tmpdir(), 'httpsys-nowhere', 'sslcert.json')
  t.after(() => { before === undefined ? delete process.env.HTTPSYS_SSLCERT : process.env.HTTPSYS_SSLCERT = before })
  for (const [created, args] of /** @type {[any, any[]][]} */ ([
    [{ requestCert: true }, [0]],
    [{ devCert: false }, [1]],
    [undefined, [0, { minVersion: 'TLSv1.3' }]],
    [undefined, ['/nowhere/s', { ca: pair().cert }]],
    [{ ca: pair().cert }, ['https://127.0.0.1:1/']]
  ])) {
    await assert.rejects(once(createAdapter(answer, created).listen(...args), 'listening'), { code: 'ERR_HTTPSYS_TLS_CERTIFICATE' })
  }
})

test('devCert beside a certificate is refused', () => {
  assert.throws(() => createAdapter(answer, { ...pair(), devCert: true }), { code: 'ERR_HTTPSYS_OPTION', option: 'devCert' })
})

test('what is undefined is not given', async (t) => {
  const { port } = await listen(t, createAdapter(answer, { key: undefined, cert: undefined }), 0, { key: undefined })
  assert.match(await getPlain(port), /encrypted: false$/)
})
