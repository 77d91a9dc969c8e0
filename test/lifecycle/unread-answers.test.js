'use strict'

// Goal: a client that asks and does not read costs a bounded number of bytes. Method: one connection floods a server, in a
// process of its own, with requests that its I/O thread answers by itself, until no more are taken; then it reads.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const { once } = require('node:events')
const fs = require('node:fs')
const net = require('node:net')
const os = require('node:os')
const path = require('node:path')
const { addReservation } = require('@httpsys/core-native/reservations')
const { backend } = require('../helpers/backend')
const { certificate } = require('../helpers/certificates')
const { startChild } = require('../helpers/child')
const { dial, Wire } = require('../helpers/client')
const { freePort } = require('../helpers/free-port')
const { someOf } = require('../helpers/thorough')
const tls = require('../helpers/tls')
const { loadBinding } = require('../../packages/core-native/lib/backend/binding')
const { block, fieldsOf, frame, kEndHeaders, kEndStream, kPreface, kType } = require('../http2/frames')
const { ownUrlacl } = require('../helpers/urlacl')
const { until } = require('../helpers/waiting')

const options = {
  skip: (backend === 'node' && 'node:http has no prefixes') || (process.platform !== 'linux' && 'reads /proc'),
  timeout: 120_000
}
const kMiB = 1024 * 1024
// Answers of the engine are several times as long as these requests.
const kFloodBytes = 16 * kMiB
const kGrowthMiB = 16
// Within this time after a flood memory is given back.
const kGivenBackMs = 10_000
// What is read of a flood where that goes slowly: more than any buffer has.
const kSomeAnswers = 20_000
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
      if (!req.url?.endsWith('/block')) return res.end()
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
 * A server whose I/O thread has files of a folder below /files/ and, when it was asked once, the answer at /stored.
 *
 * @param {import('node:test').TestContext} t
 * @param {any} listenOptions
 * @param {any} [serverOptions]
 */
function startWithFilesAndCache (t, listenOptions, serverOptions = {}) {
  const root = fs.mkdtempSync(path.join(os.tmpdir(), 'httpsys-unread-'))
  t.after(() => fs.rmSync(root, { recursive: true }))
  fs.writeFileSync(path.join(root, 'small.txt'), 'a small file')
  return startChild(({ http, report, args: [listenOptions, serverOptions, root] }) => {
    let calls = 0
    const server = /** @type {any} */ (http.createServer({ cache: true, ...serverOptions }, (req, res) => {
      res.setHeader('Cache-Control', 'public, max-age=600')
      res.end(`answer of call ${++calls}.`)
    }))
    server.serveFiles('/files/', root).then(() => server.listen(listenOptions, () => report({ isListening: true })))
  }, { args: [listenOptions, serverOptions, root] })
}

/** @param {any} socket has the cache store the answer at /stored */
async function fillCache (socket) {
  socket.write(`GET /stored HTTP/1.1\r\n${kShop}`)
  await readAnswers(socket, 'answer of call 1.', 1)
  socket.destroy()
}

/**
 * @param {import('node:test').TestContext} t
 * @param {{ server: any, others?: any[], request: string, line: string, most?: number, prepare?: () => Promise<void>, connect: () => Promise<any> }} what
 * `most` answers are read at most
 */
async function check (t, { server, others = [], request, line, most = Infinity, prepare, connect }) {
  t.after(() => server.kill())
  await server.message('isListening')
  await prepare?.()
  const socket = await connect()
  t.after(() => socket.destroy())
  socket.pause()
  const pids = [server, ...others].map((each) => each.process.pid)
  const before = pids.map(residentMiB)
  const assertBounded = () => pids.forEach((pid, i) => {
    const growth = residentMiB(pid) - before[i]
    assert.ok(growth < kGrowthMiB, `process ${i} grew by ${growth} MiB`)
  })
  const requests = await flood(socket, request)
  assertBounded()
  await readAnswers(socket, line, Math.min(requests, most))
  assertBounded()
}

