'use strict'

// However a connection ends, in whatever phase, nothing of it is left: no descriptor, no slot of a lane, no count of its server.

const assert = require('node:assert/strict')
const { once } = require('node:events')
const fs = require('node:fs')
const net = require('node:net')
const nodeTls = require('node:tls')
const { before, describe, it } = require('node:test')
const core = /** @type {any} */ (require('@httpsys/core-native'))
const { kLane } = require('../../packages/core-native/lib/http/symbols')
const { localhost } = require('../helpers/tls')
const { listen } = require('../helpers/client')

// A connection may linger for 2 s; the rest is for busy machines.
const kGoneMs = 20_000
const kLookMs = 50
// More than anybody keeps who does not read.
const kFlood = Buffer.alloc(300_000, 'x')

const kGet = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n'
const kUpgrade = (/** @type {string} */ to) => `GET /upgrade HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: ${to}\r\n\r\n`

/**
 * What a client sends, in segments of their own, until a connection is in a phase. Paths tell the handler what to do.
 *
 * @type {Record<string, (string | Buffer)[]>}
 */
const kPhases = {
  'before a request': [],
  'within a head': ['GET / HT'],
  'between requests': [kGet],
  'within a body of a known length': ['POST /silent HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nhello'],
  'within a chunked body': ['POST /silent HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n'],
  'within an answer': ['GET /begun HTTP/1.1\r\nHost: a\r\n\r\n'],
  'before the answer': ['GET /silent HTTP/1.1\r\nHost: a\r\n\r\n'],
  'before the answer, with more requests': [`GET /silent HTTP/1.1\r\nHost: a\r\n\r\n${kGet}${kGet}`],
  'before the last answer': ['GET /silent HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'],
  'after a refused request': ['no request\r\n\r\n'],
  'in a tunnel': ['CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n'],
  'in a tunnel with bytes': ['CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\nfirst', 'second'],
  ...Object.fromEntries(['websocket', 'x'].flatMap((to) => [
    [`upgraded to ${to}`, [kUpgrade(to)]],
    [`upgraded to ${to} with a byte behind the head`, [`${kUpgrade(to)}b`]],
    [`upgraded to ${to} with later bytes`, [kUpgrade(to), 'later']],
    [`upgraded to ${to} with both`, [`${kUpgrade(to)}b`, 'later']],
    [`upgraded to ${to} with a flood`, [kUpgrade(to), kFlood]],
    [`upgraded to ${to} and read`, [kUpgrade(to).replace('/upgrade', '/read'), 'later']],
  ]))
}

/** @type {Record<string, (socket: any) => void>} */
const kServerLeaves = {
  end: (socket) => socket.end(),
  'end with bytes': (socket) => socket.end('HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n'),
  destroySoon: (socket) => socket.destroySoon(),
  destroy: (socket) => socket.destroy(),
  reset: (socket) => socket.resetAndDestroy()
}

/** @type {Record<string, (socket: net.Socket, plain: net.Socket) => void>} */
const kClientLeaves = {
  ends: (socket) => socket.end(),
  'sends and ends': (socket) => socket.end('some more bytes'),
  destroys: (socket) => socket.destroy(),
  resets: (socket, plain) => plain.resetAndDestroy()
}

function descriptors () {
  return fs.readdirSync('/proc/self/fd').filter((fd) => {
    try {
      return fs.readlinkSync(`/proc/self/fd/${fd}`).startsWith('socket:')
    } catch {
      return false // That of the folder.
    }
  }).length
}

/** @param {() => boolean} isDone */
async function until (isDone) {
  const end = performance.now() + kGoneMs
  while (!isDone() && performance.now() < end) await new Promise((resolve) => setTimeout(resolve, kLookMs))
}

/** A server that does with a connection what the path of a request says, and knows the sockets by the ports of their clients. */
class Server {
  /** @type {Map<number, any>} */
  sockets = new Map()

