'use strict'

// Goal: a connection whose message was refused belongs to the 'clientError' listener, which may well
// do nothing; the connection still learns what its peer does.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const { once } = require('node:events')
const { http } = require('../helpers/backend')
const { dial, serve } = require('../helpers/client')

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
