'use strict'

// Goal: a connection whose message was refused belongs to the 'clientError' listener, which may well
// do nothing; the connection still learns what its peer does.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const { once } = require('node:events')
const stock = require('node:http')
const { backend, http } = require('../helpers/backend')
const { dial, serve } = require('../helpers/client')
const { readByPeer } = require('../helpers/waiting')

test('a listener that only looks does not keep the connection from ending with its peer', async (t) => {
  const server = http.createServer(() => assert.fail('served'))
  const told = once(server, 'clientError')
  const port = await serve(t, server)
  const wire = await dial(t, port)
  wire.write('Oopsie-doopsie\r\n')
  const [error, socket] = await told
  assert.equal(error.code, 'HPE_INVALID_METHOD')
  assert.equal(socket.destroyed, false)
  const closed = once(socket, 'close')
  wire.socket.end()
  await closed
  assert.equal(await wire.untilClosed(), '')
})

test('a refused message and its end in one segment: the listener answers, and the connection closes', async (t) => {
  const server = http.createServer(() => assert.fail('served'))
  server.on('clientError', (error, socket) => socket.end(`HTTP/1.1 400 ${/** @type {any} */ (error).code}\r\n\r\n`))
  const port = await serve(t, server)
  const wire = await dial(t, port)
  wire.socket.end('Oopsie-doopsie\r\n')
  assert.equal(await wire.untilClosed(), 'HTTP/1.1 400 HPE_INVALID_METHOD\r\n\r\n')
  server.close()
  await once(server, 'close')
})

test('every piece behind a refused message is a clientError of the same kind, a valid request too', async (t) => {
  const server = http.createServer(() => assert.fail('served'))
  const port = await serve(t, server)
  const wire = await dial(t, port)
  const pieces = ['*', '*', 'GET / HTTP/1.1\r\nHost: a\r\n\r\n', '\r\n']
  for (const piece of pieces) {
    const told = once(server, 'clientError')
    wire.write(piece)
    const [error] = await told
    assert.equal(error.code, 'HPE_INVALID_METHOD')
    assert.equal(error.message, 'Parse Error: Invalid method encountered')
    assert.equal(error.reason, 'Invalid method encountered')
    assert.equal(error.rawPacket.toString(), piece)
  }
})

test('a listener that destroys the connection hears of it once', async (t) => {
  const server = http.createServer(() => assert.fail('served'))
  let times = 0
  server.on('clientError', (_error, socket) => {
    times++
    socket.destroy()
  })
  const port = await serve(t, server)
  const wire = await dial(t, port)
  for (let i = 0; i < 10; i++) wire.write('*\r\n')
  await wire.untilClosed()
  assert.equal(times, 1)
})

test("an 'error' that the application emits on the socket of a request is answered with 400, and never uncaught", async (t) => {
  /** @type {string[]} */
  const seen = []
  const server = http.createServer(({ socket }) => {
    // As on-finished does, which Express, koa and send use: destroy() finds no listener but the server's own.
    socket.once('error', (error) => seen.push(error.message))
    socket.on('close', (hadError) => seen.push(`closed ${hadError}`))
    socket.emit('error', new Error('boom'))
    seen.push(`listeners ${socket.listenerCount('error')}`)
  })
  const port = await serve(t, server)
  const wire = await dial(t, port)
  wire.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
  assert.equal(await wire.untilClosed(), 'HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n')
  assert.deepEqual(seen, ['boom', 'listeners 1', 'closed true'])
})

const kChunked = 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n'
const kHead = 'GET / HTTP/1.1\r\nHost: a\r\n'
const kLong = 'x'.repeat(9000)
/** Messages with a fault, by the segments in which they come. @type {[string, ...string[]][]} */
const kFaults = [
  ['a method behind a request', `${kHead}\r\nBAD\x01 / HTTP/1.1\r\n\r\n`],
  ['a method behind the end of a body', 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nab', 'cdeBAD\x01 / HTTP/1.1\r\n\r\n'],
  ['a field name', 'GET / HTTP/1.1\r\nHo', 'st: a\r\nBad Name: x\r\n\r\n'],
  ['a field name behind two pieces', 'GET / HT', 'TP/1.1\r\nHost: a\r\n', 'Bad Name: x\r\n\r\n'],
  ['a head that is too long', `${kHead}A: ${kLong}`, `${kLong}\r\n\r\n`],
  ['data behind a closing request', `${kHead}Connection: close\r\n\r\nGET / HTTP/1.1\r\n`],
  ['a chunk size with its head', `${kChunked}3\r\nabc\r\nzz\r\n`],
  ['a chunk size behind a chunk in pieces', `${kChunked}3\r\nab`, 'c\r\n5\r\nabcde\r\nzz\r\n'],
  ['a chunk size in pieces', kChunked, '1', '0z\r\n'],
  ['a chunk size without digits', `${kChunked}3\r\nabc\r\n`, ';\r\n'],
  ['a chunk size that is too large', kChunked, 'ffffffff', 'ffffffffff\r\n'],
  ['the line feed behind a chunk size', `${kChunked}3\r`, 'abc'],
  ['the line end behind a chunk', `${kChunked}3\r\nabc`, 'xx'],
  ['the line feed behind a chunk', `${kChunked}3\r\nabc\r`, 'x'],
  ['a chunk extension', `${kChunked}3`, ';\x01\r\n'],
  ['a chunk extension in pieces', `${kChunked}3;na`, 'me=va', 'l\x01\r\n'],
  ['a quoted chunk extension', `${kChunked}3;a="b`, '\x01"\r\n'],
  ['a chunk extension behind a quoted one', `${kChunked}3;a="b"`, 'x\r\n'],
  ['chunk extensions that are too long', `${kChunked}3;${kLong}`, `${kLong}\r\n`],
  ['a trailer', `${kChunked}3\r\nabc\r\n`, '0\r\nA: b\r\n', 'C D: x\r\n\r\n'],
  ['a trailer that begins in another piece', `${kChunked}0\r\nA: b\r\nC`, ' D: x\r\n\r\n'],
  ['a chunk size behind 100 kB', `${kChunked}186a0\r\n`, ...Array.from({ length: 10 }, () => 'x'.repeat(10_000)), '\r\n', 'zz\r\n'],
  ['a chunk size behind 2,000 chunks', kChunked, ...Array.from({ length: 4 }, () => '40\r\n' + 'x'.repeat(64) + '\r\n').map((chunk) => chunk.repeat(500)), 'zz\r\n'],
]

/**
 * @param {import('node:test').TestContext} t @param {typeof stock} module @param {string[]} segments
 * @returns {Promise<string>} what the listener of 'clientError' is told
 */
async function toldOf (t, module, segments) {
  const server = module.createServer((req, res) => {
    req.on('error', () => {}).resume()
    if (req.headers.connection !== 'close') req.on('end', () => res.end())
  })
  const told = once(server, 'clientError')
  const wire = await dial(t, await serve(t, server))
  for (const segment of segments) {
    wire.write(segment)
    await readByPeer(wire.socket)
  }
  const [error, socket] = await told
  socket.destroy()
  return `${error.code}, ${error.reason}, ${error.message}, ${error.bytesParsed} of ${JSON.stringify(String(error.rawPacket).slice(0, 100))}`
}

test('clientError names the fault, and its place in what was read last, as node:http does', { skip: backend === 'node' && 'node:http is the reference' }, async (t) => {
  for (const [what, ...segments] of kFaults) {
    const [expected, told] = await Promise.all([toldOf(t, stock, segments), toldOf(t, http, segments)])
    assert.equal(told, expected, what)
  }
})
