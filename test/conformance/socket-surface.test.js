'use strict'

// Goal: req.socket is the net.Socket that frameworks, loggers and rate limiters take it for.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const net = require('node:net')
const { Duplex } = require('node:stream')
const { once } = require('node:events')
const { http } = require('../helpers/backend')
const { dial, get, request, serve } = require('../helpers/client')

/**
 * Serves one request with a handler and resolves to what the handler returns.
 *
 * @param {import('node:test').TestContext} t
 * @param {(req: any, res: any, server: any) => any} handler
 * @param {any} [options] of createServer
 */
async function inHandler (t, handler, options = {}) {
  /** @type {any} */
  let result
  const server = http.createServer(options, (req, res) => {
    result = new Promise((resolve) => resolve(handler(req, res, server)))
    result.catch(() => res.destroy())
    if (!res.writableEnded) res.end('x')
  })
  const port = await serve(t, server)
  const wire = await dial(t, port)
  wire.write(get())
  await wire.until('\r\n\r\nx')
  return { result: await result, wire, port, server }
}

test('the socket is a net.Socket and a Duplex', async (t) => {
  const { result: socket, server } = await inHandler(t, (req) => req.socket)
  assert.ok(socket instanceof net.Socket)
  assert.ok(socket instanceof Duplex)
  assert.equal(socket.constructor.name, 'Socket')
  assert.equal(socket.server, server)
})

test('addresses of both ends are known', async (t) => {
  const { result, wire, port } = await inHandler(t, ({ socket }) => ({
    remoteAddress: socket.remoteAddress,
    remotePort: socket.remotePort,
    remoteFamily: socket.remoteFamily,
    localAddress: socket.localAddress,
    localPort: socket.localPort,
    localFamily: socket.localFamily,
    address: socket.address()
  }))
  assert.deepEqual(result, {
    remoteAddress: '127.0.0.1',
    remotePort: wire.socket.localPort,
    remoteFamily: 'IPv4',
    localAddress: '127.0.0.1',
    localPort: port,
    localFamily: 'IPv4',
    address: { address: '127.0.0.1', family: 'IPv4', port }
  })
})

test('addresses read once stay readable after the connection has closed', async (t) => {
  const { result: socket, wire } = await inHandler(t, ({ socket }) => {
    assert.equal(typeof socket.remoteAddress, 'string')
    return socket
  })
  const { remoteAddress, remotePort } = socket
  const closed = once(socket, 'close')
  wire.destroy()
  await closed
  assert.equal(socket.remoteAddress, remoteAddress)
  assert.equal(socket.remotePort, remotePort)
})

test('states of an open connection', async (t) => {
  const { result } = await inHandler(t, ({ socket }) => ({
    connecting: socket.connecting,
    pending: socket.pending,
    destroyed: socket.destroyed,
    readable: socket.readable,
    writable: socket.writable,
    readyState: socket.readyState,
    encrypted: socket.encrypted,
    allowHalfOpen: socket.allowHalfOpen,
    timeout: socket.timeout,
    writableLength: socket.writableLength,
    writableEnded: socket.writableEnded
  }))
  assert.deepEqual(result, {
    connecting: false,
    pending: false,
    destroyed: false,
    readable: true,
    writable: true,
    readyState: 'open',
    encrypted: undefined,
    allowHalfOpen: true,
    timeout: undefined,
    writableLength: 0,
    writableEnded: false
  })
})

test('states after the connection has closed', async (t) => {
  const { result: socket, wire } = await inHandler(t, ({ socket }) => socket)
  const closed = once(socket, 'close')
  wire.destroy()
  assert.deepEqual(await closed, [false])
  assert.equal(socket.destroyed, true)
  assert.equal(socket.readable, false)
  assert.equal(socket.writable, false)
  assert.equal(socket.readyState, 'closed')
  assert.equal(socket.closed, true)
})