/** @param {number} pid @returns {string[]} such as socket:[123] */
function socketsOf (pid) {
  return fs.readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
    try {
      return fs.readlinkSync(`/proc/${pid}/fd/${fd}`)
    } catch {
      return []
    }
  }).filter((link) => link.startsWith('socket:'))
}

/** @param {any} client @returns {string} the server's end of a connection, as socketsOf() has it */
function serverEndOf (client) {
  const [, version] = client.remoteFamily.split('IPv')
  const ports = [client.remotePort, client.localPort].map((port) => port.toString(16).toUpperCase().padStart(4, '0'))
  const rows = fs.readFileSync(`/proc/net/tcp${version === '6' ? '6' : ''}`, 'latin1').split('\n').map((row) => row.trim().split(/\s+/))
  const row = rows.find(([, local = '', remote = '']) => local.endsWith(`:${ports[0]}`) && remote.endsWith(`:${ports[1]}`))
  assert.ok(row !== undefined, 'the server has no end of the connection')
  return `socket:[${row[9]}]`
}

/** @type {Record<string, (socket: any) => void>} */
const kWays = {
  // What it has not read makes that a reset.
  leaves: (socket) => socket.destroy(),
  'ends its side and leaves': (socket) => {
    socket.end()
    // The server may hear of the end first or not; it must forget the connection either way.
    setTimeout(() => socket.destroy(), 100)
  }
}

/**
 * Each process is to lose one descriptor for each connection that it has or is relayed. Where what was read has ended with
 * a request by chance, a connection has moved to the owner of its requests, and the first process has none of it.
 *
 * @param {any[]} servers the first has accepted the connections
 * @param {any[]} sockets
 * @param {string} request
 * @param {(socket: any) => void} leave
 */
async function checkLeaving (servers, sockets, request, leave) {
  const pids = servers.map((server) => server.process.pid)
  await Promise.all(sockets.map((socket) => {
    socket.pause()
    return flood(socket, request)
  }))
  const during = pids.map(socketsOf)
  const connections = sockets.map(serverEndOf)
  const moved = connections.filter((connection) => !during[0].includes(connection))
  const most = during.map(({ length }, i) => length - connections.length + (i === 0 ? moved.length : 0))
  for (const socket of sockets) {
    socket.on('error', () => {})
    leave(socket)
  }
  const isForgotten = () => pids.map(socketsOf).every((left, i) => {
    return left.length <= most[i] && !connections.some((connection) => left.includes(connection))
  })
  await until(isForgotten, `at most ${most} sockets of ${during.map(({ length }) => length)}`)
}

/**
 * A connection of one process whose requests another one answers, which has come later.
 *
 * @param {import('node:test').TestContext} t
 * @param {boolean} isTls
 * @param {number} port
 */
async function startRelayed (t, isTls, port) {
  const { scheme, credentials, connect } = kindOf(isTls)
  const server = startServer({ prefix: `${scheme}://localhost:${port}/shop/`, ...credentials })
  t.after(() => server.kill())
  await server.message('isListening')
  const socket = await connect(port)
  t.after(() => socket.destroy())
  const owner = startServer({ prefix: `${scheme}://localhost:${port}/owned/`, ...credentials }, { queueLimit: 1, queueTimeout: 0 })
  t.after(() => owner.kill())
  await owner.message('isListening')
  return { server, owner, socket }
}

const kShop = 'Host: localhost\r\n\r\n'

/** @param {boolean} isTls */
function kindOf (isTls) {
  return {
    scheme: isTls ? 'https' : 'http',
    credentials: isTls ? tls.localhost() : {},
    /** @param {number} port @returns {Promise<any>} a socket that nobody reads */
    connect: async (port) => {
      if (isTls) return tls.connect(port, { ALPNProtocols: ['http/1.1'] })
      const { socket } = new Wire({ port, host: '127.0.0.1' })
      await once(socket, 'connect')
      return socket.removeAllListeners('data')
    }
  }
}

