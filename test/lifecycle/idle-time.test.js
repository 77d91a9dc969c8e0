'use strict'

// Goal: whoever has called setTimeout() on a server, socket, request or response, a connection is silent only when no byte of it comes or
// leaves, and answers of the I/O threads (files, cached answers) begin and end the time between two requests as those of JavaScript do.
// Method: connections over each protocol whose timeouts are far shorter than they are used, and connections whose clients really are silent.

const assert = require('node:assert/strict')
const http2 = require('node:http2')
const net = require('node:net')
const path = require('node:path')
const tls = require('node:tls')
const { Buffer } = require('node:buffer')
const { once } = require('node:events')
const { describe, it } = require('node:test')
const { loadBinding } = require('../../packages/core-native/lib/backend/binding')
const { backend, http } = require('../helpers/backend')
const { certificate } = require('../helpers/certificates')
const { listen, stop } = require('../helpers/client')
const { localhost } = require('../helpers/tls')
const { temporaryFolder, write } = require('../files/static-kit')

/** The timeout under test, ms: a client on a busy machine is never silent for so long. */
const kTimeoutMs = 700
/** More than what the sockets of both ends take at once. */
const kFileBytes = 12_000_000
/** How long a download takes at least, ms. */
const kDownloadMs = 1200

/** @typedef {{ server: any, port: number, isSecure: boolean, calls: string[] }} Served */

/**
 * A server with a folder below '/files/', a cache for '/hit', and answers by JavaScript to everything else.
 *
 * @param {import('node:test').TestContext} t
 * @param {{ isSecure?: boolean, onRequest?: (req: any, res: any) => void, options?: object }} asked
 * @returns {Promise<Served>}
 */
async function serveAll (t, { isSecure = false, onRequest = () => {}, options = {} }) {
  const calls = /** @type {string[]} */ ([])
  const given = { cache: true, ...options, ...isSecure && localhost() }
  const server = /** @type {any} */ ((isSecure ? /** @type {any} */ (http).https : http).createServer(/** @type {any} */ (given), (/** @type {any} */ req, /** @type {any} */ res) => {
    calls.push(req.url)
    onRequest(req, res)
    if (req.url === '/hit') res.setHeader('Cache-Control', 'max-age=60')
    res.end('x')
  }))
  const folder = temporaryFolder(t)
  write(path.join(folder, 'big'), Buffer.alloc(kFileBytes))
  write(path.join(folder, 'small'), 'small')
  server.serveFiles('/files/', folder)
  t.after(() => stop(server))
  return { server, port: await listen(server), isSecure, calls }
}

/** @param {import('node:test').TestContext} t @param {Served} served @returns {Promise<net.Socket>} */
async function connect (t, { port, isSecure }) {
  const wire = isSecure
    ? tls.connect({ port, host: '127.0.0.1', servername: 'localhost', ca: certificate('localhost').cert, ALPNProtocols: ['http/1.1'] })
    : net.connect(port, '127.0.0.1')
  t.after(() => wire.destroy())
  wire.on('error', () => {})
  await once(wire, isSecure ? 'secureConnect' : 'connect')
  return wire
}

/** Asks for an answer of few bytes and waits for it. @param {net.Socket} wire @param {string} target */
async function ask (wire, target) {
  wire.write(`GET ${target} HTTP/1.1\r\nHost: localhost\r\n\r\n`)
  const [bytes] = await once(wire, 'data')
  assert.match(String(bytes), /^HTTP\/1\.1 200 OK/)
}

/** Reads so many bytes, no faster than they take kDownloadMs. @param {import('node:stream').Readable} stream @param {number} most @returns {Promise<number>} how many came */
function readSteadily (stream, most) {
  return new Promise((resolve) => {
    const start = Date.now()
    let bytes = 0
    stream.on('data', (data) => {
      bytes += data.length
      if (bytes >= most) return resolve(bytes)
      const wait = start + bytes / most * kDownloadMs - Date.now()
      if (wait < 5) return
      stream.pause()
      setTimeout(() => stream.resume(), wait)
    }).on('close', () => resolve(bytes))
  })
}

const pause = (/** @type {number} */ ms) => new Promise((resolve) => setTimeout(resolve, ms))

