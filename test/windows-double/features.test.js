'use strict'

// Goal: what HTTP.SYS offers beside ordinary requests is asked for as documented, and told to the application.
// Method: the double of httpapi.dll, which notes what it is told and does it as far as it can.

const { before, test } = require('node:test')
const assert = require('node:assert/strict')
const crypto = require('node:crypto')
const net = require('node:net')
const nodeHttps = require('node:https')
const { EventEmitter, once } = require('node:events')
const { WebSocket, WebSocketServer } = require('ws')
const { loadBinding } = require('../../packages/core-native/lib/backend/binding')
const { http } = require('../helpers/backend')
const { dial, listen, request, serve, stop } = require('../helpers/client')
const { freePort } = require('../helpers/free-port')
const { forget, notesOf, plan, report } = require('../helpers/httpapi-double')
const { silence } = require('../helpers/waiting')

/** What one takes at most; a busy machine is slow. */
const timed = { timeout: 15_000 }

// System error codes.
const kAccessDenied = 5
const kInvalidParameter = 87

// HTTP_SEND_RESPONSE_FLAG_BUFFER_DATA
const kBufferData = 4

/** HTTP_SERVER_PROPERTY */
const Property = { kAuthentication: 0, kLogging: 1, kQos: 2, kTimeouts: 3, kQueueLength: 4, kVerbosity: 6 }

const { systemConfig = /** @type {any} */ (null) } = loadBinding()

/** @param {number} property */
async function valuesOf (property) {
  return (await notesOf('property')).filter((note) => note.property === property)
}

/** @param {any} server @param {...any} args @returns {Promise<any>} */
async function listenError (server, ...args) {
  server.listen(...args)
  const [error] = await once(server, 'error')
  return error
}

// The double has a port for its tests once it was used.
before(async () => {
  const server = http.createServer()
  await listen(server)
  await stop(server)
})

// -- Opaque connections.

test('unmodified ws echoes small, large and binary messages, and closes with a code', timed, async (t) => {
  const server = http.createServer()
  const webSockets = new WebSocketServer({ server })
  webSockets.on('connection', (socket) => socket.on('message', (data, isBinary) => socket.send(data, { binary: isBinary })))
  const port = await serve(t, server)
  const client = new WebSocket(`ws://127.0.0.1:${port}/`)
  await once(client, 'open')
  for (const data of ['one', '', crypto.randomBytes(100), crypto.randomBytes(700_000)]) {
    client.send(data)
    const [echo] = await once(client, 'message')
    assert.ok(Buffer.from(data).equals(echo))
  }
  const [socket] = webSockets.clients
  client.close(4001, 'done')
  const [code, reason] = await once(socket, 'close')
  assert.deepEqual([code, String(reason)], [4001, 'done'])
})

test('terminate() of a WebSocket ends the connection', timed, async (t) => {
  const server = http.createServer()
  new WebSocketServer({ server }).on('connection', (socket) => socket.terminate())
  const client = new WebSocket(`ws://127.0.0.1:${await serve(t, server)}/`)
  client.on('error', () => {})
  const code = await new Promise((resolve) => client.once('close', resolve))
  assert.equal(code, 1006)
})

test('a 101 is sent as an opaque response without a body', timed, async (t) => {
  const server = http.createServer()
  server.on('upgrade', (req, socket) => {
    socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\nfirst')
    socket.on('data', (piece) => socket.end(piece))
  })
  const port = await serve(t, server)
  await forget()
  const wire = await dial(t, port)
  wire.write('GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n')
  await wire.until('first')
  wire.write('second')
  assert.match(await wire.untilClosed(), /^HTTP\/1\.1 101 [^]*\r\n\r\nfirstsecond$/)
  const [head] = await notesOf('status')
  const kOpaque = 0x40
  const kMoreData = 0x2
  assert.deepEqual([head.status, head.flags], [101, kOpaque | kMoreData])
})

