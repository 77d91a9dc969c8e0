'use strict'

// Goal: what TLS of the engine does beyond node:https, or more strictly.

const { after, test } = require('node:test')
const assert = require('node:assert/strict')
const fs = require('node:fs')
const os = require('node:os')
const { spawn } = require('node:child_process')
const { once } = require('node:events')
const nodeTls = require('node:tls')
const path = require('node:path')
const core = require('@httpsys/core-native')
const { certificate } = require('../helpers/certificates')
const { freePort } = require('../helpers/free-port')
const { connect, localhost, readAll, request, serve } = require('../helpers/tls')
const { silence } = require('../helpers/waiting')

// Before the first server: then it is opened.
const kLogFolder = fs.mkdtempSync(path.join(os.tmpdir(), 'httpsys-log-'))
const kLog = path.join(kLogFolder, 'error.log')
process.env.HTTPSYS_ERROR_LOG = kLog
after(() => fs.rmSync(kLogFolder, { recursive: true }))

const { https } = /** @type {any} */ (core)
/** @param {import('node:test').TestContext} t */
function withoutBindings (t) {
  const { HTTPSYS_SSLCERT: before } = process.env
  process.env.HTTPSYS_SSLCERT = path.join(__dirname, 'nowhere', 'sslcert.json')
  t.after(() => { before === undefined ? delete process.env.HTTPSYS_SSLCERT : process.env.HTTPSYS_SSLCERT = before })
}

function withResolvers () {
  /** @type {any} */
  const both = {}
  both.promise = new Promise((resolve) => { both.resolve = resolve })
  return both
}

const kGet = 'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'

for (const maxVersion of /** @type {const} */ (['TLSv1.2', 'TLSv1.3'])) {
  test(`a ticket of host A does not stand for the client certificate that host B asks for (${maxVersion})`, async (t) => {
    const authorities = ['A', 'B'].map((name) => certificate(`authority ${name}`, { isCa: true }))
    const clients = ['A', 'B'].map((name) => certificate(`client of ${name}`, { issuer: `authority ${name}` }))
    const { port, server } = await serve(t, { requestCert: true, rejectUnauthorized: false }, (req, res) => {
      res.end(`${req.socket.authorized} ${req.socket.isSessionReused()} ${req.socket.getPeerCertificate().subject?.CN}`)
    })
    server.addContext('a.test', { ...localhost(), ca: authorities[0].cert })
    server.addContext('b.test', { ...localhost(), ca: authorities[1].cert })
    /** @type {Buffer | undefined} */
    let session
    const visit = async (/** @type {string} */ servername, /** @type {any} */ options = {}) => {
      const socket = nodeTls.connect({ port, host: '127.0.0.1', servername, rejectUnauthorized: false, maxVersion, ...options })
      socket.on('session', (given) => { session = given })
      socket.write(kGet)
      return (await readAll(socket)).split('\r\n\r\n')[1]
    }
    assert.equal(await visit('a.test', clients[0]), 'true false client of A')
    const ofA = session
    assert.equal(await visit('a.test', { ...clients[0], session: ofA }), 'true true client of A')
    assert.equal(await visit('b.test', { session: ofA }), 'false false undefined')
    assert.equal(await visit('b.test', { ...clients[0], session: ofA }), 'false false client of A')
    assert.equal(await visit('b.test', clients[1]), 'true false client of B')
    // Nor does one from before the policy changed.
    server.addContext('a.test', { ...localhost(), ca: authorities[1].cert })
    assert.equal(await visit('a.test', { session: ofA }), 'false false undefined')
  })
}

test('host names have no case', async (t) => {
  const { port, server } = await serve(t)
  server.addContext('Upper.Test', certificate('upper.test'))
  const socket = await connect(port, { servername: 'uPPER.tEST', rejectUnauthorized: false })
  assert.equal(socket.getPeerCertificate().subject.CN, 'upper.test')
  socket.destroy()
})

test('options that lanes do not have are refused by name', () => {
  assert.throws(() => https.createServer({ pskCallback () {} }), { code: 'ERR_HTTPSYS_TLS_OPTION', option: 'pskCallback' })
  assert.throws(() => https.createServer({ pskIdentityHint: 'x' }), { code: 'ERR_HTTPSYS_TLS_OPTION', option: 'pskIdentityHint' })
  assert.throws(() => https.createServer({ enableTrace: true }), { code: 'ERR_HTTPSYS_TLS_OPTION', option: 'enableTrace' })
  assert.throws(() => core.createServer().listen(/** @type {any} */ ('https://127.0.0.1:1/'), /** @type {any} */ ({ ...localhost(), pskCallback () {} })), { code: 'ERR_HTTPSYS_TLS_OPTION' })
  assert.throws(() => core.createServer().listen(/** @type {any} */ ('http://127.0.0.1:1/'), /** @type {any} */ (localhost())), { code: 'ERR_HTTPSYS_OPTION' })
  assert.throws(() => core.createServer().listen(/** @type {any} */ ('https://127.0.0.1:1/'), /** @type {any} */ ({ rejectUnauthorised: false })), { code: 'ERR_HTTPSYS_OPTION', message: /did you mean "rejectUnauthorized"/ })
})