/** Occupies a server's JavaScript and its queue of one. @param {any} server @param {() => Promise<any>} connect @param {string} path */
async function fillQueue (server, connect, path = '/') {
  const ask = async (/** @type {string} */ target) => {
    const socket = await connect()
    socket.write(`GET ${target} HTTP/1.1\r\n${kShop}`)
    return socket
  }
  const sockets = [await ask(`${path}block`)]
  await server.message('blocked')
  // One has the place in the queue.
  sockets.push(await ask(path), await ask(path))
  await Promise.race(sockets.map((socket) => readAnswers(socket, 'HTTP/1.1 503 ', 1)))
  return sockets
}

for (const isTls of someOf([false, true], 2)) {
  const { scheme, credentials, connect } = kindOf(isTls)
  const suffix = isTls ? ', over TLS' : ''
  const most = isTls ? kSomeAnswers : Infinity

  test(`requests for a path that no prefix has wait while their client does not read${suffix}`, options, async (t) => {
    const port = await freePort()
    const server = startServer({ prefix: `${scheme}://localhost:${port}/shop/`, ...credentials })
    await check(t, { server, connect: () => connect(port), request: `GET /other HTTP/1.1\r\n${kShop}`, line: 'HTTP/1.1 404 ' })
  })

  test(`OPTIONS * waits while its client does not read${suffix}`, options, async (t) => {
    const port = await freePort()
    const server = startServer({ prefix: `${scheme}://localhost:${port}/shop/`, ...credentials })
    await check(t, { server, connect: () => connect(port), request: `OPTIONS * HTTP/1.1\r\n${kShop}`, line: 'HTTP/1.1 404 ', most })
  })

  test(`requests for a host that no prefix has wait while their client does not read${suffix}`, options, async (t) => {
    const port = await freePort()
    const server = startServer({ prefix: `${scheme}://localhost:${port}/`, ...credentials })
    await check(t, { server, connect: () => connect(port), request: 'GET / HTTP/1.1\r\nHost: other.test\r\n\r\n', line: 'HTTP/1.1 400 ', most })
  })

  test(`requests for a reserved prefix wait while their client does not read${suffix}`, options, async (t) => {
    ownUrlacl(t)
    const port = await freePort()
    addReservation(`${scheme}://*:${port}/reserved/`, { register: ['app:somebody else'] })
    const server = startServer({ prefix: `${scheme}://*:${port}/`, ...credentials })
    await check(t, { server, connect: () => connect(port), request: `GET /reserved/x HTTP/1.1\r\n${kShop}`, line: 'HTTP/1.1 503 ', most })
  })

  test(`requests for a full queue wait while their client does not read${suffix}`, options, async (t) => {
    const port = await freePort()
    const server = startServer({ prefix: `${scheme}://*:${port}/`, ...credentials }, { queueLimit: 1, queueTimeout: 0 })
    const prepare = async () => {
      const sockets = await fillQueue(server, () => connect(port))
      t.after(() => { for (const socket of sockets) socket.destroy() })
    }
    await check(t, { server, connect: () => connect(port), request: `GET / HTTP/1.1\r\n${kShop}`, line: 'HTTP/1.1 503 ', most, prepare })
  })

  test(`requests for a prefix whose process was killed wait while their client does not read${suffix}`, options, async (t) => {
    const port = await freePort()
    const server = startServer({ prefix: `${scheme}://localhost:${port}/shop/`, ...credentials })
    const request = `GET /gone/x HTTP/1.1\r\n${kShop}`
    const prepare = async () => {
      const owner = startServer({ prefix: `${scheme}://localhost:${port}/gone/`, ...credentials })
      t.after(() => owner.kill())
      await owner.message('isListening')
      await owner.kill()
      for (let status = ''; status !== '503';) {
        const socket = await connect(port)
        socket.write(request)
        status = (await once(socket, 'data'))[0].toString('latin1').split(' ')[1]
        socket.destroy()
      }
    }
    // 404 where the flood takes longer than the 10 s for which nobody else is asked to speak for the prefix.
    await check(t, { server, connect: () => connect(port), request, line: 'HTTP/1.1 ', most, prepare })
  })

  test(`requests for another process wait in both while their client does not read${suffix}`, options, async (t) => {
    const port = await freePort()
    const { server, owner, socket } = await startRelayed(t, isTls, port)
    await check(t, { server, others: [owner], connect: async () => socket, request: `GET /owned/ HTTP/1.1\r\n${kShop}`, line: 'HTTP/1.1 200 ', most: kSomeAnswers })
  })

  test(`requests for the full queue of another process wait in both while their client does not read${suffix}`, options, async (t) => {
    const port = await freePort()
    const { server, owner, socket } = await startRelayed(t, isTls, port)
    const prepare = async () => {
      const sockets = await fillQueue(owner, () => connect(port), '/owned/')
      t.after(() => { for (const each of sockets) each.destroy() })
    }
    await check(t, { server, others: [owner], connect: async () => socket, request: `GET /owned/ HTTP/1.1\r\n${kShop}`, line: 'HTTP/1.1 503 ', most: kSomeAnswers, prepare })
  })

  for (const [name, target, line] of [
    // Only an answer of the cache still names the first call.
    ['an answer in the cache', '/stored', 'answer of call 1.'],
    ['a file', '/files/small.txt', 'a small file'],
    ['a file that is not there', '/files/none', 'HTTP/1.1 404 ']
  ]) {
    test(`requests for ${name} wait while their client does not read${suffix}`, options, async (t) => {
      const port = await freePort()
      const server = startWithFilesAndCache(t, { prefix: `${scheme}://localhost:${port}/`, ...credentials })
      const prepare = async () => fillCache(await connect(port))
      await check(t, { server, connect: () => connect(port), request: `GET ${target} HTTP/1.1\r\n${kShop}`, line, most: kSomeAnswers, prepare })
    })
  }

  for (const [way, leave] of Object.entries(kWays)) {
    test(`a client that ${way} while its requests wait is forgotten${suffix}`, options, async (t) => {
      const port = await freePort()
      const server = startServer({ prefix: `${scheme}://localhost:${port}/shop/`, ...credentials })
      t.after(() => server.kill())
      await server.message('isListening')
      await checkLeaving([server], await Promise.all(Array.from({ length: 10 }, () => connect(port))), `GET /other HTTP/1.1\r\n${kShop}`, leave)
    })

    test(`a client that ${way} while its requests wait for another process is forgotten by both${suffix}`, options, async (t) => {
      const port = await freePort()
      const { server, owner, socket } = await startRelayed(t, isTls, port)
      await checkLeaving([server, owner], [socket], `GET /owned/ HTTP/1.1\r\n${kShop}`, leave)
    })
  }
}