test('a paused socket stops its peer, and loses nothing', timed, async (t) => {
  const server = http.createServer()
  const upgraded = once(server, 'upgrade')
  const wire = await dial(t, await serve(t, server))
  wire.write('GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n')
  const [, socket] = await upgraded
  socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n')
  await wire.until('\r\n\r\n')
  // As much as kernels and the window hold, and then no more: nothing for half a second, on a slow machine a bit early.
  const piece = Buffer.alloc(64 * 1024, 'x')
  let sent = 0
  for (let isTaken = true; isTaken;) {
    sent += piece.length
    isTaken = wire.socket.write(piece) || await Promise.race([
      once(wire.socket, 'drain').then(() => true), new Promise((resolve) => setTimeout(resolve, 500, false))
    ])
  }
  let received = 0
  socket.on('data', (/** @type {Buffer} */ bytes) => {
    received += bytes.length
    if (received === sent) socket.end('all')
  })
  assert.match(await wire.untilClosed(), /all$/)
})

test('an upgrade may be refused, or be an ordinary request where nobody listens to it', timed, async (t) => {
  const text = 'GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n'
  const refusing = http.createServer()
  refusing.on('upgrade', (req, socket) => socket.end('HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno'))
  assert.match(await (await dial(t, await serve(t, refusing))).write(text).untilClosed(), /^HTTP\/1\.1 403 [^]*\r\n\r\nno$/)
  const ordinary = http.createServer((req, res) => res.end(req.headers.upgrade))
  assert.match(await (await dial(t, await serve(t, ordinary))).write(text).until(/\r\n\r\nx/), /^HTTP\/1\.1 200 /)
  const destroying = http.createServer()
  destroying.on('upgrade', (req, socket) => socket.destroy())
  assert.equal(await (await dial(t, await serve(t, destroying))).write(text).untilClosed(), '')
})

// -- HTTP/2.

test('a request that came by HTTP/2 says so, and its response has neither chunks nor lines of a connection', timed, async (t) => {
  const server = http.createServer((req, res) => {
    res.writeHead(200, { 'X-Version': req.httpVersion })
    res.write('one ')
    setImmediate(() => res.end('two'))
  })
  const { headers, body } = await request({ port: await serve(t, server), headers: { 'X-Double-Version': '2' } })
  assert.equal(headers['x-version'], '2.0')
  assert.equal(headers['transfer-encoding'], undefined)
  assert.equal(body, 'one two')
})

test('trailers of a response by HTTP/2 are the last chunk of its last call, without lines of a connection', timed, async (t) => {
  const server = http.createServer((req, res) => {
    res.setHeader('Trailer', 'X-Sum')
    if (req.url === '/pieces') res.write('one ')
    setImmediate(() => {
      res.addTrailers({ 'X-Sum': '7', Connection: 'close', 'X-Other': 'a b' })
      res.end('two')
    })
  })
  const port = await serve(t, server)
  for (const [path, body] of [['/whole', 'two'], ['/pieces', 'one two']]) {
    await forget()
    const response = await request({ port, path, headers: { 'X-Double-Version': '2' } })
    assert.equal(response.body, body)
    const [{ trailers, flags }, ...more] = await notesOf('trailers')
    assert.deepEqual([trailers, more], [['X-Sum', '7', 'X-Other', 'a b'], []])
    const kMoreData = 0x2
    assert.equal(flags & kMoreData, 0)
  }
})

test('a response by HTTP/2 has no trailers chunk without trailers, and where HTTP.SYS does not know them', timed, async (t) => {
  const server = http.createServer((req, res) => {
    res.setHeader('Trailer', 'X-Sum')
    res.write('body')
    if (req.url !== '/none') res.addTrailers(req.url === '/connection' ? { 'Keep-Alive': '1' } : { 'X-Sum': '7' })
    res.end()
  })
  const port = await serve(t, server)
  await forget()
  const headers = { 'X-Double-Version': '2' }
  assert.equal((await request({ port, path: '/none', headers })).body, 'body')
  assert.equal((await request({ port, path: '/connection', headers })).body, 'body')
  await plan('HttpIsFeatureSupported:1:1')
  t.after(() => plan(''))
  assert.equal((await request({ port, headers })).body, 'body')
  assert.equal((await report()).faultsLeft, 0)
  assert.deepEqual(await notesOf('trailers'), [])
})

// -- Properties.

test('timeouts, queue length and 503 verbosity are those of the server', timed, async (t) => {
  await forget()
  const server = http.createServer({ queueLimit: 12, http503Verbosity: 'full', queueTimeout: 8001, keepAliveTimeout: 4001, headersTimeout: 30_000, requestTimeout: 0 })
  await serve(t, server)
  const [timeouts] = await valuesOf(Property.kTimeouts)
  assert.equal(timeouts.of, 'group')
  assert.deepEqual([timeouts.idleConnection, timeouts.headerWait, timeouts.entityBody, timeouts.requestQueue], [5, 30, 65535, 9])
  assert.deepEqual((await valuesOf(Property.kQueueLength)).map(({ of, value }) => [of, value]), [['queue', 12]])
  assert.deepEqual((await valuesOf(Property.kVerbosity)).map(({ value }) => value), [2])
})

