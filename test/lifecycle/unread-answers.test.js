'use strict'

// Goal: a client that asks and does not read costs a bounded number of bytes. Method: one connection floods a server, in a
// process of its own, with requests that its I/O thread answers by itself, until no more are taken; then it reads.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const { once } = require('node:events')
const fs = require('node:fs')
const { addReservation } = require('@httpsys/core-native/reservations')
const { backend } = require('../helpers/backend')
const { certificate } = require('../helpers/certificates')
const { startChild } = require('../helpers/child')
const { dial, request: ask } = require('../helpers/client')
const { freePort } = require('../helpers/free-port')
const tls = require('../helpers/tls')
const { ownUrlacl } = require('../helpers/urlacl')

const options = {
  skip: (backend === 'node' && 'node:http has no prefixes') || (process.platform !== 'linux' && 'reads /proc'),
  timeout: 120_000
}
const kMiB = 1024 * 1024
// Answers of the engine are several times as long as these requests.
const kFloodBytes = 16 * kMiB
const kGrowthMiB = 16
// No room for so long: the server has stopped reading. On a busy machine the flood is shorter then.
const kStalledMs = 1000

/** @param {number} pid @returns {number} MiB */
function residentMiB (pid) {
  const [, kib] = /** @type {RegExpMatchArray} */ (fs.readFileSync(`/proc/${pid}/status`, 'latin1').match(/VmRSS:\s+(\d+)/))
  return Number(kib) / 1024
}

/** @param {any} socket @returns {Promise<boolean>} false: not for a while */
function drained (socket) {
  return new Promise((resolve) => {
    const settle = (/** @type {boolean} */ isDrained) => {
      clearTimeout(timer)
      socket.off('drain', onDrain)
      resolve(isDrained)
    }
    const onDrain = () => settle(true)
    const timer = setTimeout(settle, kStalledMs, false)
    socket.on('drain', onDrain)
  })
}

/** @param {any} socket @param {string} request @returns {Promise<number>} how many were written before the server stopped reading */
async function flood (socket, request) {
  const count = Math.ceil(64 * 1024 / request.length)
  const piece = Buffer.from(request.repeat(count))
  let requests = 0
  for (let sent = 0; sent < kFloodBytes; sent += piece.length) {
    requests += count
    if (!socket.write(piece) && !await drained(socket)) return requests
  }
  throw new Error(`the server has taken ${requests} requests of a client that does not read`)
}

/** @param {any} socket @param {string} line @param {number} count resolves when so many answers have come */
async function readAnswers (socket, line, count) {
  let rest = ''
  for await (const chunk of socket) {
    rest += chunk.toString('latin1')
    const parts = rest.split(line)
    count -= parts.length - 1
    rest = parts[parts.length - 1].slice(-line.length)
    if (count <= 0) return
  }
  assert.fail(`${count} answers are missing`)
}

/** @param {any} listenOptions @param {any} [serverOptions] @param {any} [otherListenOptions] of a second server in the process */
function startServer (listenOptions, serverOptions = {}, otherListenOptions = null) {
  return startChild(({ http, report, args: [listenOptions, serverOptions, otherListenOptions] }) => {
    const server = http.createServer(serverOptions, (req, res) => {
      if (req.url !== '/block') return res.end()
      report({ blocked: true })
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
    })
    const isListening = () => report({ isListening: true })
    server.listen(listenOptions, () => {
      if (otherListenOptions === null) isListening()
      else http.createServer((req, res) => res.end()).listen(otherListenOptions, isListening)
    })
  }, { args: [listenOptions, serverOptions, otherListenOptions] })
}

/**
 * @param {import('node:test').TestContext} t
 * @param {{ server: any, port: number, request: string, line: string, prepare?: () => Promise<void>, connect?: () => Promise<any> }} what
 */
async function check (t, { server, port, request, line, prepare, connect }) {
  t.after(() => server.kill())
  await server.message('isListening')
  await prepare?.()
  const open = connect ?? (async () => {
    const { socket } = await dial(t, port)
    socket.removeAllListeners('data')
    return socket
  })
  const socket = await open()
  t.after(() => socket.destroy())
  socket.pause()
  const before = residentMiB(server.process.pid)
  const requests = await flood(socket, request)
  const growth = residentMiB(server.process.pid) - before
  assert.ok(growth < kGrowthMiB, `grew by ${growth} MiB`)
  await readAnswers(socket, line, requests)
  assert.ok(residentMiB(server.process.pid) - before < kGrowthMiB)
}

const kShop = 'Host: localhost\r\n\r\n'

test('requests for a path that no prefix has wait while their client does not read', options, async (t) => {
  const port = await freePort()
  const server = startServer({ prefix: `http://localhost:${port}/shop/` })
  await check(t, { server, port, request: `GET /other HTTP/1.1\r\n${kShop}`, line: 'HTTP/1.1 404 ' })
})

test('OPTIONS * waits while its client does not read', options, async (t) => {
  const port = await freePort()
  const server = startServer({ prefix: `http://localhost:${port}/shop/` })
  await check(t, { server, port, request: `OPTIONS * HTTP/1.1\r\n${kShop}`, line: 'HTTP/1.1 404 ' })
})