test('requests for a host that the certificate of the connection does not cover wait while their client does not read', options, async (t) => {
  const port = await freePort()
  const server = startServer({ prefix: `https://localhost:${port}/`, ...tls.localhost() }, {}, { prefix: `https://other.test:${port}/`, ...certificate('other.test') })
  const { connect } = kindOf(true)
  await check(t, { server, connect: () => connect(port), request: 'GET / HTTP/1.1\r\nHost: other.test\r\n\r\n', line: 'HTTP/1.1 421 ', most: kSomeAnswers })
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
  const isBack = () => residentMiB(pid) - before < kGrowthMiB && socketsOf(pid).length < 20
  await until(isBack, `less than ${kGrowthMiB} MiB more than ${before} MiB, and less than 20 sockets`, kGivenBackMs)
})

/**
 * Begins HTTP/2 on a socket that nobody reads from then on, with windows that are never the reason why bytes of answers wait.
 *
 * @param {import('node:test').TestContext} t @param {any} socket
 */
async function openStreams (t, socket) {
  t.after(() => socket.destroy())
  const openWindows = [frame(kType.settings, 0, 0, Buffer.from([0, 4, 0x7f, 0xff, 0xff, 0xff])), frame(kType.windowUpdate, 0, 0, Buffer.from([0x7f, 0xff, 0, 0]))]
  socket.write(Buffer.concat([Buffer.from(kPreface), ...openWindows]))
  await once(socket, 'data')
  // The server ends it before everything was written.
  return socket.pause().on('error', () => {})
}