test('strictUrl is what HTTP.SYS does by itself: the option is taken, and changes nothing', timed, async (t) => {
  const server = http.createServer({ strictUrl: true }, (req, res) => res.end(req.url))
  const port = await serve(t, server)
  assert.equal((await request({ port, path: '/%C0%A4?%' })).body, '/%C0%A4?%')
})

test('the option httpSys sets bandwidth, connections, timeouts, logging and authentication', timed, async (t) => {
  await forget()
  const server = http.createServer({
    httpSys: {
      maxBandwidth: 100_000,
      maxConnections: 50,
      timeouts: { drainEntityBody: 2500, requestQueue: 10_000, minSendRate: 240 },
      logging: { directory: 'C:\\logs', format: 'ncsa' },
      authentication: { schemes: ['ntlm', 'negotiate'] }
    }
  }, (req, res) => res.end('in'))
  const port = await serve(t, server)
  const qos = await valuesOf(Property.kQos)
  assert.deepEqual(qos.map(({ maxBandwidth, maxConnections }) => [maxBandwidth, maxConnections]), [[100_000, undefined], [undefined, 50]])
  const [timeouts] = await valuesOf(Property.kTimeouts)
  assert.deepEqual([timeouts.drainEntityBody, timeouts.requestQueue, timeouts.minSendRate], [3, 10, 240])
  const [logging] = await valuesOf(Property.kLogging)
  assert.deepEqual([logging.directory, logging.format], ['C:\\logs', 2])
  assert.equal((await valuesOf(Property.kAuthentication))[0].schemes, 4 | 8)
  // Anonymous requests are allowed, and responses that are logged leave as others do.
  assert.equal((await request(port)).body, 'in')
})

for (const bufferResponses of [false, true]) {
  test(`with bufferResponses: ${bufferResponses} the kernel ${bufferResponses ? 'takes all of a response, however slowly its client reads' : 'is given no more than its client reads'}`, timed, async (t) => {
    await forget()
    const piece = Buffer.alloc(64 * 1024, 'x')
    const pieces = 160
    const response = new EventEmitter()
    const server = http.createServer({ httpSys: { bufferResponses } }, (req, res) => {
      for (let i = 0; i < pieces; i++) res.write(piece)
      res.end()
      res.on('finish', () => response.emit('finish'))
    })
    const port = await serve(t, server)
    const client = net.connect(port, '127.0.0.1').pause()
    t.after(() => client.destroy())
    const finish = once(response, 'finish')
    client.write(`GET / HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: close\r\n\r\n`)
    if (bufferResponses) {
      await finish
    } else {
      let isEarly = false
      finish.then(() => { isEarly = true })
      await silence(300)
      assert.equal(isEarly, false)
    }
    let bytes = 0
    client.on('data', (data) => { bytes += data.length })
    client.resume()
    await once(client, 'end')
    assert.ok(bytes > pieces * piece.length)
    const [head] = await notesOf('status')
    assert.equal((head.flags & kBufferData) !== 0, bufferResponses)
  })
}

test('without allowAnonymous a request without a login is answered with 401', timed, async (t) => {
  const server = http.createServer({ httpSys: { authentication: { schemes: ['negotiate'], allowAnonymous: false } } }, () => assert.fail())
  assert.equal((await request(await serve(t, server))).status, 401)
})

test('an option that HTTP.SYS refuses is named by the error of listen()', timed, async (t) => {
  await plan(`HttpSetUrlGroupProperty:2:${kInvalidParameter}`)
  const error = await listenError(http.createServer({ httpSys: { maxBandwidth: 2000 } }), 0, '127.0.0.1')
  assert.deepEqual([error.code, error.option, error.status], ['EINVAL', 'httpSys.maxBandwidth', kInvalidParameter])
  await plan('')
})

// -- Request queues.

