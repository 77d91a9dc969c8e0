'use strict'

// Goal: the native surface works by itself. Method: a handful of lines play lib/backend/engine.js over the raw
// binding; clients are plain sockets.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const net = require('node:net')
const path = require('node:path')
const http = require('node:http')
const { once } = require('node:events')
const { Worker } = require('node:worker_threads')
const { execFile } = require('node:child_process')
const { promisify } = require('node:util')
const R = require('../lib/records/records')
const { loadBinding } = require('../lib/backend/binding')
const { cacheConfig } = require('../lib/options/cache-options')
const { takeHttpSys } = require('../lib/options/http-sys-options')
const { passedOptions, takeEngineOptions, takeHttp2 } = require('../lib/options/server-options')

const { Engine, capabilities } = loadBinding()
const { kRequest, kClosed } = R.RequestType
const { kResponse, kRelease } = R.ReplyType
const kSegmentBytes = 64 * 1024
const kHello = 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello'

/** Of a server, but for its prefixes. */
const kSettings = {
  maxHeaderSize: 16384,
  maxHeaderLines: Infinity,
  ...passedOptions(takeEngineOptions({}), () => false),
  idleMs: 5000,
  sendRateMs: 60_000,
  statics: [],
  keepsStatics: false,
  cache: cacheConfig(null),
  kernel: { ...takeHttpSys(undefined), keepAliveTimeout: 0, headersTimeout: 0, requestTimeout: 0 },
  listening: 0,
  endsIdle: true,
  isOpening: false,
  allowHalfOpen: false,
  wantsErrors: false,
  hearsUpgrades: false,
  hearsTimeouts: false,
  keepAliveMs: 0,
  maxRequestsPerSocket: 0,
  requiresHost: true,
  wantsTlsErrors: false,
  tls: null,
  http2: takeHttp2(undefined).settings,
  noDelay: true,
  keepAlive: false,
  keepAliveInitialDelay: 0
}

/** A server of one answer over the raw binding. */
class RawServer {
  /** @param {number} lanes @param {(lane: number, slot: number) => void} [onRequest] */
  constructor (lanes, onRequest = (lane, slot) => this.answer(lane, slot)) {
    this.memory = Array.from({ length: lanes }, () => ({
      control: new Int32Array(new SharedArrayBuffer(R.kControlWords * 4)),
      segments: [0, 1].map(() => new Uint8Array(kSegmentBytes))
    }))
    /** @type {Set<number>} */
    this.lanesSeen = new Set()
    this.onRequest = onRequest
    this.engine = new Engine({
      lanes: this.memory,
      methods: http.METHODS,
      dispatch: (lane, segment, start, end) => this.#dispatch(lane, segment, start, end)
    })
    this.replies = this.memory.map((_, lane) => {
      const bytes = Buffer.from(new ArrayBuffer(1024 * 1024))
      assert.equal(this.engine.addReplySegment(lane, bytes), 0)
      return { bytes, words: new Int32Array(bytes.buffer), offset: 0 }
    })
    this.engine.configure(1, { ...kSettings, prefixes: { isEverything: true, isWhole: true, changes: [], places: [] } })
    this.engine.ref()
  }

  /** @param {number} lane @param {number} segment @param {number} start @param {number} end */
  #dispatch (lane, segment, start, end) {
    const bytes = this.memory[lane].segments[segment]
    const words = new Int32Array(bytes.buffer)
    for (let at = start; at < end;) {
      const w = at >>> 2
      at += words[w]
      this.memory[lane].control[R.kDispatchResume] = at
      const type = words[w + 1] & 0xff
      if (type === kRequest) {
        this.lanesSeen.add(lane)
        this.onRequest(lane, words[w + 2])
      } else if (type === kClosed) {
        this.#publish(lane, kRelease, 0, words[w + 2], 16)
      }
    }
    return end
  }

  /** @param {number} lane @param {number} slot */
  answer (lane, slot) {
    const { bytes, offset } = this.replies[lane]
    const length = bytes.latin1Write(kHello, offset + R.kResponseFixedBytes)
    const words = this.replies[lane].words
    words.set([length, 0, 0], (offset >>> 2) + 4)
    this.#publish(lane, kResponse, R.kReplyEnd, slot, (R.kResponseFixedBytes + length + 7) & ~7)
  }

  /** @param {number} lane @param {number} type @param {number} flags @param {number} slot @param {number} size */
  #publish (lane, type, flags, slot, size) {
    const reply = this.replies[lane]
    reply.words.set([size, type | (flags << 8), slot, 0], reply.offset >>> 2)
    reply.offset += size
    const { control } = this.memory[lane]
    Atomics.store(control, R.kReplyPublished, reply.offset)
    if (Atomics.load(control, R.kLaneSleeping) === 1) this.engine.wake(lane)
  }

  async listen () {
    // Node's server stays bound but never accepts: only its descriptor is wanted.
    const handle = /** @type {any} */ (net)._createServerHandle('127.0.0.1', 0, 4)
    assert.ok(this.engine.listen(1, handle.fd, 128) > 0)
    const out = { port: 0 }
    handle.getsockname(out)
    this.handle = handle
    return out.port
  }

  close () {
    this.engine.unref()
    this.engine.close()
    this.handle?.close()
  }
}

