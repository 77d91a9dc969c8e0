'use strict'

// Goal: an https server is used as node:https is: what arrives, what leaves, what the socket says.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const { once } = require('node:events')
const https = require('node:https')
const path = require('node:path')
const net = require('node:net')
const nodeTls = require('node:tls')
const core = require('@httpsys/core-native')
const { certificate } = require('../../helpers/certificates')
const { freePort } = require('../../helpers/free-port')
const { connect, readAll, request, serve } = require('../../helpers/tls')

test('a request is answered, and its socket is a TLSSocket that knows the connection', async (t) => {
  /** @type {any} */
  let seen
  const { port, server } = await serve(t, {}, (req, res) => {
    const { socket } = req
    seen = {
      isTls: socket instanceof nodeTls.TLSSocket,
      isNet: socket instanceof net.Socket,
      encrypted: socket.encrypted,
      authorized: socket.authorized,
      authorizationError: socket.authorizationError,
      servername: socket.servername,
      alpn: socket.alpnProtocol,
      protocol: socket.getProtocol(),
      cipher: socket.getCipher(),
      reused: socket.isSessionReused(),
      peer: socket.getPeerCertificate(),
      own: socket.getCertificate().subject.CN,
      ownX509: socket.getX509Certificate().subject,
      session: socket.getSession().length > 100,
      ticket: socket.getTLSTicket(),
      ephemeral: socket.getEphemeralKeyInfo(),
      sigalgs: socket.getSharedSigalgs().length > 3,
      finished: socket.getFinished().length > 10,
      peerFinished: socket.getPeerFinished().length > 10,
      keyingMaterial: socket.exportKeyingMaterial(16, 'EXPORTER-test', Buffer.from('c')).toString('hex')
    }
    res.end('hello')
  })
  const { body, socket } = await request(port, { minVersion: 'TLSv1.3', ALPNProtocols: ['http/1.1'] })
  assert.equal(body, 'hello')
  assert.ok(server instanceof https.Server && server instanceof nodeTls.Server)
  assert.deepEqual(seen, {
    isTls: true,
    isNet: true,
    encrypted: true,
    authorized: false,
    authorizationError: null,
    servername: 'localhost',
    alpn: 'http/1.1',
    protocol: 'TLSv1.3',
    cipher: { name: 'TLS_AES_256_GCM_SHA384', standardName: 'TLS_AES_256_GCM_SHA384', version: 'TLSv1.3' },
    reused: false,
    peer: {},
    own: 'localhost',
    ownX509: 'CN=localhost',
    session: true,
    ticket: undefined,
    ephemeral: null,
    sigalgs: true,
    finished: true,
    peerFinished: true,
    keyingMaterial: seen.keyingMaterial
  })
  assert.match(seen.keyingMaterial, /^[0-9a-f]{32}$/)
  assert.equal(socket.getPeerCertificate().subject.CN, 'localhost')
})

