'use strict'

// Goal: an https server tells of sessions, certificates' status and secrets as node:https does, and waits where it waits.
// Method: the same clients against both; openssl asks for OCSP, which Node's client reads.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const { once } = require('node:events')
const nodeTls = require('node:tls')
const { X509Certificate, constants } = require('node:crypto')
const { certificate } = require('../../helpers/certificates')
const { connect, localhost, readAll, request, serve } = require('../../helpers/tls')
const { until } = require('../../helpers/waiting')

const kGet = 'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'

/**
 * One request, and the last session that the client could go on with.
 *
 * @param {number} port
 * @param {any} [options]
 */
async function visit (port, options = {}) {
  const socket = await connect(port, options)
  let session = /** @type {Buffer | undefined} */ (socket.getSession())
  socket.on('session', (given) => { session = given })
  const isReused = socket.isSessionReused()
  socket.end(kGet)
  const text = await readAll(socket)
  return { isReused, session, text }
}

for (const [maxVersion, count] of /** @type {const} */ ([['TLSv1.2', 1], ['TLSv1.3', 2]])) {
  test(`newSession tells of each session, and the client has it only after the callback (${maxVersion})`, async (t) => {
    const { port, server } = await serve(t, { maxVersion, secureOptions: constants.SSL_OP_NO_TICKET })
    const order = /** @type {string[]} */ ([])
    const kept = /** @type {[Buffer, Buffer][]} */ ([])
    server.on('secureConnection', () => order.push('secureConnection'))
    server.on('newSession', (/** @type {Buffer} */ id, /** @type {Buffer} */ data, /** @type {() => void} */ done) => {
      assert.ok(Buffer.isBuffer(id) && Buffer.isBuffer(data))
      kept.push([id, data])
      setTimeout(() => {
        order.push('kept')
        done()
        done()
      }, 20)
    })
    const { text } = await visit(port, { maxVersion })
    assert.match(text, /^HTTP\/1\.1 200 /)
    // Of several sessions Node waits for the first one.
    assert.deepEqual(count === 1 ? order : order.sort(), [...Array(count).fill('kept'), 'secureConnection'])
    assert.deepEqual(kept.map(([id]) => id.length), Array(count).fill(32))
  })
}

const kSilent = /** @type {Record<string, string>} */ ({
  'who says nothing': '',
  'whose request is not complete': 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\n',
  'whose request nobody answers yet': kGet
})

/** The ways in which a handshake waits for others: for nobody, for JavaScript, or for the client's certificate. */
const kWaits = /** @type {Record<string, any>} */ ({
  nobody: {},
  SNICallback: { SNICallback: (/** @type {string} */ _name, /** @type {Function} */ done) => setImmediate(() => done(null, null)) },
  'a client certificate': { requestCert: true, rejectUnauthorized: false }
})

for (const [who, first] of Object.entries(kSilent)) {
  test(`the tickets of TLS 1.3 do not wait for an answer: a client has them ${who}`, async (t) => {
    for (const [awaited, options] of Object.entries(kWaits)) {
      const { port } = await serve(t, options, () => {})
      const socket = nodeTls.connect({ port, host: '127.0.0.1', servername: 'localhost', ca: localhost().cert, minVersion: 'TLSv1.3' })
      let tickets = 0
      let bytes = 0
      socket.on('session', () => { tickets++ })
      socket.on('data', (data) => { bytes += data.length })
      socket.on('close', () => { tickets = NaN })
      // Leaves with the end of the handshake.
      if (first !== '') socket.write(first)
      await until(() => tickets === 2, `both tickets of a handshake that waits for ${awaited}`)
      assert.equal(bytes, 0)
      socket.destroy()
    }
  })
}

