'use strict'

// However an HTTP/2 connection, one of its streams or a WebSocket of @httpsys/websocket ends, in whatever phase, nothing of the
// connection is left: no descriptor, no slot of a lane, no count of its server.

const assert = require('node:assert/strict')
const { once } = require('node:events')
const net = require('node:net')
const nodeTls = require('node:tls')
const { before, describe, it } = require('node:test')
const core = /** @type {any} */ (require('@httpsys/core-native'))
const { WebSocketServer } = require('@httpsys/websocket')
const { hasHttp2 } = core.backend === 'node' ? { hasHttp2: false } : require('../../packages/core-native/lib/backend/binding').loadBinding()
const { localhost } = require('../helpers/tls')
const { listen } = require('../helpers/client')
const { someOf } = require('../helpers/thorough')
const { kEndHeaders, kEndStream, kPreface, kType, block, fieldsOf, frame } = require('../http2/frames')
const { kClientLeaves, kServerLeaves, descriptors, send, slotsOf, until } = require('../fixtures/connection-ends')

// So many bytes that no window, credit or socket takes them.
const kFlood = Buffer.alloc(3_000_000, 'x')

const kBegin = Buffer.concat([Buffer.from(kPreface), frame(kType.settings, 0, 0)])
/** @param {string} path @param {Record<string, string>} [headers] @param {boolean} [isWhole] */
const request = (path, headers = {}, isWhole = true) =>
  frame(kType.headers, kEndHeaders | (isWhole ? kEndStream : 0), 1, block(fieldsOf({ ':path': path, ...headers })))
/** @param {string} path */
const connect = (path) => request(path, { ':method': 'CONNECT', ':protocol': 'websocket', 'sec-websocket-version': '13' }, false)
/** @param {Uint8Array | string} bytes @param {number} [flags] */
const data = (bytes, flags = 0) => frame(kType.data, flags, 1, bytes)
/** A masked frame of a WebSocket. @param {string} text @param {number} [first] byte */
const message = (text, first = 0x81) => Buffer.concat([Buffer.from([first, 0x80 | text.length, 0, 0, 0, 0]), Buffer.from(text)])
const kUpgrade = 'GET /ws HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n' +
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n'

/** As in descriptors.test.js. @type {Record<string, (string | Buffer)[]>} */
const kStreamPhases = {
  'within the preface': [kPreface.slice(0, 16)],
  'between streams': [kBegin, request('/')],
  'within a frame': [kBegin, request('/').subarray(0, 12)],
  'before the answer of a stream': [kBegin, request('/silent')],
  'within an answer of a stream': [kBegin, request('/begun')],
  'within an answer that is not read': [Buffer.concat([kBegin, frame(kType.settings, 0, 0, Buffer.from([0, 4, 0, 0, 0, 0]))]), request('/large')],
  'within a body of a stream': [kBegin, request('/silent', { ':method': 'POST' }, false), data('hello')],
  'after a reset of a stream': [kBegin, request('/silent'), frame(kType.reset, 0, 1, Buffer.alloc(4))],
  'after GOAWAY of the client': [kBegin, request('/silent'), frame(kType.goaway, 0, 0, Buffer.alloc(8))],
  'after a frame of no stream': [kBegin, frame(kType.data, 0, 5, 'x')],
  'in an upgraded stream': [kBegin, connect('/upgrade')],
  'in an upgraded stream with bytes': [kBegin, connect('/upgrade'), data('bytes')],
  'in an upgraded stream that is read': [kBegin, connect('/read'), data('bytes')],
  'in an upgraded stream whose client has ended': [kBegin, connect('/upgrade'), data('bytes', kEndStream)],
  'in a WebSocket of a stream': [kBegin, connect('/ws'), data(message('hello'))],
  'within a message of a WebSocket of a stream': [kBegin, connect('/ws'), data(message('hello').subarray(0, 8))]
}

/** @type {Record<string, (string | Buffer)[]>} */
const kSocketPhases = {
  'in a WebSocket': [kUpgrade],
  'after a message of a WebSocket': [kUpgrade, message('hello')],
  'within a message of a WebSocket': [kUpgrade, message('hello').subarray(0, 8)],
  'within a message that came with the head of a WebSocket': [Buffer.concat([Buffer.from(kUpgrade), message('hello').subarray(0, 8)])],
  'within a fragmented message of a WebSocket': [kUpgrade, message('hello', 0x01)],
  'after the close frame of a WebSocket': [kUpgrade, message('', 0x88)],
  'after a malformed frame of a WebSocket': [kUpgrade, Buffer.from([0xff, 0xff])]
}

/** A server that does with a stream what its path says, and knows the sockets by the ports of their clients. */
class Server {
  /** Of connections. @type {Map<number, any>} */
  connections = new Map()
  /** Of the last request of each. @type {Map<number, any>} */
  latest = new Map()