/** @param {any} socket @param {string} target requests of HTTP/2 until the server ends the connection; the socket is not read */
async function floodStreams (socket, target) {
  const head = block(fieldsOf({ ':path': target, ':authority': 'localhost' }))
  let id = 1
  for (let sent = 0; !socket.destroyed; sent += 500 * head.length) {
    assert.ok(sent < kFloodBytes, 'the server takes all requests of a client that does not read')
    const piece = Buffer.concat(Array.from({ length: 500 }, () => frame(kType.headers, kEndStream | kEndHeaders, (id += 2), head)))
    if (!socket.write(piece) && !await drained(socket)) break
  }
}

for (const isTls of someOf([true, false], 2)) {
  const { scheme, credentials, connect } = kindOf(isTls)
  const suffix = isTls ? ', over TLS' : ''
  const skip = options.skip || (!loadBinding().hasHttp2 && 'this Node has no nghttp2')
  for (const [name, serverOptions, target] of /** @type {[string, any, string][]} */ ([
    ['for a path that no prefix has', {}, '/other'],
    ['for a full queue', { queueLimit: 1, queueTimeout: 0 }, '/shop/x'],
    ['for an answer in the cache', { cache: true }, '/stored'],
    ['for a file', { cache: true }, '/files/small.txt']
  ])) {
    test(`a client of HTTP/2 that goes on with requests ${name} and does not read is ended${suffix}`, { ...options, skip }, async (t) => {
      const port = await freePort()
      const server = serverOptions.cache
        ? startWithFilesAndCache(t, { prefix: `${scheme}://localhost:${port}/`, ...credentials }, { http2: true })
        : startServer({ prefix: `${scheme}://localhost:${port}/shop/`, ...credentials }, { http2: true, ...serverOptions })
      t.after(() => server.kill())
      await server.message('isListening')
      if (serverOptions.cache) await fillCache(await connect(port))
      if (serverOptions.queueLimit) {
        const sockets = await fillQueue(server, () => connect(port), '/shop/')
        t.after(() => { for (const socket of sockets) socket.destroy() })
      }
      const socket = await openStreams(t, isTls ? await tls.connect(port, { ALPNProtocols: ['h2'] }) : net.connect(port, '127.0.0.1'))
      const pid = /** @type {number} */ (server.process.pid)
      const before = residentMiB(pid)
      const sockets = socketsOf(pid).length
      await floodStreams(socket, target)
      const growth = residentMiB(pid) - before
      assert.ok(growth < kGrowthMiB, `grew by ${growth} MiB`)
      socket.resume()
      await until(() => socketsOf(pid).length < sockets, 'the end of the connection')
      assert.ok(residentMiB(pid) - before < kGrowthMiB)
    })
  }
}

test('a client of HTTP/2 that goes on with requests for another process and does not read is ended', { ...options, skip: options.skip || (!loadBinding().hasHttp2 && 'this Node has no nghttp2') }, async (t) => {
  const port = await freePort()
  const servers = []
  for (const name of ['shop', 'owned']) {
    const server = startServer({ prefix: `http://localhost:${port}/${name}/` }, { http2: true })
    t.after(() => server.kill())
    await server.message('isListening')
    servers.push(server)
  }
  const pids = servers.map(({ process }) => /** @type {number} */ (process.pid))
  const socket = await openStreams(t, net.connect(port, '127.0.0.1'))
  const before = pids.map(residentMiB)
  const connection = serverEndOf(socket)
  await floodStreams(socket, '/owned/x')
  socket.resume()
  await until(() => !socketsOf(pids[0]).includes(connection), 'the end of the connection')
  for (const [i, pid] of pids.entries()) {
    const growth = residentMiB(pid) - before[i]
    assert.ok(growth < kGrowthMiB, `process ${i} grew by ${growth} MiB`)
  }
})