  /** @param {boolean} isSecure */
  constructor (isSecure) {
    const options = { keepAliveTimeout: 0, ...isSecure ? localhost() : {} }
    this.server = isSecure ? core.https.createServer(options) : core.createServer(options)
    this.server.on('request', (/** @type {any} */ req, /** @type {any} */ res) => {
      if (req.url === '/begun') res.write('begun')
      else if (req.url !== '/silent') res.end('answer')
    })
    for (const event of ['upgrade', 'connect']) {
      this.server.on(event, (/** @type {any} */ req, /** @type {any} */ socket) => {
        if (req.url === '/read') socket.resume()
      })
    }
    this.server.on('clientError', () => {})
    this.server.on(isSecure ? 'secureConnection' : 'connection', (/** @type {any} */ socket) => {
      this.sockets.set(socket.remotePort, socket)
      socket.on('error', () => {})
      this.server.emit(`of ${socket.remotePort}`)
    })
  }

  /** @param {number} port a client's @returns {Promise<any>} */
  async of (port) {
    if (!this.sockets.has(port)) await once(this.server, `of ${port}`)
    return this.sockets.get(port)
  }
}

/** @param {net.Socket} client @param {string | Buffer} bytes */
async function send (client, bytes) {
  // What does not fit waits in the client for somebody who reads.
  await Promise.race([new Promise((resolve) => client.write(bytes, resolve)), new Promise((resolve) => setTimeout(resolve, kLookMs))])
  // The lane's turn, and that of JavaScript, which hears of what it has read.
  for (let i = 0; i < 5; i++) await new Promise((resolve) => setImmediate(resolve))
}

describe('nothing is left of a connection', { skip: process.platform !== 'linux' && 'descriptors are counted in /proc' }, () => {
  // The engine's own descriptors come with its first server, and stay.
  before(async () => {
    const { server } = new Server(false)
    await listen(server)
    server.close()
    await once(server, 'close')
  })

  for (const isSecure of [false, true]) {
    for (const [phase, steps] of Object.entries(kPhases)) {
      // What has come and is read by nobody keeps a connection of stock Node.
      const isUnread = core.backend === 'node' && /tunnel|upgraded/.test(phase)
      it(`that both sides leave ${phase}${isSecure ? ', over TLS' : ''}`, { skip: isUnread && 'stock Node keeps unread bytes' }, async () => {
        const atFirst = descriptors()
        const own = new Server(isSecure)
        const port = await listen(own.server)
        const cases = []
        for (const isClientFirst of [true, false]) {
          for (const [server, leaveServer] of Object.entries(kServerLeaves)) {
            for (const [clientName, leaveClient] of Object.entries(kClientLeaves)) {
              if (server === 'reset' && isSecure && core.backend === 'node') continue // It cannot reset a TLSSocket.
              cases.push({ name: isClientFirst ? `client ${clientName}, server ${server}` : `server ${server}, client ${clientName}`, isClientFirst, leaveServer, leaveClient })
            }
          }
        }
        await Promise.all(cases.map(async (one) => {
          const options = { port, host: '127.0.0.1', allowHalfOpen: true, rejectUnauthorized: false }
          const plain = net.connect(options)
          plain.on('error', () => {})
          const client = isSecure ? nodeTls.connect({ ...options, socket: plain }) : plain
          client.on('error', () => {}).resume()
          await once(client, isSecure ? 'secureConnect' : 'connect')
          const socket = await own.of(/** @type {number} */ (plain.localPort))
          Object.assign(socket, { test: one.name })
          for (const step of steps) await send(client, step)
          if (one.isClientFirst) {
            one.leaveClient(client, plain)
            await send(client, '')
            one.leaveServer(socket)
          } else {
            one.leaveServer(socket)
            await send(client, '')
            one.leaveClient(client, plain)
          }
        }))
        const isGone = () => [...own.sockets.values()].every((socket) => socket.destroyed)
        await until(isGone)
        assert.deepEqual([...own.sockets.values()].filter((socket) => !socket.destroyed).map((socket) => socket.test), [], 'sockets that are not destroyed')
        const lanes = [...new Set([...own.sockets.values()].map((socket) => socket[kLane]).filter(Boolean))]
        const slots = () => lanes.flatMap(({ sockets }) => sockets.filter((/** @type {any} */ socket) => socket?.server === own.server)).map((/** @type {any} */ socket) => socket.test)
        await until(() => slots().length === 0)
        assert.deepEqual(slots(), [], 'slots that are not free')
        const closed = once(own.server, 'close')
        own.server.close()
        await closed
        await until(() => descriptors() <= atFirst)
        assert.ok(descriptors() <= atFirst, `${descriptors()} descriptors, ${atFirst} before`)
      })
    }
  }
})
