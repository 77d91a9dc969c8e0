'use strict'

// Goal: a peer that is slow, fast or rude costs the server a bounded amount of memory. Each server is a
// process of its own that reports what it has grown by.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const { once } = require('node:events')
const { http } = require('../helpers/backend')
const { startChild } = require('../helpers/child')
const { dial, get, serve } = require('../helpers/client')
const { silence } = require('../helpers/waiting')

const kMiB = 1024 * 1024
// What the kernel's buffers of both ends of a loopback connection may hold at most (tcp_wmem, tcp_rmem).
const kKernelBytesMax = 16 * kMiB
// What a process may grow by for other reasons (code, heap that was not collected yet).
const kGrowthMax = 48 * kMiB

/** @param {any} child @returns {Promise<any>} what the child has grown by since it listened */
async function growth (child) {
  child.send('measure')
  return child.message('growth')
}

/** @param {any} grown */
function assertBounded (grown) {
  assert.ok(grown.rss < kGrowthMax, `RSS grew by ${grown.rss / kMiB} MiB`)
  assert.ok(grown.external < kGrowthMax, `external memory grew by ${grown.external / kMiB} MiB`)
}

/** Sends until the peer has taken nothing for 300 ms, early on a busy machine, or all is sent. @param {import('node:net').Socket} socket @param {Buffer} piece @param {number} bytesMax @returns {Promise<number>} bytes taken */
async function flood (socket, piece, bytesMax) {
  let sent = 0
  while (sent < bytesMax) {
    sent += piece.length
    if (socket.write(piece)) continue
    const drained = await new Promise((resolve) => {
      const timer = setTimeout(resolve, 300, false)
      socket.once('drain', () => {
        clearTimeout(timer)
        resolve(true)
      })
    })
    if (!drained) return sent - socket.writableLength
  }
  return sent
}

test('write() returns false for a reader that stops, and "drain" comes when it reads on', async (t) => {
  const child = startChild(({ http, report }) => {
    const piece = Buffer.alloc(64 * 1024, 'x')
    const start = process.memoryUsage()
    process.on('message', () => {
      const { rss, external } = process.memoryUsage()
      report({ growth: { rss: rss - start.rss, external: external - start.external } })
    })
    const server = http.createServer((req, res) => {
      let written = 0
      let drains = 0
      const more = () => {
        while (written < 200 * 1024 * 1024) {
          written += piece.length
          if (!res.write(piece)) {
            if (drains === 0) report({ full: written })
            res.once('drain', () => {
              drains++
              more()
            })
            return
          }
        }
        res.end(() => report({ drains }))
      }
      more()
    })
    server.listen(0, '127.0.0.1', () => report({ port: /** @type {any} */ (server.address()).port }))
  })
  t.after(() => child.kill())
  const wire = await dial(t, await child.message('port'))
  wire.socket.removeAllListeners('data')
  wire.socket.pause()
  wire.write(get())
  assert.ok(await child.message('full') < kKernelBytesMax)
  // The kernel's buffers fill, then nothing moves.
  await silence(500)
  assertBounded(await growth(child))
  let received = 0
  wire.socket.on('data', (piece) => { received += piece.length })
  wire.socket.resume()
  assert.ok(await child.message('drains') > 0)
  assert.ok(received > 150 * kMiB)
})

test('a fast uploader is stopped by a request that nobody reads', async (t) => {
  const child = startChild(({ http, report }) => {
    const start = process.memoryUsage()
    process.on('message', () => {
      const { rss, external } = process.memoryUsage()
      report({ growth: { rss: rss - start.rss, external: external - start.external } })
    })
    const server = http.createServer((req, res) => {
      report({ request: true })
    })
    server.listen(0, '127.0.0.1', () => report({ port: /** @type {any} */ (server.address()).port }))
  })
  t.after(() => child.kill())
  const wire = await dial(t, await child.message('port'))
  wire.write(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${1024 * kMiB}\r\n\r\n`)
  await child.message('request')
  const taken = await flood(wire.socket, Buffer.alloc(256 * 1024), 200 * kMiB)
  assert.ok(taken < kKernelBytesMax, `${taken / kMiB} MiB were taken`)
  assertBounded(await growth(child))
})

test('a paused request takes nothing and, resumed, gets every byte', async (t) => {
  const server = http.createServer((req, res) => {
    let bytes = 0
    req.once('data', (first) => {
      bytes += first.length
      req.pause()
      server.emit('paused', () => {
        req.on('data', (piece) => { bytes += piece.length })
        req.on('end', () => res.end(`<${bytes}>`))
        req.resume()
      })
    })
  })
  const paused = once(server, 'paused')
  const wire = await dial(t, await serve(t, server))
  const size = 32 * kMiB
  wire.write(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${size}\r\n\r\n`)
  const flooded = flood(wire.socket, Buffer.alloc(256 * 1024), size)
  const [resume] = await paused
  const taken = await flooded
  assert.ok(taken < kKernelBytesMax, `${taken / kMiB} MiB were taken`)
  // flood() may have handed over less than the whole body.
  const missing = size - taken - wire.socket.writableLength
  resume()
  if (missing > 0) wire.write(Buffer.alloc(missing))
  await wire.until(`<${size}>`)
})