test('what listen() says about client certificates counts on an https.Server that was created without saying it', async (t) => {
  const authority = certificate('authority of listen()', { isCa: true })
  const client = certificate('client of listen()', { issuer: 'authority of listen()' })
  const server = https.createServer(localhost(), (/** @type {any} */ req, /** @type {any} */ res) => { res.end('ok') })
  t.after(() => { server.closeAllConnections(); server.close() })
  const port = await freePort()
  server.listen(`https://127.0.0.1:${port}/`, { requestCert: true, rejectUnauthorized: true, ca: authority.cert })
  await once(server, 'listening')
  await assert.rejects(request(port))
  assert.equal((await request(port, client)).body, 'ok')
})

test('versions, hosts and callbacks that createServer() was given hold beside a certificate of listen()', async (t) => {
  const server = https.createServer({ ...localhost(), minVersion: 'TLSv1.3' }, (/** @type {any} */ req, /** @type {any} */ res) => { res.end('ok') })
  server.addContext('added.test', certificate('added.test'))
  t.after(() => { server.closeAllConnections(); server.close() })
  const port = await freePort()
  server.listen(`https://127.0.0.1:${port}/`, certificate('other.test'))
  await once(server, 'listening')
  await assert.rejects(connect(port, { maxVersion: 'TLSv1.2', rejectUnauthorized: false }))
  for (const [servername, found] of [['localhost', 'other.test'], ['added.test', 'added.test']]) {
    const socket = await connect(port, { servername, rejectUnauthorized: false })
    assert.equal(socket.getPeerCertificate().subject.CN, found)
    socket.destroy()
  }
})

test('an https.Server without a certificate does not listen on an https:// prefix that none is bound to', async (t) => {
  withoutBindings(t)
  await assert.rejects(once(https.createServer().listen('https://127.0.0.1:1/'), 'listening'), { code: 'ERR_HTTPSYS_TLS_CERTIFICATE' })
})

test('servers of Node\'s lenient parser take no prefixes, which they would ignore with their scheme', async (t) => {
  const server = core.createServer({ insecureHTTPParser: true })
  for (const args of [['http://127.0.0.1:1/a/'], ['https://127.0.0.1:1/a/', localhost()], [{ port: 0, queueName: 'q' }]]) {
    assert.throws(() => /** @type {any} */ (server).listen(...args), { code: 'ERR_HTTPSYS_LISTEN_ARGS', message: /insecureHTTPParser/ })
  }
  t.after(() => server.close())
  server.listen(0)
  await once(server, 'listening')
  await assert.rejects(/** @type {any} */ (server).addPrefix('http://127.0.0.1:1/a/'), { code: 'ERR_HTTPSYS_PREFIX_STATE' })
})

test('a server whose own listener for connections was removed takes no prefixes', async (t) => {
  for (const [server, event] of /** @type {const} */ ([[core.createServer(), 'connection'], [https.createServer(localhost()), 'secureConnection']])) {
    server.removeAllListeners(event)
    assert.throws(() => /** @type {any} */ (server).listen('http://127.0.0.1:1/a/'), { code: 'ERR_HTTPSYS_LISTEN_ARGS', message: RegExp(`'${event}' listener was removed`) })
    t.after(() => server.close())
    server.listen(0)
    await once(server, 'listening')
    await assert.rejects(/** @type {any} */ (server).addPrefix('http://127.0.0.1:1/a/'), { code: 'ERR_HTTPSYS_PREFIX_STATE' })
  }
})

test('an element of certificates has only what counts for one host', () => {
  const withHost = (/** @type {any} */ entry) => () => https.createServer({ ...localhost(), certificates: [{ host: 'a.test', ...localhost(), ...entry }] })
  withHost({})()
  assert.throws(withHost({ requestCert: true }), { code: 'ERR_HTTPSYS_OPTION', option: 'requestCert', message: /it belongs to the server/ })
  assert.throws(withHost({ minVersion: 'TLSv1.3' }), { code: 'ERR_HTTPSYS_OPTION', option: 'minVersion' })
  assert.throws(withHost({ certt: 'x' }), { code: 'ERR_HTTPSYS_OPTION', message: /did you mean "cert"\?/ })
})

test('a context of SNICallback that is none ends the handshake with ERR_TLS_INVALID_CONTEXT', async (t) => {
  const { port, server } = await serve(t, { SNICallback: (/** @type {string} */ name, /** @type {Function} */ callback) => callback(null, {}) })
  const failed = once(server, 'tlsClientError')
  await assert.rejects(connect(port))
  assert.equal((await failed)[0].code, 'ERR_TLS_INVALID_CONTEXT')
})