test('bytesRead and bytesWritten count what went over the wire', async (t) => {
  const body = 'b'.repeat(1000)
  const { result: socket, wire } = await inHandler(t, (req, res) => {
    res.sendDate = false
    return req.socket
  })
  assert.equal(socket.bytesWritten, wire.text.length)
  assert.ok(socket.bytesRead > 0)
  const before = socket.bytesRead
  wire.write(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n${body}`)
  await wire.until('\r\n\r\nx', 2)
  assert.equal(socket.bytesWritten, wire.text.length)
  assert.ok(socket.bytesRead - before >= body.length)
})

test('one socket object serves all requests of a connection and keeps what is stored on it', async (t) => {
  const sockets = /** @type {any[]} */ ([])
  const server = http.createServer(({ socket }, res) => {
    sockets.push(socket)
    socket.visits = (socket.visits ?? 0) + 1
    res.end(`visit ${socket.visits}`)
  })
  const port = await serve(t, server)
  const wire = await dial(t, port)
  for (let i = 1; i <= 3; i++) {
    wire.write(get())
    await wire.until(`visit ${i}`)
  }
  assert.equal(new Set(sockets).size, 1)
  await request(port)
  assert.equal(new Set(sockets).size, 2)
})

test('req.connection and res.connection are the socket', async (t) => {
  const { result } = await inHandler(t, (req, res) => [req.connection === req.socket, res.connection === req.socket, res.socket === req.socket])
  assert.deepEqual(result, [true, true, true])
})

test('_httpMessage is the response that is being written, and null between requests', async (t) => {
  const { result: socket } = await inHandler(t, (req, res) => {
    assert.equal(req.socket._httpMessage, res)
    return req.socket
  })
  assert.equal(socket._httpMessage, null)
})

test('the "connection" event brings the socket of the later requests, with its server', async (t) => {
  const server = http.createServer((req, res) => res.end('x'))
  const port = await serve(t, server)
  const connection = once(server, 'connection')
  const request = once(server, 'request')
  const wire = await dial(t, port)
  const [socket] = await connection
  assert.equal(socket.server, server)
  assert.equal(socket.remotePort, wire.socket.localPort)
  wire.write(get())
  assert.equal((await request)[0].socket, socket)
})

test('a timeout set on the socket is an event on it and on the request\'s server', async (t) => {
  const events = /** @type {string[]} */ ([])
  const server = http.createServer((req) => {
    req.socket.setTimeout(50, () => events.push('callback'))
    req.socket.on('timeout', () => events.push('socket'))
    assert.equal(req.socket.timeout, 50)
  })
  server.on('timeout', (socket) => {
    events.push('server')
    socket.destroy()
  })
  const port = await serve(t, server)
  await assert.rejects(request(port), { code: 'ECONNRESET' })
  assert.deepEqual(events, ['server', 'callback', 'socket'])
})

test('a socket whose timeout nobody handles is destroyed', async (t) => {
  const port = await serve(t, http.createServer((req) => { req.socket.setTimeout(50) }))
  await assert.rejects(request(port), { code: 'ECONNRESET' })
})

test('setTimeout(0) switches a timeout off', async (t) => {
  const port = await serve(t, http.createServer((req, res) => {
    req.socket.setTimeout(30)
    req.socket.setTimeout(0)
    // Silence for longer than the timeout.
    setTimeout(() => res.end('patient'), 120)
  }))
  assert.equal((await request(port)).body, 'patient')
})

test('an answer of which some has left has one timeout more', async (t) => {
  const kTimeoutMs = 300
  let begun = 0
  const server = http.createServer((req, res) => {
    begun = performance.now()
    res.end(Buffer.alloc(30_000_000))
  })
  server.timeout = kTimeoutMs
  const timeout = once(server, 'timeout')
  const wire = await dial(t, await serve(t, server))
  wire.socket.pause()
  wire.write(get())
  const [socket] = await timeout
  const ms = performance.now() - begun
  socket.destroy()
  assert.ok(ms > 1.9 * kTimeoutMs, `the timeout came after ${ms} ms`)
})

test('activity on the socket starts its timeout anew', async (t) => {
  const port = await serve(t, http.createServer((req, res) => {
    let written = performance.now()
    // Where the machine has kept the process from writing for so long the timeout is right.
    req.socket.setTimeout(400, () => { if (performance.now() - written < 400) req.socket.destroy() })
    let pieces = 0
    const timer = setInterval(() => {
      written = performance.now()
      res.write('.')
      if (++pieces === 8) {
        clearInterval(timer)
        res.end('done')
      }
    }, 100)
  }))
  assert.equal((await request(port)).body, '........done')
})

test('setNoDelay, setKeepAlive, ref, unref, setTimeout and cork answer as on a net.Socket', async (t) => {
  const { result } = await inHandler(t, ({ socket }) => [
    socket.setNoDelay() === socket,
    socket.setNoDelay(false) === socket,
    socket.setKeepAlive(true, 1000) === socket,
    socket.setKeepAlive(false) === socket,
    socket.unref() === socket,
    socket.ref() === socket,
    socket.setTimeout(0) === socket
  ])
  assert.deepEqual(result, Array(7).fill(true))
})

test('setEncoding on an http socket throws', async (t) => {
  await inHandler(t, ({ socket }) => {
    assert.throws(() => socket.setEncoding('utf8'), { code: 'ERR_HTTP_SOCKET_ENCODING' })
  })
})

test('bytes written on the socket itself go out between two responses', async (t) => {
  const { result: socket, wire } = await inHandler(t, (req, res) => {
    res.setHeader('Content-Length', 1)
    return req.socket
  })
  socket.write('raw ')
  socket.write(Buffer.from('bytes'))
  assert.equal(socket.writableLength, 0)
  await wire.until('xraw bytes')
})

test('cork and uncork on the socket put writes together and lose nothing', async (t) => {
  const { result: socket, wire } = await inHandler(t, (req) => req.socket)
  socket.cork()
  assert.equal(socket.writableCorked, 1)
  socket.write('one ')
  socket.write('two')
  assert.equal(socket.writableLength, 7)
  socket.uncork()
  assert.equal(socket.writableLength, 0)
  await wire.until('one two')
})

test('the callback of a small write comes, and "finish" follows end()', async (t) => {
  const { result: socket, wire } = await inHandler(t, (req) => req.socket)
  await new Promise((resolve) => socket.write('written', resolve))
  const finished = once(socket, 'finish')
  socket.end('last')
  await finished
  assert.match(await wire.untilClosed(), /writtenlast$/)
})

test('destroySoon() sends what was written, then closes', async (t) => {
  const big = 'z'.repeat(512 * 1024)
  const { result: socket, wire } = await inHandler(t, (req) => req.socket)
  const closed = once(socket, 'close')
  socket.write(big)
  socket.destroySoon()
  const text = await wire.untilClosed()
  assert.ok(text.endsWith(big))
  assert.deepEqual(await closed, [false])
})

test('destroy() closes at once, without an error event', async (t) => {
  const { result: socket, wire } = await inHandler(t, (req) => req.socket)
  const closed = once(socket, 'close')
  assert.equal(socket.destroy(), socket)
  assert.equal(socket.destroyed, true)
  assert.deepEqual(await closed, [false])
  await wire.untilClosed()
})

test('destroy(error) is a clientError, and "close" says so', async (t) => {
  const { result: socket, server, wire } = await inHandler(t, (req) => req.socket)
  const clientError = once(server, 'clientError')
  const closed = new Promise((resolve) => socket.on('close', resolve))
  const error = new Error('on purpose')
  socket.destroy(error)
  assert.equal((await clientError)[0], error)
  assert.equal(await closed, true)
  await wire.untilClosed()
})

test('resetAndDestroy() resets the connection', async (t) => {
  const { result: socket, wire } = await inHandler(t, (req) => req.socket)
  const closed = once(socket, 'close')
  socket.resetAndDestroy()
  await wire.untilClosed()
  assert.equal(/** @type {any} */ (wire.error)?.code, 'ECONNRESET')
  await closed
  assert.equal(socket.destroyed, true)
})

test('writing on a closed socket is an error for the callback, not for the process', async (t) => {
  const { result: socket, wire } = await inHandler(t, (req) => req.socket)
  wire.destroy()
  await once(socket, 'close')
  const error = await new Promise((resolve) => socket.write('late', resolve))
  assert.ok(['ERR_STREAM_WRITE_AFTER_END', 'ERR_STREAM_DESTROYED', 'EPIPE'].includes(error.code), error.code)
})

test('a socket destroyed in its "connection" event gets no request', async (t) => {
  const server = http.createServer(() => assert.fail('no request may come'))
  server.once('connection', (socket) => socket.destroy())
  const port = await serve(t, server)
  await assert.rejects(request(port), (/** @type {any} */ error) => ['ECONNRESET', 'EPIPE'].includes(error.code))
})

test('pausing the socket and resuming it during an upload loses nothing', async (t) => {
  const total = 4 * 1024 * 1024
  let received = 0
  const port = await serve(t, http.createServer((req, res) => {
    req.on('data', (piece) => {
      received += piece.length
      req.socket.pause()
      setImmediate(() => req.socket.resume())
    })
    req.on('end', () => res.end(`got ${received}`))
  }))
  assert.equal((await request({ port, method: 'POST' }, Buffer.alloc(total))).body, `got ${total}`)
})

test('the peer\'s FIN is an "end" event while an answer is on its way', async (t) => {
  const server = http.createServer((req, res) => {
    req.socket.on('end', () => server.emit('fin'))
    server.once('fin', () => res.end('answered'))
  })
  server.httpAllowHalfOpen = true
  const port = await serve(t, server)
  const wire = await dial(t, { port, host: '127.0.0.1', allowHalfOpen: true })
  wire.socket.end(get())
  await wire.until('answered')
  wire.destroy()
})

test('highWaterMark of the server is the sockets\'', async (t) => {
  const { result } = await inHandler(t, ({ socket }) => [socket.readableHighWaterMark, socket.writableHighWaterMark], { highWaterMark: 1234 })
  assert.deepEqual(result, [1234, 1234])
})

test('listeners on the socket survive keep-alive and do not multiply', async (t) => {
  const server = http.createServer(({ socket }, res) => {
    res.end(JSON.stringify(['close', 'timeout', 'drain', 'error'].map((name) => socket.listenerCount(name))))
  })
  const port = await serve(t, server)
  const wire = await dial(t, port)
  wire.write(get())
  await wire.until(/\]/)
  for (let i = 2; i <= 15; i++) {
    wire.write(get())
    await wire.until(/\]/, i)
  }
  const counts = wire.text.match(/\[[\d,]+\]/g) ?? []
  assert.equal(counts.length, 15)
  assert.equal(new Set(counts).size, 1)
})

test('a response may be piped from a stream into the socket of an HTTP/1.0 style handler', async (t) => {
  const { Readable } = require('node:stream')
  const port = await serve(t, http.createServer(({ socket }) => {
    Readable.from(['HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n', 'by hand']).pipe(socket)
  }))
  assert.equal((await request(port)).body, 'by hand')
})

test('a connection that a "clientError" listener leaves open ends with its peer', async (t) => {
  const server = http.createServer((req, res) => res.end('x'))
  const port = await serve(t, server)
  const clientError = once(server, 'clientError')
  const wire = await dial(t, port)
  wire.write('no request\r\n\r\n')
  const [, socket] = await clientError
  const closed = once(socket, 'close')
  assert.equal(socket.destroyed, false)
  wire.destroy()
  await closed
  assert.equal(await new Promise((resolve) => server.getConnections((error, count) => resolve(error ?? count))), 0)
})

test('listeners that Node has on the socket are counted, also before anything was listened to', async (t) => {
  const { result, wire } = await inHandler(t, ({ socket }) => {
    const counts = Object.fromEntries(['data', 'error', 'close', 'drain', 'timeout'].map((name) => [name, socket.listenerCount(name)]))
    return { counts, socket }
  })
  // The second 'close' is the response's.
  assert.deepEqual(result.counts, { data: 1, error: 1, close: 2, drain: 1, timeout: 1 })
  wire.write(get())
  await wire.until('\r\n\r\nx')
  assert.equal(result.socket.listenerCount('close'), 1)
})

test('a "data" listener on the socket sees the bytes of a body, which the request gets too', async (t) => {
  let seen = ''
  const server = http.createServer((req, res) => {
    let body = ''
    req.socket.on('data', (/** @type {Buffer} */ chunk) => { seen += chunk.toString('latin1') })
    req.on('data', (chunk) => { body += chunk })
    req.on('end', () => res.end(body))
    res.flushHeaders()
  })
  const wire = await dial(t, await serve(t, server))
  wire.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n')
  await wire.until('\r\n\r\n')
  wire.write('0123456789')
  await wire.until('0123456789')
  assert.equal(seen, '0123456789')
})

test('a "data" listener on the socket sees what was refused', async (t) => {
  let seen = ''
  const server = http.createServer((req, res) => {
    res.end('x')
    req.socket.on('data', (/** @type {Buffer} */ chunk) => { seen += chunk.toString('latin1') })
  })
  const wire = await dial(t, await serve(t, server))
  wire.write(get())
  await wire.until('\r\n\r\nx')
  wire.write('hello world')
  await wire.untilClosed()
  assert.equal(seen, 'hello world')
})

test('an "error" listener that a handler puts on the socket hears of a later malformed request', async (t) => {
  /** @type {any[]} */
  const errors = []
  const server = http.createServer((req, res) => {
    req.socket.on('error', (error) => errors.push(error))
    res.end('x')
  })
  const wire = await dial(t, await serve(t, server))
  wire.write(get())
  await wire.until('\r\n\r\nx')
  wire.write('hello world')
  await wire.untilClosed()
  assert.deepEqual(errors.map(({ code }) => code), ['HPE_INVALID_METHOD'])
})