/** @param {net.Socket} socket @param {number} bytes */
function read (socket, bytes) {
  let text = ''
  return /** @type {Promise<string>} */ (new Promise((resolve) => {
    const take = (/** @type {Buffer} */ chunk) => {
      text += chunk
      if (text.length < bytes) return
      socket.off('data', take)
      resolve(text)
    }
    socket.on('data', take)
  }))
}

const kGet = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n'

for (const lanes of [1, 2]) {
  test(`${lanes} lane(s) answer many connections over keep-alive`, async (t) => {
    const server = new RawServer(lanes)
    t.after(() => server.close())
    const port = await server.listen()
    await Promise.all(Array.from({ length: 20 }, async () => {
      const socket = net.connect(port, '127.0.0.1')
      await once(socket, 'connect')
      for (let i = 0; i < 10; i++) {
        socket.write(kGet)
        assert.equal(await read(socket, kHello.length), kHello)
      }
      socket.destroy()
    }))
    assert.equal(server.lanesSeen.size, lanes)
  })
}

// What is a kernel's.
const kOfHttpSys = ['kernelOptions', 'systemCertificates']

test('the engine can do everything that capabilities name, but what is HTTP.SYS alone', () => {
  const { name, lanesMax, cacheCodings, ...can } = capabilities
  assert.equal(name, 'engine')
  assert.equal(lanesMax, 64)
  // Zstandard depends on Node.
  assert.equal(cacheCodings & ~2, 5)
  assert.ok(Object.keys(can).length > 10)
  for (const [what, value] of Object.entries(can)) assert.equal(value, !kOfHttpSys.includes(what), what)
})

test('pipelined requests are answered in one stream', async (t) => {
  const server = new RawServer(1)
  t.after(() => server.close())
  const socket = net.connect(await server.listen(), '127.0.0.1')
  socket.write(kGet.repeat(50))
  assert.equal(await read(socket, kHello.length * 50), kHello.repeat(50))
  socket.destroy()
})

test('what dispatch throws becomes an uncaught exception and the next record still runs', async (t) => {
  let calls = 0
  const server = new RawServer(1, (lane, slot) => {
    server.answer(lane, slot)
    if (++calls === 1) throw new Error('from dispatch')
  })
  t.after(() => server.close())
  const port = await server.listen()
  const thrown = new Promise((resolve) => {
    const before = process.listeners('uncaughtException')
    process.removeAllListeners('uncaughtException')
    process.once('uncaughtException', (error) => {
      for (const listener of before) process.on('uncaughtException', listener)
      resolve(error)
    })
  })
  const socket = net.connect(port, '127.0.0.1')
  socket.write(kGet + kGet)
  assert.equal(await read(socket, kHello.length * 2), kHello + kHello)
  assert.equal((await thrown).message, 'from dispatch')
  socket.destroy()
})

test('adopt() serves a connected descriptor', async (t) => {
  const server = new RawServer(1)
  const acceptor = net.createServer((socket) => {
    assert.equal(server.engine.adopt(1, /** @type {any} */ (socket)._handle.fd), 0)
    socket.destroy()
  })
  t.after(() => { server.close(); acceptor.close() })
  await once(acceptor.listen(0, '127.0.0.1'), 'listening')
  const socket = net.connect(/** @type {net.AddressInfo} */ (acceptor.address()).port, '127.0.0.1')
  socket.write(kGet)
  assert.equal(await read(socket, kHello.length), kHello)
  socket.destroy()
})

