'use strict'

// Goal: certificates, protocols, sessions and client certificates are negotiated as node:https does.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const { once } = require('node:events')
const nodeTls = require('node:tls')
const { certificate, encryptedKey, pfx, revocationList } = require('../../helpers/certificates')
const { connect, localhost, readAll, request, serve } = require('../../helpers/tls')

// As OpenSSL 3.0 and 3.5 name it.
const kHandshakeFailure = /^ERR_SSL_(SSLV3|SSL\/TLS)_ALERT_HANDSHAKE_FAILURE$/
const kGet = 'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'
const ca = () => certificate('test CA', { isCa: true })
const issued = (/** @type {string} */ name, kind = /** @type {'ec' | 'rsa'} */ ('ec')) => {
  ca()
  return certificate(name, { issuer: 'test CA', kind })
}

/**
 * The name in the certificate that a client gets.
 *
 * @param {number} port
 * @param {string | undefined} servername
 */
async function certifiedName (port, servername) {
  const socket = await connect(port, { servername, rejectUnauthorized: false, ALPNProtocols: ['http/1.1'] })
  const name = socket.getPeerCertificate().subject.CN
  const alpn = socket.alpnProtocol
  socket.end(kGet)
  await readAll(socket)
  return `${name} ${alpn}`
}

/**
 * @param {Promise<unknown>} attempt
 * @returns {Promise<string>} 'fine', or the error's code
 */
function outcome (attempt) {
  return attempt.then(() => 'fine', (error) => error.code)
}

// -- Server names ---------------------------------------------------------------------------------

test('addContext() gives hosts certificates of their own, with wildcards, the last one counting', async (t) => {
  const { port, server } = await serve(t)
  server.addContext('a.test', issued('a.test'))
  server.addContext('*.b.test', nodeTls.createSecureContext(issued('wild.b.test')))
  server.addContext('x.b.test', issued('x.b.test'))
  assert.equal(await certifiedName(port, 'a.test'), 'a.test http/1.1')
  assert.equal(await certifiedName(port, 'y.b.test'), 'wild.b.test http/1.1')
  assert.equal(await certifiedName(port, 'x.b.test'), 'x.b.test http/1.1')
  assert.equal(await certifiedName(port, 'z.y.b.test'), 'localhost http/1.1')
  assert.equal(await certifiedName(port, 'other.test'), 'localhost http/1.1')
  assert.equal(await certifiedName(port, ''), 'localhost http/1.1')
})

test('SNICallback chooses later, and what it does not choose is the server\'s own', async (t) => {
  /** @type {any[]} */
  const asked = []
  const context = nodeTls.createSecureContext(issued('chosen.test'))
  const { port } = await serve(t, {
    SNICallback (/** @type {string} */ name, /** @type {Function} */ callback) {
      asked.push(name)
      if (name === 'now.test') callback(null, context)
      else if (name === 'later.test') setTimeout(callback, 20, null, context)
      else callback(null, null)
    }
  })
  assert.equal(await certifiedName(port, 'now.test'), 'chosen.test http/1.1')
  assert.equal(await certifiedName(port, 'later.test'), 'chosen.test http/1.1')
  assert.equal(await certifiedName(port, 'none.test'), 'localhost http/1.1')
  assert.equal(await certifiedName(port, ''), 'localhost http/1.1')
  assert.deepEqual(asked, ['now.test', 'later.test', 'none.test'])
})

test('an error of SNICallback ends the handshake, and tlsClientError has it', async (t) => {
  const { port, server } = await serve(t, {
    SNICallback (/** @type {string} */ name, /** @type {Function} */ callback) { callback(new Error('no such host')) }
  })
  const failed = once(server, 'tlsClientError')
  await assert.rejects(connect(port))
  assert.equal((await failed)[0].message, 'no such host')
})