  /** @param {boolean} isSecure */
  constructor (isSecure) {
    const options = { keepAliveTimeout: 0, http2: true, ...isSecure ? localhost() : {} }
    this.server = isSecure ? core.https.createServer(options) : core.createServer(options)
    this.server.setMaxListeners(0)
    this.server.on('request', (/** @type {any} */ req, /** @type {any} */ res) => {
      this.#keep(req.socket)
      req.on('error', () => {})
      if (req.url === '/begun') res.write('begun')
      else if (req.url === '/large') res.end(kFlood)
      else if (req.url !== '/silent') res.end('answer')
    })
    const sockets = new WebSocketServer({ noServer: true })
    this.server.on('upgrade', (/** @type {any} */ req, /** @type {any} */ socket, /** @type {Buffer} */ head) => {
      this.#keep(socket)
      if (req.url === '/ws') sockets.handleUpgrade(req, socket, head, (/** @type {any} */ client) => client.on('error', () => {}))
      else if (req.url === '/read') socket.resume()
    })
    this.server.on('clientError', () => {})
    this.server.on(isSecure ? 'secureConnection' : 'connection', (/** @type {any} */ socket) => {
      socket.on('error', () => {})
      this.connections.set(socket.remotePort, socket)
      this.server.emit(`of ${socket.remotePort}`)
    })
  }

  /** @param {any} socket of a connection or stream */
  #keep (socket) {
    this.latest.set(socket.remotePort, socket)
    if (socket !== this.connections.get(socket.remotePort)) socket.on('error', () => {})
  }

  /** @param {number} port a client's @returns {Promise<any>} */
  async of (port) {
    if (!this.connections.has(port)) await once(this.server, `of ${port}`)
    return this.connections.get(port)
  }
}

/** Who leaves first, whether the server leaves the connection or its last stream, and how. */
function allCases () {
  return [true, false].flatMap((isClientFirst) => Object.entries(kServerLeaves).flatMap(([serverName, leaveServer]) =>
    Object.entries(kClientLeaves).flatMap(([clientName, leaveClient]) => [false, true].map((isStream) => {
      const names = [`client ${clientName}`, `server ${serverName} of the ${isStream ? 'stream' : 'connection'}`]
      return { name: (isClientFirst ? names : names.reverse()).join(', '), isClientFirst, isStream, leaveServer, leaveClient }
    }))))
}

/** @param {boolean} isSecure @param {string} protocol of ALPN @param {(string | Buffer)[]} steps */
async function leave (isSecure, protocol, steps) {
  const atFirst = descriptors()
  const own = new Server(isSecure)
  const port = await listen(own.server)
  await Promise.all(allCases().map(async (one) => {
    const options = { port, host: '127.0.0.1', allowHalfOpen: true, rejectUnauthorized: false, ALPNProtocols: [protocol] }
    const plain = net.connect(options)
    plain.on('error', () => {})
    const client = isSecure ? nodeTls.connect({ ...options, socket: plain }) : plain
    client.on('error', () => {}).resume()
    await once(client, isSecure ? 'secureConnect' : 'connect')
    const clientPort = /** @type {number} */ (plain.localPort)
    const socket = await own.of(clientPort)
    Object.assign(socket, { test: one.name })
    for (const step of steps) await send(client, step)
    const leaveServer = () => one.leaveServer(one.isStream ? own.latest.get(clientPort) ?? socket : socket)
    if (one.isClientFirst) one.leaveClient(client, plain)
    else leaveServer()
    await send(client, '')
    if (one.isClientFirst) leaveServer()
    else one.leaveClient(client, plain)
  }))
  const sockets = [...own.connections.values()]
  const left = () => sockets.filter((socket) => !socket.destroyed).map((socket) => socket.test)
  await until(() => left().length === 0)
  assert.deepEqual(left(), [], 'sockets that are not destroyed')
  const slots = () => slotsOf(own.server, sockets)
  await until(() => slots().length === 0)
  assert.deepEqual(slots(), [], 'slots that are not free')
  const closed = once(own.server, 'close')
  own.server.close()
  await closed
  await until(() => descriptors() <= atFirst)
  assert.ok(descriptors() <= atFirst, `${descriptors()} descriptors, ${atFirst} before`)
}

const skip = core.backend === 'node' ? 'HTTP/2 on a server of node:http, and these WebSockets, are ours' : process.platform !== 'linux' && 'descriptors are counted in /proc'
describe('nothing is left of a connection with streams or frames', { skip }, () => {
  // The engine's own descriptors come with its first server, and stay.
  before(async () => {
    const { server } = new Server(false)
    await listen(server)
    server.close()
    await once(server, 'close')
  })

  for (const isSecure of someOf([true, false], 2)) {
    const over = isSecure ? ', over TLS' : ''
    for (const [phase, steps] of Object.entries(kStreamPhases)) {
      it(`that both sides leave ${phase}${over}`, { skip: !hasHttp2 && 'this Node has no nghttp2' }, () => leave(isSecure, 'h2', steps))
    }
    for (const [phase, steps] of Object.entries(kSocketPhases)) {
      it(`that both sides leave ${phase}${over}`, () => leave(isSecure, 'http/1.1', steps))
    }
  }
})
