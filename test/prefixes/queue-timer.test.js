'use strict'

// Requests that JavaScript does not begin in time (queueTimeout): answered by the I/O thread, and not begun later.

const assert = require('node:assert/strict')
const { once } = require('node:events')
const fs = require('node:fs')
const http = require('node:http')
const http2 = require('node:http2')
const net = require('node:net')
const os = require('node:os')
const path = require('node:path')
const { test } = require('node:test')
const tls = require('node:tls')
const { createServer, backend } = require('@httpsys/core-native')
const { BlockingServer, send } = require('../helpers/blocking-server')
const { certificate } = require('../helpers/certificates')
const { silence } = require('../helpers/waiting')
const { hasHttp2 } = backend === 'node' ? { hasHttp2: false } : require('../../packages/core-native/lib/backend/binding').loadBinding()

const skip = backend === 'node' ? 'node:http has no request queue' : false
// JavaScript that is not made to stand still begins a request within a hundredth of it.
const kTimeoutMs = 500

// It tells every request that it begins, and stands still in some until it is told to go on.
const kServer = `
const fs = require('node:fs')
const core = require('@httpsys/core-native')
const options = JSON.parse(process.argv[1])
const { createServer } = options.key === undefined ? core : core.https
const server = createServer(options, (req, res) => {
  process.stdout.write('begun ' + req.method + ' ' + req.url + '\\n')
  if (req.url === '/early') res.write('begun')
  if (req.url === '/block') {
    process.stdout.write('blocked\\n')
    fs.readSync(0, Buffer.alloc(1))
    if (options.destroysFirst) first.destroy()
  }
  res.end('served')
})
let first
server.on('connection', (socket) => { first ??= socket })
server.on('upgrade', (req, socket) => socket.end())
server.listen(0, '127.0.0.1', () => process.stdout.write('port ' + server.address().port + '\\n'))
`

class Server extends BlockingServer {
  /** @param {import('node:test').TestContext} t @param {object} options @param {NodeJS.ProcessEnv} [env] */
  constructor (t, options, env) {
    super(t, kServer, options, { env })
  }
}

/** @type {any} the server listens on one address of localhost */
const localOnly = (/** @type {string} */ host, /** @type {any} */ options, /** @type {Function} */ done) => options.all ? done(null, [{ address: '127.0.0.1', family: 4 }]) : done(null, '127.0.0.1', 4)

/** @param {string} method @param {string} url */
const request = (method, url) => `${method} ${url} HTTP/1.1\r\nHost: a\r\n${method === 'POST' ? 'Content-Length: 4\r\n' : ''}\r\n${method === 'POST' ? 'body' : ''}`

test('a request that is not begun in time gets 503 and is not begun later', { skip }, async (t) => {
  const server = await new Server(t, { queueTimeout: kTimeoutMs, http503Verbosity: 'limited' }).start()
  await server.block()
  const answers = await Promise.all([
    send(server, request('GET', '/get')),
    send(server, request('POST', '/post')),
    send(server, request('HEAD', '/head')),
    send(server, request('GET', '/piped') + request('GET', '/behind')),
    send(server, 'GET /upgrade HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n'),
    send(server, 'POST /half HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\nhalf')])
  for (const answer of answers) {
    assert.match(answer, /^HTTP\/1\.1 503 Service Unavailable\r\n[^]*\r\nConnection: close\r\n\r\n/)
    assert.equal(answer.split('HTTP/1.1').length, 2)
  }
  assert.match(answers[0], /<h1>Service Unavailable<\/h1>\n$/)
  assert.match(answers[2], /\r\n\r\n$/)
  server.goOn()
  assert.match(await /** @type {Promise<string>} */ (server.first), /served$/)
  assert.match(await send(server, 'GET /after HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'), /served$/)
  await server.says(/begun GET \/after/)
  assert.deepEqual(server.output.match(/begun .*/g), ['begun GET /block', 'begun GET /after'])
})