test('servers take requests from one queue by its name', timed, async (t) => {
  const prefix = `http://*:${await freePort()}/`
  const answers = new Set()
  const owner = http.createServer((req, res) => res.end('owner'))
  await serve(t, owner, { prefix, queueName: 'shop', queueMode: 'createOrAttach' })
  const helper = http.createServer((req, res) => res.end(`helper ${req.urlPrefix}`))
  await serve(t, helper, { prefix, queueName: 'shop', queueMode: 'attach' })
  const port = /** @type {any} */ (owner.address()).port
  for (let i = 0; i < 100 && answers.size < 2; i++) answers.add((await request(port)).body)
  assert.deepEqual([...answers].sort(), [`helper ${prefix}`, 'owner'])
})

test('a queue that is there already, or is not, is an error that says so', timed, async (t) => {
  const prefix = `http://*:${await freePort()}/`
  await serve(t, http.createServer(), { prefix, queueName: 'taken' })
  const taken = await listenError(http.createServer(), { prefix: `${prefix}a/`, queueName: 'taken' })
  assert.deepEqual([taken.code, taken.queueName], ['EADDRINUSE', 'taken'])
  const missing = await listenError(http.createServer(), { prefix: `${prefix}a/`, queueName: 'missing', queueMode: 'attach' })
  assert.deepEqual([missing.code, missing.queueName], ['ENOENT', 'missing'])
})

// -- The response cache.

test('a response with a time to live is answered without JavaScript until it is flushed', timed, async (t) => {
  let asked = 0
  const server = http.createServer((req, res) => {
    http.setCachePolicy(res, { policy: 'timeToLive', seconds: 60 })
    res.setHeader('Content-Type', 'text/plain')
    res.end(String(++asked))
  })
  const prefix = `http://localhost:${await freePort()}/`
  await serve(t, server, prefix)
  const { port } = new URL(prefix)
  const ask = async () => (await request({ port, path: '/a', headers: { Host: `localhost:${port}` } })).body
  assert.deepEqual([await ask(), await ask()], ['1', '1'])
  http.flushCache(server, `${prefix}a`)
  assert.equal(await ask(), '2')
  http.flushCache(server, prefix, { recursive: true })
  assert.equal(await ask(), '3')
  assert.deepEqual((await notesOf('flush')).slice(-2).map(({ flags }) => flags), [0, 1])
  await plan(`HttpFlushResponseCache:1:${kInvalidParameter}`)
  assert.throws(() => http.flushCache(server, prefix), { code: 'EINVAL', syscall: 'flush' })
  await plan('')
})

test('a policy is checked, and comes before the head', timed, async (t) => {
  const wrong = /** @type {any} */ ([
    [undefined, 'ERR_INVALID_ARG_TYPE'], ['timeToLive', 'ERR_INVALID_ARG_TYPE'], [{ policy: 'timeToLive', seconds: '5' }, 'ERR_INVALID_ARG_TYPE'],
    [{ policy: 'always' }, 'ERR_INVALID_ARG_VALUE'], [{ policy: 'timeToLive' }, 'ERR_OUT_OF_RANGE'], [{ policy: 'timeToLive', seconds: 0.5 }, 'ERR_OUT_OF_RANGE']
  ])
  const server = http.createServer((req, res) => {
    for (const [policy, code] of wrong) assert.throws(() => http.setCachePolicy(res, policy), { code })
    res.flushHeaders()
    assert.throws(() => http.setCachePolicy(res, { policy: 'userInvalidates' }), { code: 'ERR_HTTP_HEADERS_SENT' })
    res.end('checked')
  })
  assert.equal((await request(await serve(t, server))).body, 'checked')
})

// -- Certificates. The double takes connections of such ports as they are, without TLS.

test('an https prefix needs a certificate that the system has, and the error has the command', timed, async (t) => {
  const port = await freePort()
  const server = http.createServer((req, res) => {
    const { encrypted, getPeerCertificate, authorized } = /** @type {any} */ (req.socket)
    res.end(JSON.stringify({ encrypted, authorized, certificate: getPeerCertificate.call(req.socket) }))
  })
  const error = await listenError(server, `https://*:${port}/`)
  assert.equal(error.code, 'ERR_HTTPSYS_SYSTEM_CERTIFICATE')
  assert.match(error.message, new RegExp(`netsh http add sslcert ipport=0\\.0\\.0\\.0:${port} certhash=`))
  assert.equal(systemConfig.addCertificate('', port, crypto.randomBytes(20), 'MY'), 0)
  t.after(() => assert.equal(systemConfig.deleteCertificate('', port), 0))
  await serve(t, server, `https://*:${port}/`)
  assert.deepEqual(JSON.parse((await request(port)).body), { encrypted: true, authorized: false, certificate: {} })
})

