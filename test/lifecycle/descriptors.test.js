'use strict'

// However a connection ends, in whatever phase, nothing of it is left: no descriptor, no slot of a lane, no count of its server.

const assert = require('node:assert/strict')
const { once } = require('node:events')
const net = require('node:net')
const nodeTls = require('node:tls')
const { before, describe, it } = require('node:test')
const core = /** @type {any} */ (require('@httpsys/core-native'))
const { localhost } = require('../helpers/tls')
const { kClientLeaves, kServerLeaves, descriptors, send, slotsOf, until } = require('../fixtures/connection-ends')
const { listen } = require('../helpers/client')

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
    // Many wait for a connection of theirs at once.
    this.server.setMaxListeners(0)
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
        /** @type {{ name: string, isClientFirst: boolean, leaveServer: (socket: any) => void, leaveClient: (socket: any, plain: any) => void, plain?: import('node:net').Socket }[]} */
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
          Object.assign(one, { plain })
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
        const slots = () => slotsOf(own.server, own.sockets.values())
        await until(() => slots().length === 0)
        assert.deepEqual(slots(), [], 'slots that are not free')
        const closed = once(own.server, 'close')
        own.server.close()
        await closed
        await until(() => descriptors() <= atFirst)
        assert.deepEqual(cases.filter(({ plain }) => !plain?.destroyed).map(({ name }) => name), [], 'clients that are not closed')
        assert.ok(descriptors() <= atFirst, `${descriptors()} descriptors, ${atFirst} before`)
      })
    }
  }
})