describe('The timeout of a connection', { concurrency: true, skip: backend !== 'engine' && 'stock Node and HTTP.SYS answer in other ways' }, () => {
  for (const isSecure of [false, true]) {
    const over = isSecure ? ', with TLS' : ''

    it(`leaves the download of a file alone that is the first answer of its connection${over}`, async (t) => {
      const served = await serveAll(t, { isSecure })
      served.server.setTimeout(kTimeoutMs)
      const wire = await connect(t, served)
      wire.write('GET /files/big HTTP/1.1\r\nHost: localhost\r\n\r\n')
      assert.ok(await readSteadily(wire, kFileBytes) >= kFileBytes)
    })

    it(`leaves a download and hits alone behind an answer whose request had a timeout of its own${over}`, async (t) => {
      const served = await serveAll(t, { isSecure, onRequest: (req) => req.setTimeout(60_000) })
      Object.assign(served.server, { keepAliveTimeout: kTimeoutMs, keepAliveTimeoutBuffer: 0 })
      const [downloading, hitting] = await Promise.all([connect(t, served), connect(t, served)])
      await Promise.all([ask(downloading, '/'), ask(hitting, '/hit')])
      const hits = (async () => {
        for (const end = Date.now() + kDownloadMs; Date.now() < end; await pause(kTimeoutMs / 4)) await ask(hitting, '/hit')
      })()
      downloading.write('GET /files/big HTTP/1.1\r\nHost: localhost\r\n\r\n')
      assert.ok(await readSteadily(downloading, kFileBytes) >= kFileBytes)
      await hits
      assert.deepEqual(served.calls.sort(), ['/', '/hit'])
    })
  }

  it('leaves the download of a file alone that is the first stream of HTTP/2', { skip: !loadBinding().hasHttp2 && 'this Node has no nghttp2' }, async (t) => {
    const served = await serveAll(t, { isSecure: true, options: { ALPNProtocols: ['h2', 'http/1.1'] } })
    served.server.setTimeout(kTimeoutMs)
    const client = http2.connect(`https://localhost:${served.port}`, { ca: certificate('localhost').cert })
    t.after(() => client.destroy())
    client.on('error', () => {})
    const stream = client.request({ ':path': '/files/big' }).on('error', () => {})
    assert.equal(await readSteadily(stream, kFileBytes), kFileBytes)
  })

  it('is that of the server within an answer, and keepAliveTimeout behind it', async (t) => {
    const served = await serveAll(t, {})
    served.server.setTimeout(kTimeoutMs)
    const idle = await connect(t, served)
    const silent = await connect(t, served)
    await ask(idle, '/files/small')
    // This client reads nothing of its answer.
    silent.write('GET /files/big HTTP/1.1\r\nHost: localhost\r\n\r\n')
    silent.pause()
    while (await new Promise((resolve) => served.server.getConnections((/** @type {unknown} */ _, /** @type {number} */ count) => resolve(count))) > 1) await pause(20)
    assert.equal(idle.destroyed, false)
    await ask(idle, '/files/small')
  })

  it('is told to listeners of the server, which decide, where JavaScript has answered nothing', async (t) => {
    const served = await serveAll(t, { options: { keepAliveTimeout: 100 } })
    served.server.keepAliveTimeoutBuffer = 0
    served.server.on('timeout', () => {})
    const wire = await connect(t, served)
    await ask(wire, '/files/small')
    const [socket] = await once(served.server, 'timeout')
    assert.equal(socket.remotePort, wire.localPort)
    await pause(150)
    await ask(wire, '/files/small')
    const [again] = await once(served.server, 'timeout')
    assert.equal(again, socket)
    assert.equal(wire.destroyed, false)
  })

  it('comes once for one silence, and again behind an answer that JavaScript does not see', async (t) => {
    const served = await serveAll(t, {})
    served.server.keepAliveTimeout = 0
    let told = 0
    served.server.setTimeout(100, () => { told++ })
    const wire = await connect(t, served)
    await once(served.server, 'timeout')
    await pause(250)
    assert.equal(told, 1)
    await ask(wire, '/files/small')
    await once(served.server, 'timeout')
    assert.equal(told, 2)
  })
})
