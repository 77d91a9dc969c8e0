'use strict'

// Goal: 'upgrade' and 'connect': the socket that the application gets is a socket like any other.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const net = require('node:net')
const { once } = require('node:events')
const { http } = require('../helpers/backend')
const { dial, get, serve } = require('../helpers/client')
const { kKernelBytesMax } = require('../helpers/kernel-buffers')
const { readByPeer, silence } = require('../helpers/waiting')

const kUpgrade = 'GET /u HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n'
const kConnect = 'CONNECT b:443 HTTP/1.1\r\nHost: b:443\r\n\r\n'
const kSwitching = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n'
const kEstablished = 'HTTP/1.1 200 Connection Established\r\n\r\n'
const kMiB = 1024 * 1024

const kKinds = /** @type {const} */ ([['upgrade', kUpgrade, kSwitching], ['connect', kConnect, kEstablished]])

// Before the server is stopped, which waits for such sockets.
/** @param {import('node:test').TestContext} t @param {Promise<any[]>} upgraded */
function destroyAfter (t, upgraded) {
  t.after(async () => (await upgraded)[1].destroy())
}

/**
 * A connection that was upgraded, or a tunnel.
 *
 * @param {import('node:test').TestContext} t
 * @param {'upgrade' | 'connect'} event
 * @param {string} [more] bytes in the segment of the head
 */
async function open (t, event, more = '') {
  const [, bytes, answer] = kKinds[event === 'upgrade' ? 0 : 1]
  const server = http.createServer(() => assert.fail('request'))
  const upgraded = once(server, event)
  destroyAfter(t, upgraded)
  const wire = await dial(t, await serve(t, server))
  wire.write(bytes + more)
  const [req, socket, head] = await upgraded
  socket.write(answer)
  await wire.until('\r\n\r\n')
  assert.equal(wire.text, answer)
  wire.text = ''
  return { server, req, socket, head, wire }
}

