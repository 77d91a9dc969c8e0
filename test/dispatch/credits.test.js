'use strict'

// Goal: a write is done when it is accepted, and what is accepted and not sent is bounded.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const { once } = require('node:events')
const { setFlagsFromString } = require('node:v8')
const { runInNewContext } = require('node:vm')
const { http } = require('../helpers/backend')
const { startChild } = require('../helpers/child')
const { dial, get, serve } = require('../helpers/client')
const { silence } = require('../helpers/waiting')

const kMiB = 1024 * 1024
// What the kernel may hold for one loopback connection, both sides (tcp_wmem + tcp_rmem maxima).
const kKernelBytes = 16 * kMiB

/**
 * What arrives from here on, up to so many bytes: collected by a listener, since one turn may bring several pieces.
 *
 * @param {import('../helpers/client').Wire} wire whose socket stands still
 * @param {(first: Buffer) => number} wanted the bytes to wait for, which the first piece may tell
 * @returns {Promise<Buffer>}
 */
function collect (wire, wanted) {
  const chunks = /** @type {Buffer[]} */ ([])
  let received = 0
  return new Promise((resolve, reject) => wire.socket.on('data', (piece) => {
    chunks.push(piece)
    received += piece.length
    if (received >= wanted(chunks[0])) resolve(Buffer.concat(chunks))
  }).on('close', () => reject(new Error(`closed after ${received} bytes`))).resume())
}

/**
 * An upgraded socket and the client's end of it.
 *
 * @param {import('node:test').TestContext} t
 */
async function upgraded (t) {
  const server = http.createServer()
  const upgrade = once(server, 'upgrade')
  // Before serve(): a server closes only after its upgraded sockets.
  t.after(async () => (await upgrade)[1].destroy())
  const port = await serve(t, server)
  const wire = await dial(t, port)
  wire.write('GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n')
  const [, socket] = await upgrade
  socket.on('error', () => {})
  socket.write('HTTP/1.1 101 Switching Protocols\r\n\r\n')
  await wire.until('\r\n\r\n')
  return { socket, wire }
}

test('after a small write writableLength is 0 in the same tick', async (t) => {
  const { socket, wire } = await upgraded(t)
  for (let i = 0; i < 100; i++) {
    assert.equal(socket.write(`message ${i};`), true)
    assert.equal(socket.writableLength, 0)
    assert.equal(socket.writableNeedDrain, false)
  }
  await wire.until('message 99;')
})

test('callbacks of writes come in order, in a later tick than write()', async (t) => {
  const { socket, wire } = await upgraded(t)
  const order = /** @type {string[]} */ ([])
  const done = new Promise((resolve) => {
    socket.write('a', () => order.push('a'))
    socket.write(Buffer.from('b'), () => order.push('b'))
    socket.write('c', () => resolve(order.push('c')))
    order.push('returned')
  })
  await done
  assert.deepEqual(order, ['returned', 'a', 'b', 'c'])
  await wire.until('abc')
})

test('a reader that stops makes write() say false, and "drain" comes when it goes on', async (t) => {
  const { socket, wire } = await upgraded(t)
  wire.socket.pause()
  const piece = Buffer.alloc(64 * 1024, 0x61)
  let written = 0
  while (written < 2 * kKernelBytes && socket.write(piece)) {
    written += piece.length
    await new Promise((resolve) => setImmediate(resolve))
  }
  assert.ok(written < 2 * kKernelBytes, `${written} bytes accepted without a reader`)
  assert.equal(socket.writableNeedDrain, true)
  const drained = once(socket, 'drain')
  wire.socket.resume()
  await drained
  assert.equal(socket.writableLength, 0)
})

test('a large write is done only when all of it was sent', async (t) => {
  const { socket, wire } = await upgraded(t)
  wire.socket.removeAllListeners('data')
  const total = 3 * kKernelBytes
  let done = false
  const written = new Promise((resolve) => socket.write(Buffer.alloc(total, 0x61), () => {
    done = true
    resolve(null)
  }))
  let received = 0
  await new Promise((resolve) => wire.socket.on('data', (piece) => {
    received += piece.length
    if (received < kKernelBytes) return
    wire.socket.removeAllListeners('data').pause()
    // Twice around the loop: whatever was to be reported about these bytes has been.
    setImmediate(() => setImmediate(resolve))
  }))
  assert.equal(done, false)
  assert.equal(socket.writableNeedDrain, true)
  wire.socket.resume()
  await written
})

test('"finish" of a response waits until a stopped reader has made room', async (t) => {
  const total = 3 * kKernelBytes
  let finished = false
  const server = http.createServer((req, res) => {
    res.on('finish', () => {
      finished = true
      server.emit('finished')
    })
    res.end(Buffer.alloc(total, 0x61))
    server.emit('asked', res)
  })
  const port = await serve(t, server)
  const wire = await dial(t, port)
  wire.socket.removeAllListeners('data')
  wire.socket.pause()
  const asked = once(server, 'asked')
  wire.write(get())
  const [res] = await asked
  await silence(300)
  assert.equal(finished, false)
  assert.equal(res.writableFinished, false)
  const over = once(server, 'finished')
  wire.socket.resume()
  await over
})

test('a large buffer may be changed once the callback of its write ran: not one byte of it is on its way', async (t) => {
  const { socket, wire } = await upgraded(t)
  const bytes = 2 * kKernelBytes
  wire.socket.removeAllListeners('data')
  wire.socket.pause()
  const buffer = Buffer.alloc(bytes, 'a')
  // Credits for the small write come while the large one is being sent.
  socket.write(Buffer.alloc(1000, 'a'))
  socket.write(buffer, () => buffer.fill('b'))
  await silence(100)
  assert.equal(buffer[0], 0x61, 'the callback ran although the reader has stopped')
  const received = await collect(wire, () => bytes + 1000)
  assert.equal(received.indexOf('b'), -1)
})