test('both ends export the same keying material', async (t) => {
  let theirs = ''
  const { port } = await serve(t, {}, (req, res) => {
    theirs = req.socket.exportKeyingMaterial(32, 'EXPORTER-both', Buffer.from('context')).toString('hex')
    res.end()
  })
  const socket = await connect(port)
  const ours = socket.exportKeyingMaterial(32, 'EXPORTER-both', Buffer.from('context')).toString('hex')
  socket.end('GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
  await readAll(socket)
  assert.equal(theirs, ours)
})

test('a connection carries one request after the other', async (t) => {
  const ports = new Set()
  const { port } = await serve(t, {}, (req, res) => {
    ports.add(req.socket.remotePort)
    res.end(req.url)
  })
  const agent = new https.Agent({ keepAlive: true, maxSockets: 1 })
  t.after(() => agent.destroy())
  for (let i = 0; i < 5; i++) assert.equal((await request(port, { agent, path: `/${i}` })).body, `/${i}`)
  assert.equal(ports.size, 1)
})

for (const version of ['TLSv1.2', 'TLSv1.3']) {
  test(`megabytes arrive whole in both directions (${version})`, async (t) => {
    const { createHash, randomBytes } = require('node:crypto')
    const up = randomBytes(3_000_001)
    const down = randomBytes(4_000_003)
    let received = ''
    const { port } = await serve(t, { maxVersion: version }, (req, res) => {
      const hash = createHash('sha256')
      req.on('data', (/** @type {Buffer} */ chunk) => hash.update(chunk))
      req.on('end', () => {
        received = hash.digest('hex')
        res.write(down.subarray(0, 7))
        res.write(down.subarray(7, 100_000))
        res.end(down.subarray(100_000))
      })
    })
    const { body, socket } = await request(port, { method: 'POST' }, up)
    assert.equal(socket.getProtocol() ?? version, version)
    assert.equal(received, createHash('sha256').update(up).digest('hex'))
    assert.ok(Buffer.from(body, 'latin1').equals(down))
  })
}

test('many small writes are whole, and in order', async (t) => {
  const { port } = await serve(t, {}, (req, res) => {
    let i = 0
    const next = () => {
      while (i < 20_000) if (!res.write(`${i++}\n`)) return res.once('drain', next)
      res.end()
    }
    next()
  })
  const { body } = await request(port)
  assert.deepEqual(body.split('\n').slice(0, -1), Array.from({ length: 20_000 }, (_, i) => String(i)))
})

test('a request that is paused holds its sender back, and goes on with all that came', async (t) => {
  const size = 6_000_000
  let heldBack = false
  const { port } = await serve(t, {}, (req, res) => {
    req.pause()
    // Silence of the reader; on a slow machine less has come by then.
    setTimeout(() => {
      let got = 0
      req.on('data', (/** @type {Buffer} */ chunk) => { got += chunk.length })
      req.on('end', () => res.end(String(got)))
      req.resume()
    }, 150)
  })
  const body = await new Promise((resolve, reject) => {
    const req = https.request({ port, method: 'POST', rejectUnauthorized: false, agent: false, headers: { 'Content-Length': size } }, (res) => readAll(res).then(resolve, reject))
    req.on('error', reject)
    heldBack = !req.write(Buffer.alloc(size / 2))
    req.end(Buffer.alloc(size / 2))
  })
  assert.ok(heldBack)
  assert.equal(body, String(size))
})

test('pipelined requests in one record are answered in order', async (t) => {
  const { port } = await serve(t, {}, (req, res) => { setTimeout(() => res.end(req.url), req.url === '/0' ? 30 : 0) })
  const socket = await connect(port)
  const requests = Array.from({ length: 40 }, (_, i) => `GET /${i} HTTP/1.1\r\nHost: a\r\n${i === 39 ? 'Connection: close\r\n' : ''}\r\n`)
  socket.write(requests.join(''))
  const text = await readAll(socket)
  assert.deepEqual([...text.matchAll(/\r\n\r\n(\/\d+)/g)].map(([, url]) => url), Array.from({ length: 40 }, (_, i) => `/${i}`))
})

test('the end of a connection is said within TLS', async (t) => {
  const { port } = await serve(t, {}, (req, res) => { res.end('bye') })
  const socket = await connect(port)
  socket.write('GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
  let isClean = false
  socket.on('end', () => { isClean = true })
  assert.match(await readAll(socket), /bye$/)
  assert.ok(isClean)
})

test('a client that ends its direction with its request gets the answer', async (t) => {
  const { port } = await serve(t, {}, (req, res) => {
    req.resume().on('end', () => res.end('after your end'))
  })
  const socket = await connect(port)
  socket.end('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nab')
  assert.match(await readAll(socket), /after your end$/)
})

test('an upgraded connection carries bytes both ways', async (t) => {
  const { port, server } = await serve(t)
  server.on('upgrade', (/** @type {any} */ req, /** @type {any} */ socket) => {
    assert.ok(socket.encrypted)
    socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n')
    socket.pipe(socket)
  })
  const socket = await connect(port)
  socket.write('GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n')
  await once(socket, 'data')
  const sent = Buffer.alloc(1_000_000, 'e')
  socket.end(sent)
  assert.equal((await readAll(socket)).length, sent.length)
})

test('connection, secureConnection and request come in this order, each connection once', async (t) => {
  /** @type {string[]} */
  const events = []
  const { port, server } = await serve(t, {}, (req, res) => {
    events.push('request')
    res.end()
  })
  server.on('connection', () => events.push('connection'))
  server.on('secureConnection', (/** @type {any} */ socket) => {
    events.push(`secureConnection ${socket.encrypted} ${socket.getProtocol()}`)
  })
  const agent = new https.Agent({ keepAlive: true, maxSockets: 1 })
  t.after(() => agent.destroy())
  await request(port, { agent })
  await request(port, { agent })
  assert.deepEqual(events, ['connection', 'secureConnection true TLSv1.3', 'request', 'request'])
})

test('close() waits for the connection that is being served', async (t) => {
  /** @type {any} */
  let answer
  const { port, server } = await serve(t, {}, (req, res) => { answer = () => res.end('late') })
  const response = request(port)
  await once(server, 'request')
  const closed = once(server, 'close')
  server.close()
  answer()
  assert.equal((await response).body, 'late')
  await closed
})

test('createServer takes the listener alone, and options as http.createServer does', async (t) => {
  const { https: face } = /** @type {any} */ (core)
  assert.equal(face.createServer(() => {}).listenerCount('request'), 1)
  assert.equal(face.createServer({ keepAliveTimeout: 1234 }).keepAliveTimeout, 1234)
  assert.throws(() => face.createServer({ handshakeTimeout: 'soon' }), { code: 'ERR_INVALID_ARG_TYPE' })
  assert.throws(() => face.createServer({ SNICallback: 1 }), { code: 'ERR_INVALID_ARG_TYPE' })
  assert.throws(() => face.createServer({ ciphers: 'NONE-SUCH' }), /no cipher match/i)
  assert.throws(() => face.createServer({ minVersion: 'TLSv7' }), { code: 'ERR_TLS_INVALID_PROTOCOL_VERSION' })
  assert.throws(() => face.createServer({ key: 'no key' }), /PEM|no start line|DECODER/i)
  assert.throws(() => face.createServer({ ALPNProtocols: ['a'], ALPNCallback () {} }), { code: 'ERR_TLS_ALPN_CALLBACK_WITH_PROTOCOLS' })
  t.diagnostic('as node:https')
})

test('an https prefix takes key and cert from listen(), beside a plain one on the same server', async (t) => {
  const seen = new Set()
  const server = core.createServer((req, res) => {
    seen.add(/** @type {any} */ (req.socket).encrypted === true)
    res.end(`${/** @type {any} */ (req.socket).encrypted === true} ${req.url}`)
  })
  t.after(() => { server.closeAllConnections(); server.close() })
  const [plain, secure] = [await freePort(), await freePort()]
  server.listen(/** @type {any} */ ([`http://127.0.0.1:${plain}/a/`, `https://127.0.0.1:${secure}/b/`]), /** @type {any} */ (certificate('localhost')))
  await once(server, 'listening')
  assert.equal((await request(secure, { path: '/b/1' })).body, 'true /b/1')
  const http = require('node:http')
  const [res] = await once(http.get({ port: plain, path: '/a/2', agent: false }), 'response')
  assert.equal(await readAll(res), 'false /a/2')
  assert.equal(seen.size, 2)
})

test('an https prefix without a certificate is refused by name, behind listen(), and the server may listen elsewhere then', async (t) => {
  const server = core.createServer()
  /** @type {number[]} */
  const heard = []
  const failed = once(server.listen(/** @type {any} */ ('https://127.0.0.1:1/'), () => heard.push(1)), 'error')
  const [error] = await failed
  assert.equal(error.code, 'ERR_HTTPSYS_TLS_CERTIFICATE')
  assert.match(error.stack, new RegExp(`\\n    at .*${path.basename(__filename)}`))
  assert.equal(server.listening, false)
  t.after(() => server.close())
  server.listen(0, () => heard.push(2))
  await once(server, 'listening')
  assert.deepEqual(heard, [1, 2], 'a callback waits for the next listen(), as behind EADDRINUSE')
})