test('close() during traffic ends every connection, may be repeated, and leaves harmless methods', async () => {
  const server = new RawServer(2)
  const port = await server.listen()
  const sockets = Array.from({ length: 10 }, () => net.connect(port, '127.0.0.1'))
  for (const socket of sockets) {
    socket.on('error', () => {})
    socket.write(kGet.repeat(20))
  }
  await read(sockets[0], kHello.length)
  // Not once(): it rejects on the ECONNRESET of a client whose requests nobody has read.
  const closed = Promise.all(sockets.map((socket) => new Promise((resolve) => socket.resume().once('close', resolve))))
  server.close()
  server.engine.close()
  await closed
  assert.equal(server.engine.drain(10, 'sent'), true)
  assert.equal(server.engine.listen(1, 0, 1) < 0, true)
  assert.equal(server.engine.adopt(1, 0) < 0, true)
  server.engine.wake(0)
  server.engine.unlisten(1)
  server.engine.checkConnections(1, 1, 1)
  server.engine.ref()
  server.engine.unref()
})

test('close() within dispatch is safe', async () => {
  /** @type {() => void} */
  let closed = () => {}
  const done = new Promise((resolve) => { closed = () => resolve(undefined) })
  const server = new RawServer(1, () => { server.close(); closed() })
  const socket = net.connect(await server.listen(), '127.0.0.1')
  socket.on('error', () => {})
  socket.write(kGet + kGet)
  await done
  await once(socket, 'close')
})

test('listen() reports what the system says', (t) => {
  const server = new RawServer(1)
  t.after(() => server.close())
  assert.equal(server.engine.listen(1, 9999, 10), -9) // EBADF
})

test('prefixes that are not canonical, or change what is not there, are refused', (t) => {
  const server = new RawServer(1)
  t.after(() => server.close())
  const configure = (/** @type {unknown} */ prefixes) => server.engine.configure(2, /** @type {any} */ ({ ...kSettings, prefixes }))
  const whole = (/** @type {string} */ text) => ({ isEverything: false, isWhole: true, changes: [{ id: 0, text }], places: [] })
  const nothing = { isEverything: false, isWhole: true, changes: [], places: [] }
  const place = { port: 80, isHttps: true, address: '127.0.0.1', isThere: true }
  for (const prefixes of [
    undefined, [], {}, { ...nothing, changes: undefined }, { ...nothing, changes: ['http://a:80/'] }, { ...nothing, places: undefined },
    ...[0, {}, { ...place, port: '80' }, { ...place, isHttps: 1 }, { ...place, address: 'a' }, { ...place, isThere: undefined }].map((each) => ({ ...nothing, places: [each] }))
  ]) {
    assert.throws(() => configure(prefixes), /settings of a server/)
  }
  const change = { isEverything: false, isWhole: false, changes: [], places: [place] }
  assert.throws(() => configure(change), /not canonical/, 'nothing is there')
  assert.throws(() => configure(whole('http://a/')), /not canonical/)
  configure(whole('http://a:80/'))
  configure(change)
  server.engine.unlisten(2)
  assert.throws(() => configure(change), /not canonical/, 'what there was is forgotten')
})

const kWorker = `
  const { parentPort, workerData } = require('node:worker_threads')
  const http = require(workerData)
  const server = http.createServer((req, res) => res.end('from a worker'))
  server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port))
`

test('a terminated worker takes its engine with it', async () => {
  for (let i = 0; i < 3; i++) {
    const worker = new Worker(kWorker, { eval: true, workerData: require.resolve('..') })
    const [port] = await once(worker, 'message')
    const socket = net.connect(port, '127.0.0.1')
    socket.write(kGet)
    await once(socket, 'data')
    const closed = once(socket, 'close')
    await worker.terminate()
    await closed
    await assert.rejects(once(net.connect(port, '127.0.0.1'), 'connect'), { code: 'ECONNREFUSED' })
  }
})

test('an engine that nobody refers to lets the process end', async () => {
  const script = `
    const { Engine } = require(${JSON.stringify(require.resolve('../lib/backend/binding'))}).loadBinding()
    new Engine({
      lanes: [{ control: new Int32Array(new SharedArrayBuffer(256)), segments: [new Uint8Array(1024), new Uint8Array(1024)] }],
      methods: ['GET'],
      dispatch () {}
    })
    console.log('end')
  `
  const { stdout } = await promisify(execFile)(process.execPath, ['-e', script], { timeout: 20_000 })
  assert.equal(stdout, 'end\n')
})

test('an empty HTTPSYS_ADDON is none', async () => {
  const script = "require('./packages/core-native/lib/backend/binding').loadBinding()"
  await promisify(execFile)(process.execPath, ['-e', script], { cwd: path.join(__dirname, '..', '..', '..'), env: { ...process.env, HTTPSYS_ADDON: '' } })
})