test('the bytes of a large string stay until they are sent', async (t) => {
  setFlagsFromString('--expose-gc')
  const gc = runInNewContext('gc')
  const { socket, wire } = await upgraded(t)
  wire.socket.removeAllListeners('data')
  wire.socket.pause()
  const piece = 'a'.repeat(40_000)
  const pieces = Math.ceil(2 * kKernelBytes / piece.length)
  for (let i = 0; i < pieces; i++) socket.write(piece)
  await silence(100)
  assert.notEqual(socket.writableLength, 0, 'all was sent although the reader has stopped')
  // Memory of theirs that was let go of would be used again here.
  const others = []
  for (let i = 0; i < 10; i++) {
    gc()
    await new Promise((resolve) => setImmediate(resolve))
    for (let j = 0; j < 20; j++) others.push(Buffer.alloc(piece.length, 'b'))
  }
  let left = pieces * piece.length
  let wrong = 0
  await new Promise((resolve) => wire.socket.on('close', resolve).on('data', (chunk) => {
    if (!chunk.equals(Buffer.alloc(chunk.length, 'a'))) wrong++
    left -= chunk.length
    if (left === 0) resolve(null)
  }).resume())
  assert.deepEqual({ left, wrong }, { left: 0, wrong: 0 })
})

test('bytesWritten of the socket is what was accepted', async (t) => {
  const { socket, wire } = await upgraded(t)
  const before = socket.bytesWritten
  socket.write('four')
  socket.write(Buffer.alloc(100_000))
  assert.equal(socket.bytesWritten - before, 100_004)
  while (wire.text.length < 100_004) await once(wire.socket, 'data')
})

test('20 clients that stop reading endless answers cost the server a bounded amount of memory', async (t) => {
  const child = startChild(({ http, report }) => {
    const piece = Buffer.alloc(64 * 1024, 0x61)
    let written = 0
    const server = http.createServer((req, res) => {
      const pump = () => {
        do written += piece.length; while (res.write(piece))
        res.once('drain', pump)
      }
      pump()
    })
    process.on('message', (/** @type {any} */ { name }) => {
      const { rss, arrayBuffers, external } = process.memoryUsage()
      report({ [name]: { rss, arrayBuffers, external, written } })
    })
    server.listen(0, '127.0.0.1', () => report({ port: /** @type {any} */ (server.address()).port }))
  })
  t.after(() => child.kill())
  const port = await child.message('port')
  const measure = (/** @type {string} */ name) => {
    child.send({ name })
    return child.message(name)
  }
  const before = await measure('before')
  for (let i = 0; i < 20; i++) {
    const wire = await dial(t, port)
    wire.socket.pause()
    wire.write(get())
  }
  let last = before
  for (let i = 0, written = 0; written === 0 || written !== last.written; i++) {
    written = last.written
    // No event says that nothing moves any more; a slow machine ends the loop early, with fewer bytes.
    await silence(250)
    last = await measure(`look ${i}`)
    assert.ok(i < 60, 'the server never stops writing')
  }
  assert.ok(last.written < 20 * (kKernelBytes + kMiB), `${last.written} bytes accepted`)
  // Kernel buffers are not the process's; 20 connections with 256 KiB of credit each are.
  assert.ok(last.rss - before.rss < 40 * kMiB, `RSS grew by ${last.rss - before.rss}`)
  assert.ok(last.arrayBuffers - before.arrayBuffers < 20 * kMiB)
})

test('a writer that ignores write()\'s answer keeps its bytes and they arrive in order', async (t) => {
  const pieces = 400
  const port = await serve(t, http.createServer((req, res) => {
    res.setHeader('Content-Length', pieces * 50_000)
    for (let i = 0; i < pieces; i++) res.write(Buffer.alloc(50_000, i & 0xff))
    res.end()
  }))
  const wire = await dial(t, port)
  wire.socket.removeAllListeners('data')
  wire.socket.pause()
  wire.write(get())
  // The reader is late.
  await silence(100)
  const all = await collect(wire, (first) => first.indexOf('\r\n\r\n') + 4 + pieces * 50_000)
  const body = all.subarray(all.indexOf('\r\n\r\n') + 4)
  assert.equal(body.length, pieces * 50_000)
  for (let i = 0; i < pieces; i++) {
    assert.ok(body.subarray(i * 50_000, (i + 1) * 50_000).equals(Buffer.alloc(50_000, i & 0xff)), `piece ${i}`)
  }
})

test('a head that is longer than a reply segment arrives whole, and the next answer too', async (t) => {
  const long = 'v'.repeat(300_000)
  const server = http.createServer((req, res) => {
    if (req.url !== '/') res.setHeader('X-Long', long)
    if (req.url === '/written') res.write('in two ')
    res.end('pieces')
  })
  const wire = await dial(t, await serve(t, server))
  for (const [path, end] of [['/ended', '\r\n\r\npieces'], ['/written', /(?:7\r\nin two \r\n6\r\npieces|d\r\nin two pieces)\r\n0\r\n\r\n/], ['/', '\r\n\r\npieces']]) {
    wire.text = ''
    wire.write(get(path))
    const answer = await wire.until(end)
    assert.equal(answer.includes(`X-Long: ${long}\r\n`), path !== '/', path)
  }
})