test('resumeSession gives sessions back, and what it does not have begins anew', async (t) => {
  const options = { maxVersion: 'TLSv1.2', secureOptions: constants.SSL_OP_NO_TICKET }
  const { port, server } = await serve(t, options)
  const store = new Map()
  const asked = /** @type {string[]} */ ([])
  server.on('newSession', (/** @type {Buffer} */ id, /** @type {Buffer} */ data, /** @type {() => void} */ done) => {
    store.set(id.toString('hex'), data)
    done()
  })
  server.on('resumeSession', (/** @type {Buffer} */ id, /** @type {Function} */ answer) => {
    const data = store.get(id.toString('hex'))
    asked.push(data === undefined ? 'unknown' : 'known')
    setImmediate(() => answer(null, data ?? null))
  })
  const first = await visit(port, options)
  assert.deepEqual([first.isReused, asked], [false, []])
  const second = await visit(port, { ...options, session: first.session })
  assert.deepEqual([second.isReused, asked], [true, ['known']])
  store.clear()
  const third = await visit(port, { ...options, session: first.session })
  assert.deepEqual([third.isReused, asked], [false, ['known', 'unknown']])
  assert.match(third.text, /^HTTP\/1\.1 200 /)
})

test('an error of resumeSession ends the handshake, and tlsClientError has it', async (t) => {
  const options = { maxVersion: 'TLSv1.2', secureOptions: constants.SSL_OP_NO_TICKET }
  const { port, server } = await serve(t, options)
  server.on('newSession', (/** @type {Buffer} */ _id, /** @type {Buffer} */ _data, /** @type {() => void} */ done) => done())
  server.on('resumeSession', (/** @type {Buffer} */ _id, /** @type {Function} */ answer) => answer(new Error('the store is down')))
  const { session } = await visit(port, options)
  const told = once(server, 'tlsClientError')
  await assert.rejects(visit(port, { ...options, session }))
  assert.equal((await told)[0].message, 'the store is down')
})

test('a session with a ticket asks nobody', async (t) => {
  const { port, server } = await serve(t, { maxVersion: 'TLSv1.2' })
  let asked = 0
  server.on('resumeSession', (/** @type {Buffer} */ _id, /** @type {Function} */ answer) => {
    asked++
    answer(null, null)
  })
  const { session } = await visit(port, { maxVersion: 'TLSv1.2' })
  assert.equal((await visit(port, { maxVersion: 'TLSv1.2', session })).isReused, true)
  assert.equal(asked, 0)
})

test('OCSPRequest has certificate and issuer of the host that was asked for, and its response reaches the client', async (t) => {
  certificate('test CA', { isCa: true })
  const host = certificate('ocsp.test', { issuer: 'test CA', kind: 'ec' })
  const { port, server } = await serve(t)
  server.addContext('ocsp.test', nodeTls.createSecureContext({ ...host, ca: certificate('test CA', { isCa: true }).cert }))
  const asked = /** @type {(string | null)[]} */ ([])
  server.on('OCSPRequest', (/** @type {Buffer} */ own, /** @type {Buffer | null} */ issuer, /** @type {Function} */ answer) => {
    asked.push(new X509Certificate(own).subject, issuer && new X509Certificate(issuer).subject)
    setImmediate(() => answer(null, Buffer.from('a response')))
  })
  /** @param {string} servername @param {any} [more] */
  const status = async (servername, more) => {
    const socket = nodeTls.connect({ port, host: '127.0.0.1', servername, rejectUnauthorized: false, requestOCSP: true, ...more })
    const [response] = await once(socket, 'OCSPResponse')
    await once(socket, 'secureConnect')
    socket.destroy()
    return response?.toString() ?? null
  }
  assert.equal(await status('ocsp.test'), 'a response')
  assert.equal(await status('localhost'), 'a response')
  assert.equal(await status('localhost', { maxVersion: 'TLSv1.2' }), 'a response')
  assert.deepEqual(asked, ['CN=ocsp.test', 'CN=test CA', 'CN=localhost', null, 'CN=localhost', null])
  server.removeAllListeners('OCSPRequest')
  server.on('OCSPRequest', (/** @type {Buffer} */ _own, /** @type {Buffer} */ _issuer, /** @type {Function} */ answer) => answer(null, null))
  assert.equal(await status('localhost'), null)
  // Who does not ask is not asked about.
  assert.equal((await request(port)).body, 'ok')
  assert.equal(asked.length, 6)
})