test('a protocol of ALPNCallback that was not offered ends the handshake', async (t) => {
  const { port, server } = await serve(t, { ALPNCallback: () => 'invented' })
  const failed = once(server, 'tlsClientError')
  await assert.rejects(connect(port, { ALPNProtocols: ['offered'] }))
  assert.equal((await failed)[0].code, 'ERR_TLS_ALPN_CALLBACK_INVALID_RESULT')
})

test('a client that leaves while SNICallback thinks leaves nothing behind', async (t) => {
  const { promise: asked, resolve: ask } = /** @type {any} */ (withResolvers())
  const { port } = await serve(t, { SNICallback: (/** @type {string} */ name, /** @type {Function} */ callback) => ask(callback) })
  const socket = nodeTls.connect({ port, host: '127.0.0.1', servername: 'slow.test', rejectUnauthorized: false })
  socket.on('error', () => {})
  const late = await asked
  socket.destroy()
  // Nothing tells JavaScript that a client has left within its handshake; an answer that is early is harmless, too.
  await silence(30)
  late(null, nodeTls.createSecureContext(localhost()))
  late(null, null)
  const other = await connect(port, { servername: '', rejectUnauthorized: false })
  other.destroy()
})

test('plain HTTP on a TLS port is told so in words, and is in the error log', async (t) => {
  const { port } = await serve(t)
  const socket = require('node:net').connect(port, '127.0.0.1')
  socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
  assert.match(await readAll(socket), /^HTTP\/1\.1 400 Bad Request\r\n[^]*This port speaks HTTPS, not plain HTTP\n$/)
  const lines = fs.readFileSync(kLog, 'latin1').split('\n').filter((line) => !line.startsWith('#') && line.includes(` ${port} `))
  assert.match(lines.join('\n'), /^\S+ \S+ \S*127\.0\.0\.1 \d+ \S*127\.0\.0\.1 \d+ - - - 400 \d+ BadRequest$/)
})

test('a TLS port is its server\'s alone', async (t) => {
  const { port } = await serve(t)
  const other = core.createServer()
  other.listen(/** @type {any} */ (`http://*:${port}/other/`))
  const [error] = await once(other, 'error')
  assert.equal(error.code, 'EADDRINUSE')
  assert.equal((await request(port)).body, 'ok')
})

test('addPrefix() takes https prefixes of a server that has TLS, and refuses them on one that has not', async (t) => {
  const { server, port } = await serve(t, {}, (req, res) => { res.end(req.url) })
  assert.deepEqual(server.prefixes, [`https://*:${port}/`])
  const plain = core.createServer().listen(0)
  t.after(() => plain.close())
  await once(plain, 'listening')
  await assert.rejects(/** @type {any} */ (plain).addPrefix('https://127.0.0.1:1/'), { code: 'ERR_HTTPSYS_TLS_CERTIFICATE' })
})

test('a client that wishes to renegotiate is refused, and others are served', async (t) => {
  const { port } = await serve(t)
  const socket = await connect(port, { maxVersion: 'TLSv1.2' })
  socket.on('error', () => {})
  await assert.rejects(new Promise((resolve, reject) => {
    socket.renegotiate({}, (error) => error ? reject(error) : resolve(null))
    socket.on('error', reject).on('close', () => reject(new Error('closed')))
  }))
  assert.equal((await request(port)).body, 'ok')
})

test('register puts https.createServer on the engine', async (t) => {
  const program = `
    const https = require('node:https')
    const { key, cert } = JSON.parse(process.env.PAIR)
    const server = https.createServer({ key, cert }, (req, res) => { res.end('registered'); server.close() })
    server.listen(0, () => process.send({ port: server.address().port, is: server instanceof https.Server }))
    process.on('exit', () => console.log(JSON.stringify(require(${JSON.stringify(require.resolve('@httpsys/core-native/register'))}).served)))`
  const child = spawn(process.execPath, ['--require', require.resolve('@httpsys/core-native/register'), '-e', program], {
    cwd: path.join(__dirname, '..', '..'), env: { ...process.env, HTTPSYS_BACKEND: '', PAIR: JSON.stringify(localhost()) }, stdio: ['ignore', 'pipe', 'inherit', 'ipc']
  })
  t.after(() => child.kill())
  const output = readAll(/** @type {any} */ (child.stdout))
  const [{ port, is }] = await once(child, 'message')
  assert.ok(is)
  assert.equal((await request(port, { headers: { connection: 'close' } })).body, 'registered')
  child.disconnect()
  assert.deepEqual(JSON.parse(await output), { servers: 1, connections: 1, requests: 1 })
})