test('a flood of pipelined requests stops while the first is not answered', async (t) => {
  const child = startChild(({ http, report }) => {
    const start = process.memoryUsage()
    let requests = 0
    process.on('message', () => {
      const { rss, external } = process.memoryUsage()
      report({ growth: { rss: rss - start.rss, external: external - start.external, requests } })
    })
    const filler = 'x'.repeat(64 * 1024)
    const server = http.createServer((req, res) => {
      if (requests++ > 0) res.end(filler)
    })
    server.listen(0, '127.0.0.1', () => report({ port: /** @type {any} */ (server.address()).port }))
  })
  t.after(() => child.kill())
  const wire = await dial(t, await child.message('port'))
  const taken = await flood(wire.socket, Buffer.from(get().repeat(1000)), 64 * kMiB)
  assert.ok(taken < kKernelBytesMax, `${taken / kMiB} MiB were taken`)
  const grown = await growth(child)
  assertBounded(grown)
  assert.ok(grown.requests > 0)
})

test('a slow reader of an upgraded socket stops its writer, and gets everything in the end', async (t) => {
  const child = startChild(({ http, report }) => {
    const start = process.memoryUsage()
    process.on('message', () => {
      const { rss, external } = process.memoryUsage()
      report({ growth: { rss: rss - start.rss, external: external - start.external } })
    })
    const piece = Buffer.alloc(64 * 1024, 'x')
    const server = http.createServer()
    server.on('upgrade', (req, socket) => {
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n')
      let written = 0
      let full = false
      const more = () => {
        while (written < 100 * 1024 * 1024) {
          written += piece.length
          if (!socket.write(piece)) {
            if (!full) report({ full: written })
            full = true
            socket.once('drain', more)
            return
          }
        }
        socket.end()
      }
      more()
    })
    server.listen(0, '127.0.0.1', () => report({ port: /** @type {any} */ (server.address()).port }))
  })
  t.after(() => child.kill())
  const wire = await dial(t, await child.message('port'))
  wire.socket.removeAllListeners('data')
  wire.socket.pause()
  wire.write('GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n')
  await child.message('full')
  await silence(500)
  assertBounded(await growth(child))
  let received = 0
  wire.socket.on('data', (bytes) => { received += bytes.length })
  wire.socket.resume()
  await wire.untilClosed()
  assert.ok(received > 100 * kMiB)
})

test('an upgraded socket that nobody reads stops a fast sender', async (t) => {
  const child = startChild(({ http, report }) => {
    const start = process.memoryUsage()
    process.on('message', () => {
      const { rss, external } = process.memoryUsage()
      report({ growth: { rss: rss - start.rss, external: external - start.external } })
    })
    const server = http.createServer()
    server.on('upgrade', (req, socket) => {
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n')
      socket.once('data', () => {
        socket.pause()
        report({ paused: true })
      })
    })
    server.listen(0, '127.0.0.1', () => report({ port: /** @type {any} */ (server.address()).port }))
  })
  t.after(() => child.kill())
  const wire = await dial(t, await child.message('port'))
  wire.write('GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n')
  await wire.until('\r\n\r\n')
  wire.write('begin')
  await child.message('paused')
  const taken = await flood(wire.socket, Buffer.alloc(256 * 1024), 200 * kMiB)
  assert.ok(taken < kKernelBytesMax, `${taken / kMiB} MiB were taken`)
  assertBounded(await growth(child))
})

test('an upload is read to its end though the client does not read the answer that was written before', async (t) => {
  const size = 10 * kMiB
  const piece = Buffer.alloc(kMiB, 'x')
  // More than the kernel takes: the rest of the answer is the server's.
  const answer = kKernelBytesMax + 2 * kMiB
  const server = http.createServer((req, res) => {
    for (let bytes = 0; bytes < answer; bytes += piece.length) res.write(piece)
    let got = 0
    req.on('data', (chunk) => { got += chunk.length })
    req.on('end', () => {
      server.emit('read', got, res.writableLength)
      res.end('<end>')
    })
  })
  const read = once(server, 'read')
  const wire = await dial(t, await serve(t, server))
  let received = 0
  wire.socket.removeAllListeners('data')
  wire.socket.pause()
  wire.write(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${size}\r\n\r\n`)
  wire.write(Buffer.alloc(size))
  const [got, unsent] = await read
  assert.equal(got, size)
  assert.ok(unsent > kMiB, `${unsent} bytes of the answer wait`)
  const over = new Promise((resolve) => {
    wire.socket.on('data', (/** @type {Buffer} */ chunk) => {
      received += chunk.length
      if (chunk.includes('<end>')) resolve(null)
    })
  })
  wire.socket.resume()
  await over
  assert.ok(received > answer)
})