test('an error of OCSPRequest ends the handshake', async (t) => {
  const { port, server } = await serve(t)
  server.on('OCSPRequest', (/** @type {Buffer} */ _own, /** @type {Buffer} */ _issuer, /** @type {Function} */ answer) => answer(new Error('no responder')))
  const told = once(server, 'tlsClientError')
  const socket = nodeTls.connect({ port, host: '127.0.0.1', servername: 'localhost', ca: localhost().cert, requestOCSP: true })
  await once(socket, 'error')
  assert.equal((await told)[0].message, 'no responder')
})

for (const maxVersion of /** @type {const} */ (['TLSv1.2', 'TLSv1.3'])) {
  test(`keylog has the client's own lines, with the socket, before secureConnection (${maxVersion})`, async (t) => {
    const { port, server } = await serve(t, { maxVersion })
    server.addContext('logged.test', certificate('logged.test'))
    for (const servername of ['localhost', 'logged.test']) {
      const ours = /** @type {string[]} */ ([])
      const theirs = /** @type {string[]} */ ([])
      const sockets = new Set()
      const onLine = (/** @type {Buffer} */ line, /** @type {any} */ socket) => {
        ours.push(line.toString())
        sockets.add(socket)
      }
      let before = 0
      const onSecure = (/** @type {any} */ socket) => {
        before = ours.length
        sockets.add(socket)
      }
      server.on('keylog', onLine).once('secureConnection', onSecure)
      const socket = nodeTls.connect({ port, host: '127.0.0.1', servername, rejectUnauthorized: false })
      socket.on('keylog', (line) => theirs.push(line.toString()))
      socket.end(kGet)
      await readAll(socket)
      server.off('keylog', onLine)
      const sorted = (/** @type {string[]} */ lines) => lines.filter((line) => !line.startsWith('EXPORTER')).sort()
      assert.ok(ours.length > 0)
      assert.deepEqual(sorted(ours), sorted(theirs))
      assert.equal(before, ours.length)
      assert.equal(sockets.size, 1)
      assert.ok(ours.every((line) => line.endsWith('\n')))
    }
    // Nobody listens any more.
    assert.equal((await request(port)).body, 'ok')
  })
}

test('listeners may come and go while the server serves', async (t) => {
  const { port, server } = await serve(t, { maxVersion: 'TLSv1.2', secureOptions: constants.SSL_OP_NO_TICKET })
  let sessions = 0
  const listener = (/** @type {Buffer} */ _id, /** @type {Buffer} */ _data, /** @type {() => void} */ done) => {
    sessions++
    done()
  }
  await visit(port)
  server.on('newSession', listener)
  await visit(port)
  await visit(port)
  server.off('newSession', listener)
  await visit(port)
  assert.equal(sessions, 2)
})

test('a handshake that waits for a listener that does not answer ends after handshakeTimeout', async (t) => {
  const { port, server } = await serve(t, { handshakeTimeout: 100, maxVersion: 'TLSv1.2', secureOptions: constants.SSL_OP_NO_TICKET })
  server.on('newSession', () => {})
  const [failed] = await Promise.all([once(server, 'tlsClientError'), assert.rejects(visit(port))])
  assert.equal(failed[0].code, 'ERR_TLS_HANDSHAKE_TIMEOUT')
})

test('a client that leaves while its handshake waits is forgotten', async (t) => {
  const { port, server } = await serve(t, { maxVersion: 'TLSv1.2', secureOptions: constants.SSL_OP_NO_TICKET })
  /** @type {() => void} */
  let answer = () => {}
  server.once('newSession', (/** @type {Buffer} */ _id, /** @type {Buffer} */ _data, /** @type {() => void} */ done) => { answer = done })
  const told = once(server, 'newSession')
  const socket = nodeTls.connect({ port, host: '127.0.0.1', servername: 'localhost', ca: localhost().cert })
  socket.on('error', () => {})
  await told
  socket.destroy()
  await once(socket, 'close')
  answer()
  assert.equal((await request(port)).body, 'ok')
})
