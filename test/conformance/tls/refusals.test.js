'use strict'

// Goal: what is no TLS, or not fast enough, ends with a clear word and costs nobody else anything.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const { execFile } = require('node:child_process')
const { once } = require('node:events')
const net = require('node:net')
const { connect, readAll, request, serve } = require('../../helpers/tls')
const { silence, until } = require('../../helpers/waiting')

/**
 * @param {import('node:test').TestContext} t
 * @param {any} [options]
 */
async function watched (t, options) {
  const served = await serve(t, options)
  /** @type {string[]} */
  const errors = []
  served.server.on('tlsClientError', (/** @type {any} */ error, /** @type {any} */ socket) => {
    errors.push(error.code)
    socket.destroy()
  })
  return { ...served, errors }
}

/** @param {number} port @param {...(string | Buffer)} bytes @returns {Promise<Buffer>} what comes until the end */
async function send (port, ...bytes) {
  const socket = net.connect(port, '127.0.0.1')
  /** @type {Buffer[]} */
  const chunks = []
  socket.on('data', (chunk) => chunks.push(chunk)).on('error', () => {})
  for (const each of bytes) socket.write(each)
  await once(socket, 'close')
  return Buffer.concat(chunks)
}

test('garbage ends the connection, and tlsClientError says why', async (t) => {
  const { port, errors } = await watched(t)
  await send(port, Buffer.alloc(300, 0xee))
  await until(() => errors.length >= 1, '1 errors')
  assert.match(errors[0], /^ERR_SSL_(WRONG_VERSION_NUMBER|UNSUPPORTED_PROTOCOL)$/)
  assert.equal((await request(port)).body, 'ok')
})

test('a record that is longer than records may be is refused', async (t) => {
  const { port, errors } = await watched(t)
  await send(port, Buffer.from([22, 3, 1, 0xff, 0xff]), Buffer.alloc(100))
  await until(() => errors.length >= 1, '1 errors')
  assert.match(errors[0], /^ERR_SSL_(PACKET_LENGTH_TOO_LONG|DATA_LENGTH_TOO_LONG|EXCESSIVE_MESSAGE_SIZE|DECODE_ERROR)$/)
})

test('a ClientHello that is cut off and ended is a connection that was reset', async (t) => {
  const { port, errors } = await watched(t)
  const socket = net.connect(port, '127.0.0.1')
  socket.on('error', () => {})
  socket.end(Buffer.from([22, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3]))
  await once(socket.resume(), 'close')
  await until(() => errors.length >= 1, '1 errors')
  assert.deepEqual(errors, ['ECONNRESET'])
})

test('a handshake that takes longer than handshakeTimeout ends', async (t) => {
  const { port, errors } = await watched(t, { handshakeTimeout: 100 })
  const silent = net.connect(port, '127.0.0.1')
  silent.on('error', () => {})
  const begun = net.connect(port, '127.0.0.1')
  begun.on('error', () => {}).write(Buffer.from([22, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3]))
  await Promise.all([once(silent.resume(), 'close'), once(begun.resume(), 'close')])
  await until(() => errors.length >= 2, '2 errors')
  assert.deepEqual(errors, ['ERR_TLS_HANDSHAKE_TIMEOUT', 'ERR_TLS_HANDSHAKE_TIMEOUT'])
})

test('an established connection knows no handshakeTimeout', async (t) => {
  // Enough for a handshake on a busy machine.
  const { port } = await serve(t, { handshakeTimeout: 1500 })
  const socket = await connect(port)
  await silence(2000)
  socket.end('GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
  assert.match(await readAll(socket), /ok$/)
})

test('records that were changed on their way end an established connection with clientError', async (t) => {
  const { port, server } = await serve(t)
  const failed = once(server, 'clientError')
  server.on('clientError', (/** @type {any} */ _error, /** @type {any} */ socket) => socket.destroy())
  const raw = net.connect(port, '127.0.0.1')
  const socket = require('node:tls').connect({ socket: raw, rejectUnauthorized: false })
  socket.on('error', () => {})
  await once(socket, 'secureConnect')
  socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
  await once(socket, 'data')
  raw.write(Buffer.concat([Buffer.from([23, 3, 3, 0, 40]), Buffer.alloc(40, 7)]))
  const [error] = await failed
  assert.equal(error.code, 'ERR_SSL_DECRYPTION_FAILED_OR_BAD_RECORD_MAC')
})

test('a plain request on a TLS port is ERR_SSL_HTTP_REQUEST', async (t) => {
  const { port, errors } = await watched(t)
  await send(port, 'GET / HTTP/1.1\r\nHost: a\r\n\r\n')
  await until(() => errors.length >= 1, '1 errors')
  assert.deepEqual(errors, ['ERR_SSL_HTTP_REQUEST'])
})

test('TLS on a plain port is answered with 400', async (t) => {
  const { http } = require('../../helpers/backend')
  const server = http.createServer((req, res) => { res.end() })
  t.after(() => server.close())
  server.listen(0)
  await once(server, 'listening')
  const { port } = /** @type {net.AddressInfo} */ (server.address())
  const hello = Buffer.concat([Buffer.from([22, 3, 1, 0, 200, 1, 0, 0, 196, 3, 3]), Buffer.alloc(194)])
  assert.match((await send(port, hello)).toString('latin1'), /^HTTP\/1\.1 400 Bad Request\r\n/)
})

test('openssl s_client and curl are served', async (t) => {
  const { port } = await serve(t, {}, (req, res) => { res.end(`for ${req.headers['user-agent']?.split('/')[0]}`) })
  const run = (/** @type {string} */ command, /** @type {string[]} */ args, input = '') => new Promise((resolve) => {
    const child = execFile(command, args, { timeout: 10_000 }, (_error, stdout) => resolve(stdout))
    child.stdin?.on('error', () => {})
    child.stdin?.end(input)
  })
  assert.equal(await run('curl', ['-sk', `https://127.0.0.1:${port}/`]), 'for curl')
  const text = await run('openssl', ['s_client', '-quiet', '-ign_eof', '-connect', `127.0.0.1:${port}`],
    'GET / HTTP/1.1\r\nHost: a\r\nUser-Agent: s_client/1\r\nConnection: close\r\n\r\n')
  assert.match(String(text), /for s_client/)
})

test('close() waits for a handshake that is under way, and its request is answered', async (t) => {
  const { port, server } = await serve(t)
  const raw = net.connect(port, '127.0.0.1')
  await once(raw, 'connect')
  // Another one has been served since, so the first is known to be accepted.
  await request(port)
  const closed = once(server, 'close')
  server.close()
  const socket = require('node:tls').connect({ socket: raw, rejectUnauthorized: false })
  await once(socket, 'secureConnect')
  socket.write('GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
  assert.match(await readAll(socket), /ok$/)
  await closed
})

test('a client that ends its direction right away still gets what was said', async (t) => {
  const { port } = await serve(t)
  const socket = require('node:tls').connect({ port, host: '127.0.0.1', rejectUnauthorized: false })
  socket.on('error', () => {})
  socket.once('connect', () => socket.end())
  await once(socket, 'secureConnect')
  socket.destroy()
})