test('one that is begun in time is served, whatever the time', { skip }, async (t) => {
  const server = await new Server(t, { queueTimeout: 60_000 }).start()
  await server.block()
  const answers = [send(server, 'GET /a HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')]
  await silence(300)
  server.goOn()
  for (const answer of await Promise.all(answers)) assert.match(answer, /^HTTP\/1\.1 200 [^]*served$/)
})

test('0 waits for ever', { skip }, async (t) => {
  const server = await new Server(t, { queueTimeout: 0 }).start()
  await server.block()
  const answer = send(server, 'GET /a HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
  await silence(300)
  server.goOn()
  assert.match(await answer, /served$/)
})

test('one that JavaScript has begun to answer is left alone', { skip }, async (t) => {
  const server = await new Server(t, { queueTimeout: kTimeoutMs }).start()
  // In one batch, as far as the I/O thread can see.
  const socket = net.connect(server.port, '127.0.0.1')
  let received = ''
  socket.setEncoding('latin1').on('data', (data) => { received += data })
  socket.write(request('GET', '/early') + request('GET', '/block'))
  await server.says(/blocked/)
  await silence(2 * kTimeoutMs)
  server.goOn()
  while (received.split('served').length < 3) await once(socket, 'data')
  assert.doesNotMatch(received, /503/)
  socket.destroy()
})

test('streams of HTTP/2 get it each, and their connection goes on', { skip: skip || (hasHttp2 ? false : 'this Node has no nghttp2') }, async (t) => {
  const server = await new Server(t, { queueTimeout: kTimeoutMs, http2: true, http503Verbosity: 'full' }).start()
  const client = http2.connect(`http://127.0.0.1:${server.port}`)
  t.after(() => client.destroy())
  const ask = async (/** @type {string} */ url, method = 'GET') => {
    const stream = client.request({ ':path': url, ':method': method })
    let text = ''
    stream.setEncoding('utf8').on('data', (data) => { text += data })
    const [[headers]] = await Promise.all([once(stream, 'response'), once(stream, 'close')])
    return [headers[':status'], text]
  }
  assert.deepEqual(await ask('/first'), [200, 'served'])
  await server.block()
  const [get, head] = await Promise.all([ask('/a'), ask('/b', 'HEAD')])
  assert.equal(get[0], 503)
  assert.match(get[1], /<p>Timer_AppPool<\/p>/)
  assert.deepEqual(head, [503, ''])
  server.goOn()
  assert.deepEqual(await ask('/last'), [200, 'served'])
  await server.says(/begun GET \/last/)
  assert.deepEqual(server.output.match(/begun .*/g), ['begun GET /first', 'begun GET /block', 'begun GET /last'])
})

const connectTls = (/** @type {any} */ options) => tls.connect({ ...options, servername: 'localhost', ca: certificate('localhost').cert, ALPNProtocols: ['http/1.1'] })

// A connection that JavaScript ends before it comes to its refused request leaves nothing behind for the next one
// that gets its place.
for (const [name, options, connect] of /** @type {[string, object, any][]} */ ([
  ['HTTP/1.1', {}, net.connect],
  ['HTTP/1.1 with TLS', certificate('localhost'), connectTls]
])) {
  test(`connections are served after a refused one whose socket was destroyed: ${name}`, { skip, timeout: 30_000 }, async (t) => {
    const server = await new Server(t, { ...options, queueTimeout: kTimeoutMs, destroysFirst: true }).start()
    const kept = connect({ port: server.port, host: '127.0.0.1' })
    let received = ''
    kept.setEncoding('latin1').on('data', (/** @type {string} */ data) => { received += data })
    kept.on('error', () => {})
    kept.write(request('GET', '/first'))
    while (!received.endsWith('served')) await once(kept, 'data')
    await server.block(connect)
    kept.write(request('GET', '/refused'))
    while (!received.includes('503')) await once(kept, 'data')
    server.goOn()
    assert.match(await /** @type {Promise<string>} */ (server.first), /served$/)
    // At once, so that every free place is taken.
    const answers = Array.from({ length: 12 }, (_, i) => `/${i}`).map((url) => send(server, `GET ${url} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`, connect))
    for (const answer of await Promise.all(answers)) assert.match(answer, /served$/)
    assert.doesNotMatch(server.output, /refused/)
    kept.destroy()
  })
}

for (const [name, scheme, options] of /** @type {[string, string, object][]} */ ([
  ['HTTP/2', 'http', {}],
  ['HTTP/2 with TLS', 'https', certificate('localhost')]
])) {
  test(`streams are served after a refused one whose connection was destroyed: ${name}`, { skip: skip || (hasHttp2 ? false : 'this Node has no nghttp2'), timeout: 30_000 }, async (t) => {
    const server = await new Server(t, { ...options, queueTimeout: kTimeoutMs, http2: true, destroysFirst: true }).start()
    const connect = () => {
      const client = http2.connect(`${scheme}://localhost:${server.port}`, { lookup: localOnly, ca: certificate('localhost').cert })
      client.on('error', () => {})
      t.after(() => client.destroy())
      return client
    }
    const ask = async (/** @type {http2.ClientHttp2Session} */ client, /** @type {string} */ url) => {
      const stream = client.request({ ':path': url })
      stream.on('error', () => {})
      const [headers] = await once(stream, 'response')
      stream.resume()
      return headers[':status']
    }
    const kept = connect()
    assert.equal(await ask(kept, '/first'), 200)
    const other = connect()
    assert.equal(await ask(other, '/other'), 200)
    const blocking = ask(other, '/block')
    await server.says(/blocked/)
    assert.equal(await ask(kept, '/refused'), 503)
    server.goOn()
    assert.equal(await blocking, 200)
    // At once, so that every free place is taken.
    const client = connect()
    assert.deepEqual(await Promise.all(['/1', '/2', '/3', '/4', '/5', '/6', '/7', '/8'].map((url) => ask(client, url))), Array(8).fill(200))
    assert.doesNotMatch(server.output, /refused/)
  })
}

test("'basic' resets the connection, and the error log has the reason", { skip }, async (t) => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'httpsys-log-'))
  t.after(() => fs.rmSync(folder, { recursive: true }))
  const file = path.join(folder, 'httperr.log')
  const server = await new Server(t, { queueTimeout: kTimeoutMs, http503Verbosity: 'basic' }, { HTTPSYS_ERROR_LOG: file }).start()
  await server.block()
  assert.equal(await send(server, request('GET', '/a')), 'ECONNRESET')
  assert.match(fs.readFileSync(file, 'latin1'), / - - - - \d+ Timer_AppPool\n$/)
  server.goOn()
})

test('a keep-alive connection has the time for each of its requests', { skip }, async (t) => {
  const server = await new Server(t, { queueTimeout: kTimeoutMs }).start()
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
  t.after(() => agent.destroy())
  const ask = async (/** @type {string} */ url) => {
    const [res] = /** @type {any} */ (await once(http.get({ port: server.port, path: url, agent }), 'response'))
    res.resume()
    await once(res, 'end')
    return res.statusCode
  }
  assert.equal(await ask('/one'), 200)
  // Longer than the timeout, with no request under way.
  await silence(2 * kTimeoutMs)
  assert.equal(await ask('/two'), 200)
  await server.block()
  assert.equal(await ask('/three'), 503)
  server.goOn()
  await server.first
  assert.equal(await ask('/four'), 200)
  await server.says(/begun GET \/four/)
  assert.doesNotMatch(server.output, /three/)
})

test('values that mean nothing are refused', { skip }, () => {
  assert.throws(() => createServer(/** @type {any} */ ({ queueTimeout: -1 })), { code: 'ERR_OUT_OF_RANGE' })
  assert.throws(() => createServer(/** @type {any} */ ({ queueTimeout: '10' })), { code: 'ERR_INVALID_ARG_TYPE' })
})