for (const [event] of kKinds) {
  test(`${event}: request, socket and head are what the documentation says`, async (t) => {
    const { req, socket, head } = await open(t, event)
    assert.equal(req.method, event === 'upgrade' ? 'GET' : 'CONNECT')
    assert.equal(req.url, event === 'upgrade' ? '/u' : 'b:443')
    assert.equal(req.upgrade, true)
    assert.equal(req.socket, socket)
    assert.ok(socket instanceof net.Socket)
    assert.ok(Buffer.isBuffer(head))
    assert.equal(head.length, 0)
    assert.equal(socket.listenerCount('error'), 0)
    assert.equal(socket.listenerCount('data'), 0)
  })

  test(`${event}: bytes behind the head are in "head", later ones come as data`, async (t) => {
    const { socket, head, wire } = await open(t, event, 'first\r\n\r\n')
    assert.equal(head.toString(), 'first\r\n\r\n')
    wire.write('second')
    assert.equal(String((await once(socket, 'data'))[0]), 'second')
    wire.write('third')
    assert.equal(String((await once(socket, 'data'))[0]), 'third')
  })

  test(`${event}: data that came before a listener was added is kept`, async (t) => {
    const { socket, wire } = await open(t, event)
    wire.write('early')
    await readByPeer(wire.socket)
    assert.equal(String((await once(socket, 'data'))[0]), 'early')
  })

  test(`${event}: the client may end first and still be answered`, async (t) => {
    const { socket, wire } = await open(t, event)
    const ended = once(socket, 'end')
    socket.resume()
    wire.socket.allowHalfOpen = true
    wire.socket.end('last')
    await ended
    assert.equal(socket.writable, true)
    assert.equal(socket.readableEnded, true)
    socket.write('after your end')
    await wire.until('after your end')
    assert.equal(wire.ended, false)
    const closed = once(socket, 'close')
    socket.end('bye')
    assert.equal(await wire.untilClosed(), 'after your endbye')
    assert.deepEqual(await closed, [false])
  })

  test(`${event}: the server may end first and still be written to`, async (t) => {
    const { socket, wire } = await open(t, event)
    wire.socket.allowHalfOpen = true
    const data = once(socket, 'data')
    const finished = once(socket, 'finish')
    socket.end('I am done')
    await finished
    if (!wire.ended) await once(wire.socket, 'end')
    assert.equal(wire.text, 'I am done')
    wire.write('but I am not')
    assert.equal(String((await data)[0]), 'but I am not')
    const closed = once(socket, 'close')
    wire.socket.end()
    await closed
  })

  test(`${event}: what arrived before the close is read by who comes late`, async (t) => {
    const { socket, wire } = await open(t, event)
    socket.pause()
    wire.socket.allowHalfOpen = true
    socket.end('bye')
    await wire.until('bye')
    wire.socket.end('x'.repeat(50_000))
    await wire.untilClosed()
    // What came is there long before; later it is there, too.
    await silence(50)
    let bytes = 0
    socket.on('data', (piece) => { bytes += piece.length })
    const closed = once(socket, 'close')
    socket.resume()
    await closed
    assert.equal(bytes, 50_000)
  })

  test(`${event}: 8 MiB are echoed whole`, async (t) => {
    const { socket, wire } = await open(t, event)
    const sent = Buffer.allocUnsafe(8 * kMiB)
    for (let i = 0; i < sent.length; i += 4) sent.writeUInt32LE(i, i)
    const received = /** @type {Buffer[]} */ ([])
    let bytes = 0
    wire.socket.removeAllListeners('data')
    const all = new Promise((resolve) => wire.socket.on('data', (piece) => {
      received.push(piece)
      bytes += piece.length
      if (bytes >= sent.length) resolve(null)
    }))
    socket.pipe(socket)
    wire.socket.write(sent)
    await all
    assert.equal(Buffer.compare(Buffer.concat(received), sent), 0)
    wire.socket.end()
    await wire.untilClosed()
  })

  test(`${event}: writableLength is 0 after a small write, in every encoding`, async (t) => {
    const { socket, wire } = await open(t, event)
    for (const [chunk, encoding] of /** @type {[any, BufferEncoding?][]} */ ([
      ['text'], [Buffer.from('buffer')], [new Uint8Array([65, 66])], ['636465', 'hex'], ['Zm9v', 'base64'], ['\xe9', 'latin1'], ['\u20ac', 'utf8'], ['z', 'utf16le']
    ])) {
      assert.equal(socket.write(chunk, encoding), true)
      assert.equal(socket.writableLength, 0)
      assert.equal(socket.bufferSize, 0)
    }
    await wire.until('textbufferABcdefoo\xe9\xe2\x82\xacz\0')
  })

  test(`${event}: the callback of a huge write comes after the peer took the bytes`, async (t) => {
    const { socket, wire } = await open(t, event)
    wire.socket.removeAllListeners('data')
    wire.socket.pause()
    const huge = Buffer.alloc(kKernelBytesMax + 32 * kMiB, 'x')
    let called = false
    const taken = new Promise((resolve) => {
      assert.equal(socket.write(huge, (error) => {
        called = true
        resolve(error)
      }), false)
    })
    assert.ok(socket.writableLength > 0)
    await silence(300)
    assert.equal(called, false)
    let bytes = 0
    wire.socket.on('data', (piece) => { bytes += piece.length })
    wire.socket.resume()
    assert.equal((await taken) ?? null, null)
    assert.ok(bytes >= huge.length - kKernelBytesMax, `${bytes} bytes received`)
    socket.end()
    await wire.untilClosed()
    assert.equal(bytes, huge.length)
    assert.equal(socket.writableLength, 0)
  })

  test(`${event}: callbacks of writes come in their order`, async (t) => {
    const { socket, wire } = await open(t, event)
    const order = /** @type {string[]} */ ([])
    socket.write('a', () => order.push('a'))
    socket.write(Buffer.alloc(200_000, 'b'), () => order.push('b'))
    socket.write('c', () => order.push('c'))
    socket.end('d', () => order.push('end'))
    await wire.untilClosed()
    assert.equal(wire.text.length, 200_003)
    assert.deepEqual(order, ['a', 'b', 'c', 'end'])
  })

  test(`${event}: cork() and uncork() work`, async (t) => {
    const { socket, wire } = await open(t, event)
    socket.cork()
    socket.write('one,')
    socket.write('two')
    assert.equal(socket.writableLength, 7)
    socket.uncork()
    assert.equal(await wire.until('one,two'), 'one,two')
  })

  test(`${event}: a reset by the client is an error ECONNRESET, then "close"`, async (t) => {
    const { socket, wire } = await open(t, event)
    socket.resume()
    const seen = Promise.all([once(socket, 'error'), new Promise((resolve) => socket.once('close', resolve))])
    wire.socket.resetAndDestroy()
    const [[error], hadError] = await seen
    assert.equal(error.code, 'ECONNRESET')
    assert.equal(error.syscall, 'read')
    assert.equal(hadError, true)
  })

  test(`${event}: destroy() closes, destroy(error) tells the error`, async (t) => {
    const { socket, wire } = await open(t, event)
    const seen = Promise.all([once(socket, 'error'), new Promise((resolve) => socket.once('close', resolve))])
    const error = new Error('mine')
    socket.destroy(error)
    const [[told], hadError] = await seen
    assert.equal(told, error)
    assert.equal(hadError, true)
    await wire.untilClosed()
  })

  test(`${event}: setTimeout() emits "timeout" and destroys nothing`, async (t) => {
    const { socket, wire } = await open(t, event)
    socket.setTimeout(50)
    await once(socket, 'timeout')
    socket.setTimeout(0)
    socket.write('still here')
    await wire.until('still here')
  })

  test(`${event}: bytesRead and bytesWritten count the whole connection`, async (t) => {
    const { socket, wire } = await open(t, event)
    const [, head, answer] = kKinds[event === 'upgrade' ? 0 : 1]
    wire.write('12345')
    await once(socket, 'data')
    socket.write('1234567')
    await wire.until('1234567')
    assert.equal(socket.bytesRead, head.length + 5)
    assert.equal(socket.bytesWritten, answer.length + 7)
  })

  test(`${event}: a refusal written to the socket reaches the client`, async (t) => {
    const server = http.createServer()
    server.on(event, (req, socket) => {
      socket.end('HTTP/1.1 401 Unauthorized\r\nConnection: close\r\nContent-Length: 2\r\n\r\nno')
    })
    const wire = await dial(t, await serve(t, server))
    wire.write(event === 'upgrade' ? kUpgrade : kConnect)
    assert.equal(await wire.untilClosed(), 'HTTP/1.1 401 Unauthorized\r\nConnection: close\r\nContent-Length: 2\r\n\r\nno')
  })

  test(`${event}: a listener that destroys the socket closes silently and the server goes on`, async (t) => {
    const server = http.createServer((req, res) => res.end('x'))
    server.on(event, (req, socket) => socket.destroy())
    const port = await serve(t, server)
    const wire = await dial(t, port)
    wire.write(event === 'upgrade' ? kUpgrade : kConnect)
    assert.equal(await wire.untilClosed(), '')
    const other = await dial(t, port)
    other.write(get())
    await other.until('\r\n\r\nx')
  })

  test(`${event}: the timeouts of requests and idle connections do not hold for the socket`, async (t) => {
    // Enough for the request, also on a busy machine.
    const server = http.createServer({ headersTimeout: 500, requestTimeout: 500, keepAliveTimeout: 500, connectionsCheckingInterval: 20 })
    const upgraded = once(server, event)
    destroyAfter(t, upgraded)
    const wire = await dial(t, await serve(t, server))
    wire.write(event === 'upgrade' ? kUpgrade : kConnect)
    const [, socket] = await upgraded
    await silence(1200)
    assert.equal(wire.closed, false)
    socket.write('still here')
    await wire.until('still here')
  })

  test(`${event}: works on a connection that has served requests`, async (t) => {
    const server = http.createServer((req, res) => res.end('x'))
    server.on(event, (req, socket) => socket.end('switched'))
    const wire = await dial(t, await serve(t, server))
    wire.write(get())
    await wire.until('\r\n\r\nx')
    wire.write(event === 'upgrade' ? kUpgrade : kConnect)
    assert.match(await wire.untilClosed(), /switched$/)
  })
}