test('a key is not for listen() where the system has the certificates', timed, async () => {
  const [error] = await once(http.createServer().listen('https://shop.example:443/', { key: '', cert: '' }), 'error')
  assert.equal(error.code, 'ERR_HTTPSYS_SYSTEM_CERTIFICATE')
  assert.match(error.message, /takes no "key".*hostnameport=shop\.example:443 .*certstorename=MY/)
})

test('bindings and reservations of the system are listed, made and deleted, and failures are told', timed, async (t) => {
  await serve(t, http.createServer()) // So that the double answers plan().
  const hash = crypto.randomBytes(20)
  assert.equal(systemConfig.addCertificate('127.0.0.1', 8443, hash, 'MY'), 0)
  assert.deepEqual(systemConfig.listCertificates(), [{ host: '127.0.0.1', port: 8443, store: 'MY', hash }])
  assert.deepEqual(systemConfig.findCertificate('127.0.0.1', 8443).hash, hash)
  assert.equal(systemConfig.addReservation('http://*:8080/', 'D:(A;;GX;;;WD)'), 0)
  assert.deepEqual(systemConfig.listReservations(), [{ prefix: 'http://*:8080/', sddl: 'D:(A;;GX;;;WD)' }])
  const failing = ['HttpSetServiceConfiguration', 'HttpQueryServiceConfiguration', 'HttpDeleteServiceConfiguration']
  await plan(failing.map((name) => `${name}:1:${kAccessDenied}`).join(','))
  assert.equal(systemConfig.addReservation('http://*:8081/', 'D:(A;;GX;;;WD)'), kAccessDenied)
  assert.equal(systemConfig.listReservations(), kAccessDenied)
  assert.equal(systemConfig.deleteReservation('http://*:8080/'), kAccessDenied)
  await plan('')
  assert.equal(systemConfig.deleteReservation('http://*:8080/'), 0)
  assert.equal(systemConfig.deleteCertificate('127.0.0.1', 8443), 0)
  assert.deepEqual([systemConfig.listCertificates(), systemConfig.listReservations()], [[], []])
})

test('httpsys add, show and delete are for what the system has', timed, async () => {
  const { run } = require('../../packages/cli/lib/program')
  let text = ''
  const context = { out: (/** @type {string} */ piece) => { text += piece }, err: (/** @type {string} */ piece) => { text += piece } }
  const hash = 'ab'.repeat(20)
  /** @param {...string} args */
  const call = async (...args) => {
    text = ''
    const code = await run(args, context)
    return `${code} ${text.replace(/\s+/g, ' ').trim()}`
  }
  assert.equal(await call('add', 'sslcert', '*:8443', '--certhash', hash), `0 Bound ${hash} to *:8443.`)
  assert.match(await call('add', 'sslcert', '*:8443', '--certhash', hash), /^1 httpsys: add sslcert .*there is one already$/)
  assert.match(await call('add', 'sslcert', '*:8443', '--certhash', 'abc'), /^2 httpsys: "abc" is no thumbprint/)
  assert.equal(await call('show', 'sslcert'), `0 HOST AND PORT THUMBPRINT STORE *:8443 ${hash} MY`)
  assert.equal(await call('delete', 'sslcert', '*:8443'), '0 Deleted the binding of *:8443.')
  assert.match(await call('delete', 'sslcert', '*:8443'), /^1 httpsys: .*there is none$/)
  assert.equal(await call('add', 'urlacl', 'http://*:8080/a/', '--sddl', 'D:(A;;GX;;;WD)'), '0 Reserved http://*:8080/a/ for D:(A;;GX;;;WD).')
  assert.equal(await call('show', 'urlacl'), '0 PREFIX MAY REGISTER http://*:8080/a/ D:(A;;GX;;;WD)')
  assert.equal(await call('delete', 'urlacl', 'http://*:8080/a/'), '0 Deleted the reservation of http://*:8080/a/.')
})

test('https.createServer() is Node\'s: its certificates are its own', timed, async (t) => {
  const server = http.https.createServer({})
  await forget()
  await serve(t, server)
  assert.ok(server instanceof nodeHttps.Server)
  assert.deepEqual(await notesOf('property'), [])
})