test('requests for a host that no prefix has wait while their client does not read', options, async (t) => {
  const port = await freePort()
  const server = startServer({ prefix: `http://localhost:${port}/` })
  await check(t, { server, port, request: 'GET / HTTP/1.1\r\nHost: other.test\r\n\r\n', line: 'HTTP/1.1 400 ' })
})

test('requests for a reserved prefix wait while their client does not read', options, async (t) => {
  ownUrlacl(t)
  const port = await freePort()
  addReservation(`http://*:${port}/reserved/`, { register: ['app:somebody else'] })
  const server = startServer({ prefix: `http://*:${port}/` })
  await check(t, { server, port, request: `GET /reserved/x HTTP/1.1\r\n${kShop}`, line: 'HTTP/1.1 503 ' })
})

test('requests for a full queue wait while their client does not read', options, async (t) => {
  const port = await freePort()
  const server = startServer({ prefix: `http://*:${port}/` }, { queueLimit: 1, queueTimeout: 0 })
  const prepare = async () => {
    const blocking = await dial(t, port)
    blocking.write(`GET /block HTTP/1.1\r\n${kShop}`)
    await server.message('blocked')
    const pair = await Promise.all([dial(t, port), dial(t, port)])
    for (const wire of pair) wire.write(`GET / HTTP/1.1\r\n${kShop}`)
    // One has the place in the queue.
    await Promise.race(pair.map((wire) => wire.until('HTTP/1.1 503 ')))
  }
  await check(t, { server, port, request: `GET / HTTP/1.1\r\n${kShop}`, line: 'HTTP/1.1 503 ', prepare })
})

test('over TLS requests wait while their client does not read', options, async (t) => {
  const port = await freePort()
  const server = startServer({ prefix: `https://localhost:${port}/shop/`, ...tls.localhost() })
  const connect = () => tls.connect(port, { ALPNProtocols: ['http/1.1'] })
  await check(t, { server, port, request: `GET /other HTTP/1.1\r\n${kShop}`, line: 'HTTP/1.1 404 ', connect })
})

test('requests for a host that the certificate of the connection does not cover wait while their client does not read', options, async (t) => {
  const port = await freePort()
  const server = startServer({ prefix: `https://localhost:${port}/`, ...tls.localhost() }, {}, { prefix: `https://other.test:${port}/`, ...certificate('other.test') })
  const connect = () => tls.connect(port, { ALPNProtocols: ['http/1.1'] })
  await check(t, { server, port, request: 'GET / HTTP/1.1\r\nHost: other.test\r\n\r\n', line: 'HTTP/1.1 421 ', connect })
})

test('requests for a prefix whose process was killed wait while their client does not read', options, async (t) => {
  const port = await freePort()
  const server = startServer({ prefix: `http://localhost:${port}/shop/` })
  const prepare = async () => {
    const owner = startServer({ prefix: `http://localhost:${port}/gone/` })
    t.after(() => owner.kill())
    await owner.message('isListening')
    await owner.kill()
    while ((await ask({ port, path: '/gone/', headers: { host: 'localhost' } })).status !== 503);
  }
  // 404 where the flood takes longer than the 10 s for which nobody else is asked to speak for the prefix.
  await check(t, { server, port, request: `GET /gone/x HTTP/1.1\r\n${kShop}`, line: 'HTTP/1.1 ', prepare })
})

test('a client that leaves while its requests wait is forgotten, and its memory is given back', options, async (t) => {
  const port = await freePort()
  const server = startServer({ prefix: `http://localhost:${port}/shop/` })
  t.after(() => server.kill())
  await server.message('isListening')
  const pid = /** @type {number} */ (server.process.pid)
  const request = `GET /other HTTP/1.1\r\n${kShop}`
  // `before` counts what any first hundred connections cost, once: V8's young generation, code, and arenas of malloc().
  const polite = await Promise.all(Array.from({ length: 100 }, () => dial(t, port)))
  await Promise.all(polite.map(async (wire) => {
    await wire.write(request).until('HTTP/1.1 404 ')
    wire.socket.end()
    await wire.untilClosed()
  }))
  const before = residentMiB(pid)
  const wires = await Promise.all(Array.from({ length: 100 }, () => dial(t, port)))
  await Promise.all(wires.map(async ({ socket }) => {
    socket.removeAllListeners('data')
    socket.pause()
    await flood(socket, request)
    socket.resetAndDestroy()
    await once(socket, 'close')
  }))
  const descriptors = () => fs.readdirSync(`/proc/${pid}/fd`).filter((fd) => {
    try {
      return fs.readlinkSync(`/proc/${pid}/fd/${fd}`).startsWith('socket:')
    } catch {
      return false
    }
  }).length
  const isBack = () => residentMiB(pid) - before < kGrowthMiB && descriptors() < 20
  for (const end = Date.now() + 10_000; !isBack();) {
    assert.ok(Date.now() < end, `${residentMiB(pid) - before} MiB more than before, ${descriptors()} sockets`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
})