test('without an upgrade listener the request is an ordinary one and the connection serves on', async (t) => {
  const server = http.createServer((req, res) => res.end(`${req.headers.upgrade} ${req.upgrade} <${req.url}>`))
  const wire = await dial(t, await serve(t, server))
  wire.write(kUpgrade)
  await wire.until('x false </u>')
  wire.write(get('/next'))
  await wire.until('undefined false </next>')
})

test('without an upgrade listener a body is read as one', async (t) => {
  const server = http.createServer((req, res) => {
    let body = ''
    req.on('data', (piece) => { body += piece })
    req.on('end', () => res.end(`<${body}>`))
  })
  const wire = await dial(t, await serve(t, server))
  wire.write('POST / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: x\r\nContent-Length: 3\r\n\r\nabc')
  await wire.until('<abc>')
  wire.write(get())
  await wire.until('<>')
})

test('without a connect listener the connection is closed', async (t) => {
  const wire = await dial(t, await serve(t, http.createServer(() => assert.fail('request'))))
  wire.write(kConnect)
  assert.equal(await wire.untilClosed(), '')
})

for (const [name, head] of [
  ['Upgrade without Connection', 'Upgrade: x\r\n'],
  ['Connection: upgrade without Upgrade', 'Connection: upgrade\r\n'],
  ['Connection: keep-alive with Upgrade', 'Connection: keep-alive\r\nUpgrade: x\r\n']
]) {
  test(`${name} is no upgrade`, async (t) => {
    const server = http.createServer((req, res) => res.end('ordinary'))
    server.on('upgrade', () => assert.fail('upgrade'))
    const wire = await dial(t, await serve(t, server))
    wire.write(`GET / HTTP/1.1\r\nHost: a\r\n${head}\r\n`)
    await wire.until('ordinary')
  })
}