test('setSecureContext() while serving: new connections have the new certificate, old ones go on', async (t) => {
  const { port, server } = await serve(t, {}, (req, res) => { res.end(req.url) })
  const old = await connect(port)
  server.setSecureContext(issued('renewed.test'))
  assert.equal(await certifiedName(port, 'localhost'), 'renewed.test http/1.1')
  old.end('GET /old HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
  assert.match(await readAll(old), /\/old$/)
})

// -- Protocols ------------------------------------------------------------------------------------

test('the server prefers its own protocols, and refuses when none fits', async (t) => {
  const { port } = await serve(t, { ALPNProtocols: ['spdy', 'http/1.1', 'x'] })
  const chosen = async (/** @type {string[] | undefined} */ ALPNProtocols) => {
    const socket = await connect(port, { ALPNProtocols })
    socket.destroy()
    return socket.alpnProtocol
  }
  assert.equal(await chosen(['x', 'http/1.1']), 'http/1.1')
  assert.equal(await chosen(['x']), 'x')
  assert.equal(await chosen(undefined), false)
  assert.equal(await outcome(chosen(['none', 'such'])), 'ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL')
})

test('ALPNCallback chooses by server name and protocols', async (t) => {
  /** @type {any} */
  let asked
  const { port } = await serve(t, {
    ALPNCallback (/** @type {any} */ question) {
      asked = question
      return question.protocols.includes('last') ? 'last' : undefined
    }
  })
  const socket = await connect(port, { ALPNProtocols: ['first', 'last'] })
  socket.destroy()
  assert.equal(socket.alpnProtocol, 'last')
  assert.deepEqual(asked, { servername: 'localhost', protocols: ['first', 'last'] })
  assert.equal(await outcome(connect(port, { ALPNProtocols: ['first'] })), 'ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL')
})

test('versions and ciphers are those of the options', async (t) => {
  const old = await serve(t, { maxVersion: 'TLSv1.2', ciphers: 'ECDHE-ECDSA-AES128-GCM-SHA256' })
  const socket = await connect(old.port)
  assert.equal(socket.getProtocol(), 'TLSv1.2')
  assert.equal(socket.getCipher().name, 'ECDHE-ECDSA-AES128-GCM-SHA256')
  socket.destroy()
  assert.match(await outcome(connect(old.port, { ciphers: 'ECDHE-ECDSA-AES256-GCM-SHA384', maxVersion: 'TLSv1.2' })), kHandshakeFailure)
  const modern = await serve(t, { minVersion: 'TLSv1.3' })
  assert.equal(await outcome(connect(modern.port, { maxVersion: 'TLSv1.2' })), 'ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION')
})

test('ecdhCurve, sigalgs, dhparam, honorCipherOrder and secureOptions have their effect', async (t) => {
  const curve = await serve(t, { ecdhCurve: 'P-384' })
  const socket = await connect(curve.port, { ecdhCurve: 'P-256:P-384' })
  assert.deepEqual(/** @type {any} */ (socket.getEphemeralKeyInfo()).name, 'secp384r1')
  socket.destroy()
  assert.match(await outcome(connect(curve.port, { ecdhCurve: 'P-256' })), kHandshakeFailure)
  const signed = await serve(t, { ...certificate('localhost', { kind: 'rsa' }), sigalgs: 'RSA-PSS+SHA512' })
  const signedSocket = await connect(signed.port, { rejectUnauthorized: false })
  signedSocket.destroy()
  assert.match(await outcome(connect(signed.port, { rejectUnauthorized: false, sigalgs: 'RSA-PSS+SHA256' })), kHandshakeFailure)
  const ciphers = 'ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-ECDSA-AES128-GCM-SHA256'
  const clients = { maxVersion: /** @type {const} */ ('TLSv1.2'), ciphers: 'ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES256-GCM-SHA384' }
  for (const honorCipherOrder of [true, false]) {
    const ordered = await serve(t, { ciphers, honorCipherOrder })
    const client = await connect(ordered.port, clients)
    assert.match(client.getCipher().name, honorCipherOrder ? /256/ : /128/)
    client.destroy()
  }
  const { SSL_OP_NO_TLSv1_3: noTls13 } = require('node:crypto').constants
  const limited = await serve(t, { secureOptions: noTls13 })
  const limitedSocket = await connect(limited.port)
  assert.equal(limitedSocket.getProtocol(), 'TLSv1.2')
  limitedSocket.destroy()
  const dh = await serve(t, { ...certificate('localhost', { kind: 'rsa' }), dhparam: 'auto', ciphers: 'DHE-RSA-AES128-GCM-SHA256', maxVersion: 'TLSv1.2' })
  const dhSocket = await connect(dh.port, { rejectUnauthorized: false, ciphers: 'DHE-RSA-AES128-GCM-SHA256' })
  assert.equal(/** @type {any} */ (dhSocket.getEphemeralKeyInfo()).type, 'DH')
  dhSocket.destroy()
})

test('pfx, and a key with a passphrase', async (t) => {
  const { cert } = certificate('archived.test')
  const archive = await serve(t, { pfx: pfx('archived.test', 'secret'), passphrase: 'secret' })
  assert.equal(await certifiedName(archive.port, 'localhost'), 'archived.test http/1.1')
  const locked = await serve(t, { cert, key: encryptedKey('archived.test', 'word'), passphrase: 'word' })
  assert.equal(await certifiedName(locked.port, 'localhost'), 'archived.test http/1.1')
})

// -- Sessions -------------------------------------------------------------------------------------

/**
 * A client that comes twice: is its second connection a session that goes on?
 *
 * @param {number} port
 * @param {nodeTls.ConnectionOptions} options
 * @param {nodeTls.ConnectionOptions & { port?: number }} [again]
 */
async function resumes (port, options, { port: other = port, ...again } = {}) {
  const first = nodeTls.connect({ port, host: '127.0.0.1', servername: 'localhost', ca: localhost().cert, ...options })
  /** @type {Buffer | undefined} */
  let saved
  first.on('session', (session) => { saved = session })
  first.write(kGet)
  await readAll(first)
  const second = await connect(other, { ...options, ...again, session: saved })
  const isReused = second.isSessionReused()
  second.write(kGet)
  const text = await readAll(second)
  return `${isReused} ${text.split('\r\n\r\n')[1]}`
}

for (const maxVersion of /** @type {const} */ (['TLSv1.2', 'TLSv1.3'])) {
  test(`a session goes on with its ticket, on whatever lane (${maxVersion})`, async (t) => {
    const { port } = await serve(t, {}, (req, res) => { res.end(String(req.socket.isSessionReused())) })
    for (let i = 0; i < 4; i++) assert.equal(await resumes(port, { maxVersion }), 'true true')
  })

  test(`servers with the same ticketKeys have their sessions in common (${maxVersion})`, async (t) => {
    const ticketKeys = require('node:crypto').randomBytes(48)
    const one = await serve(t, { ticketKeys, sessionIdContext: 'same' })
    const two = await serve(t, { ticketKeys, sessionIdContext: 'same' })
    const three = await serve(t, { sessionIdContext: 'same' })
    assert.equal(await resumes(one.port, { maxVersion }, { port: two.port }), 'true ok')
    assert.equal(await resumes(one.port, { maxVersion }, { port: three.port }), 'false ok')
    three.server.setTicketKeys(ticketKeys)
    assert.equal(await resumes(one.port, { maxVersion }, { port: three.port }), 'true ok')
    const four = await serve(t, { sessionIdContext: 'same' })
    three.server.setTicketKeys(four.server.getTicketKeys())
    assert.equal(await resumes(three.port, { maxVersion }, { port: four.port }), 'true ok')
    assert.throws(() => three.server.setTicketKeys(Buffer.alloc(47)), /48|bytes/)
  })
}

// -- Client certificates --------------------------------------------------------------------------

const describe = (/** @type {any} */ req, /** @type {any} */ res) => {
  const { socket } = req
  res.end(JSON.stringify([socket.authorized, socket.authorizationError, socket.getPeerCertificate().subject?.CN ?? null]))
}

test('a client certificate of a known authority is authorized and can be looked at', async (t) => {
  const { port } = await serve(t, { requestCert: true, ca: ca().cert }, (req, res) => {
    const { socket } = req
    const plain = socket.getPeerCertificate()
    const detailed = socket.getPeerCertificate(true)
    res.end(JSON.stringify({
      authorized: socket.authorized,
      error: socket.authorizationError,
      subject: plain.subject.CN,
      issuer: plain.issuer.CN,
      fingerprint: plain.fingerprint256 === socket.getPeerX509Certificate().fingerprint256,
      raw: Buffer.isBuffer(plain.raw),
      none: plain.issuerCertificate === undefined,
      chain: detailed.issuerCertificate?.subject.CN,
      end: detailed.issuerCertificate?.issuerCertificate === detailed.issuerCertificate
    }))
  })
  const client = issued('client one')
  const { body } = await request(port, { ...client, cert: client.cert + ca().cert })
  assert.deepEqual(JSON.parse(body), {
    authorized: true, error: null, subject: 'client one', issuer: 'test CA', fingerprint: true, raw: true, none: true, chain: 'test CA', end: true
  })
})

test('without rejectUnauthorized a client is let in, and what is wrong is said', async (t) => {
  const { port } = await serve(t, { requestCert: true, rejectUnauthorized: false, ca: ca().cert }, describe)
  assert.equal((await request(port)).body, '[false,"UNABLE_TO_GET_ISSUER_CERT",null]')
  assert.equal((await request(port, certificate('stranger'))).body, '[false,"DEPTH_ZERO_SELF_SIGNED_CERT","stranger"]')
  assert.equal((await request(port, issued('friend'))).body, '[true,null,"friend"]')
})

test('with rejectUnauthorized a client without the right certificate is rejected', async (t) => {
  const { port, server } = await serve(t, { requestCert: true, ca: ca().cert }, describe)
  /** @type {string[]} */
  const errors = []
  server.on('tlsClientError', (/** @type {any} */ error) => errors.push(error.code))
  assert.match(await outcome(request(port)), /ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED|ECONNRESET|EPIPE/)
  assert.match(await outcome(request(port, certificate('stranger'))), /ECONNRESET|EPIPE/)
  assert.equal(await outcome(request(port, issued('friend'))), 'fine')
  assert.deepEqual(errors, ['ERR_SSL_PEER_DID_NOT_RETURN_A_CERTIFICATE', 'ECONNRESET'])
})

test('a certificate on the list of revoked ones is rejected', async (t) => {
  const good = issued('good client')
  const bad = issued('bad client')
  const { port } = await serve(t, { requestCert: true, rejectUnauthorized: false, ca: ca().cert, crl: revocationList('test CA', ['bad client']) }, describe)
  assert.equal((await request(port, bad)).body, '[false,"CERT_REVOKED","bad client"]')
  assert.equal((await request(port, good)).body, '[true,null,"good client"]')
})

test('a session that goes on still has its client certificate', async (t) => {
  const { port } = await serve(t, { requestCert: true, ca: ca().cert }, describe)
  for (const maxVersion of /** @type {const} */ (['TLSv1.2', 'TLSv1.3'])) {
    assert.equal(await resumes(port, { maxVersion, ...issued('returning client') }), 'true [true,null,"returning client"]')
  }
})