test('Connection may name other tokens, in any case', async (t) => {
  for (const connection of ['keep-alive, Upgrade', 'upgrade, keep-alive', 'UPGRADE']) {
    const server = http.createServer(() => assert.fail('request'))
    server.on('upgrade', (req, socket) => socket.end('switched'))
    const wire = await dial(t, await serve(t, server))
    wire.write(`GET / HTTP/1.1\r\nHost: a\r\nConnection: ${connection}\r\nUpgrade: x\r\n\r\n`)
    assert.equal(await wire.untilClosed(), 'switched')
  }
})

test('an upgrade listener added or removed while serving counts from the next request on', async (t) => {
  const server = http.createServer((req, res) => res.end('ordinary'))
  const port = await serve(t, server)
  const first = await dial(t, port)
  first.write(kUpgrade)
  await first.until('ordinary')
  /** @param {any} req @param {any} socket */
  const listener = (req, socket) => socket.end('switched')
  server.on('upgrade', listener)
  first.write(kUpgrade)
  assert.match(await first.untilClosed(), /switched$/)
  server.off('upgrade', listener)
  const second = await dial(t, port)
  second.write(kUpgrade)
  await second.until('ordinary')
})

test('a tunnel made of two pipes carries a request to another server', async (t) => {
  const target = http.createServer((req, res) => res.end(`target ${req.url}`))
  const targetPort = await serve(t, target)
  const proxy = http.createServer()
  proxy.on('connect', (req, client, head) => {
    const upstream = net.connect(Number(String(req.url).split(':')[1]), '127.0.0.1', () => {
      client.write(kEstablished)
      upstream.write(head)
      upstream.pipe(client)
      client.pipe(upstream)
    })
    upstream.on('error', () => client.destroy())
    client.on('error', () => upstream.destroy())
  })
  const wire = await dial(t, await serve(t, proxy))
  wire.write(`CONNECT 127.0.0.1:${targetPort} HTTP/1.1\r\nHost: a\r\n\r\n`)
  await wire.until(kEstablished)
  wire.write(get('/1'))
  await wire.until('target /1')
  wire.write(get('/2'))
  await wire.until('target /2')
  wire.socket.end()
  await wire.untilClosed()
})

test('a socket that is piped both ways closes when the other side has gone just before the last bytes of its client', async (t) => {
  /** @type {any} */
  let behind
  /** @type {any} */
  let served
  const target = net.createServer((socket) => {
    behind = socket.on('error', () => {})
    socket.write('hello')
  })
  await serve(t, Object.assign(target, { closeAllConnections: () => {} }), 0, '127.0.0.1')
  const front = http.createServer().on('upgrade', (req, socket) => {
    served = socket
    const other = net.connect(/** @type {net.AddressInfo} */ (target.address()).port, '127.0.0.1', () => other.pipe(socket).pipe(other))
    other.on('error', () => socket.end())
    socket.on('error', () => other.end())
  })
  const port = await serve(t, front)
  for (let i = 0; i < 60; i++) {
    const wire = await dial(t, port)
    await wire.write(kUpgrade).until('hello')
    const closed = once(served, 'close')
    behind.destroy()
    wire.write('bye')
    wire.socket.end()
    await closed
  }
})
