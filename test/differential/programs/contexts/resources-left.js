'use strict'
// What jest --detectOpenHandles and why-is-node-running look at: after close() no async resource of a server or a connection is
// left that had begun, not even of a server that never listened, and each has ended once. A server has one, and each request, as on
// Node each connection.
// covers: 36
// breaks: server-resource-stays, probe-stays, server-resource-twice

const http = require('node:http')
const https = require('node:https')
const net = require('node:net')
const tls = require('node:tls')
const { createHook } = require('node:async_hooks')
const { EventEmitter, once } = require('node:events')
const { setTimeout: sleep } = require('node:timers/promises')
const { certificate } = require('../../../helpers/certificates')
const { log, message, program } = require('../../kit')

/** Of no server, of those who wait here, of the standard output, or of TLS, which Node leaves to V8 to end. */
const kOthers = /^(PIPEWRAP|PROMISE|Immediate|TickObject|Microtask|DNSCHANNEL|TCPCONNECTWRAP|GETADDRINFOREQWRAP|TLSWRAP)$/
/** Node tells of an end a turn later at most; a test must not end before ours have had theirs. */
const kTellMs = 100
/** What a server does with the rest of a client's bytes is done by then; nothing depends on it. */
const kRestMs = 30

/** @type {Map<number, { type: string, resource: any }>} */
const open = new Map()
/** @type {Set<number>} */
const ended = new Set()
/** @type {Record<string, number>} */
let begun = {}
createHook({
  init (id, type, trigger, resource) {
    if (kOthers.test(type)) return
    begun[type] = (begun[type] ?? 0) + 1
    open.set(id, { type, resource })
  },
  destroy (id) {
    if (ended.has(id)) log('ended twice')
    if (open.delete(id)) ended.add(id)
  }
}).enable()

// A timer that the event loop does not wait for is not left open.
const left = () => [...open.values()].filter(({ type, resource }) => type !== 'Timeout' || resource.hasRef()).map(({ type }) => type)

/** What one client sends. @type {Record<string, string>} */
const kClients = {
  nothing: '',
  'two requests': message('GET /', []) + message('GET /'),
  'a body': message('POST /', ['Content-Length: 2'], 'xx'),
  'half a body': message('POST /', ['Content-Length: 2'], 'x'),
  'a body when it is wanted': message('POST /', ['Content-Length: 2', 'Expect: 100-continue'], 'xx'),
  'an upgrade': message('GET /', ['Connection: Upgrade', 'Upgrade: websocket']),
  'a tunnel': message('CONNECT a:1', []),
  nonsense: 'nonsense\r\n\r\n',
  'a request whose handler throws': message('GET /throws', []),
  'a request whose handler destroys': message('GET /destroys', []),
  'a request that times out': message('GET /times', []),
  'a request without an answer, and another': message('GET /silent', []) + message('GET /', []),
}

/** What tells the client that its bytes have been handled, where it is not a handler. @type {Record<string, string>} */
const kToldByClient = {
  nonsense: 'data',
  'a request whose handler destroys': 'close',
  'a request that times out': 'close',
  // A client that leaves before it has read everything resets the connection, of which the upgraded socket would tell.
  'an upgrade': 'end',
  'a tunnel': 'end',
}

/** Says "handled" when a handler has run, or has thrown. */
const handlers = new EventEmitter()

/** @type {Record<string, (req: any, res: any) => void>} */
const kHandlers = {
  '/throws': () => { throw new Error('thrown') },
  '/destroys': (req) => req.socket.destroy(),
  '/times': (req) => req.setTimeout(1),
  '/silent': () => {},
  '/': (req, res) => req.resume().on('end', () => res.end('answer')),
}

program(async () => {
  process.on('uncaughtException', (error) => {
    log(error.message)
    handlers.emit('handled')
  })
  http.createServer()
  for (const isSecure of [false, true]) {
    const where = isSecure ? 'TLS' : 'plain'
    const server = (isSecure ? https : http).createServer(isSecure ? { ...certificate('localhost'), ALPNProtocols: ['http/1.1'] } : {}, (req, res) => {
      kHandlers[req.url](req, res)
      handlers.emit('handled')
    })
    for (const type of ['upgrade', 'connect']) server.on(type, (req, socket) => socket.end('HTTP/1.1 101 Switching Protocols\r\n\r\n'))
    for (const times of ['first', 'again']) {
      begun = {}
      server.listen(0, '127.0.0.1')
      await once(server, 'listening')
      for (const [name, bytes] of Object.entries(kClients)) {
        const to = { port: server.address().port, host: '127.0.0.1' }
        const client = isSecure ? tls.connect({ ...to, rejectUnauthorized: false }) : net.connect(to)
        client.on('error', () => {}).resume()
        await once(client, isSecure ? 'secureConnect' : 'connect')
        const type = kToldByClient[name]
        const isHandled = bytes === '' ? null : type === undefined ? once(handlers, 'handled') : once(client, type)
        client.write(bytes)
        await isHandled
        await sleep(kRestMs)
        client.destroy()
        if (!client.closed) await once(client, 'close')
        log(where, times, name)
      }
      server.close()
      await once(server, 'close')
      await sleep(kTellMs)
      log(where, times, 'left:', left())
      const requests = begun.HTTPINCOMINGMESSAGE
      log('servers:', (begun.HTTPSERVER ?? 0) <= 1, 'requests:', requests > 0 && requests <= 2 * Object.keys(kClients).length)
      log('others:', Object.keys(begun).filter((type) => !/^(HTTP|TCP|Timeout$|SHUTDOWNWRAP$|WRITEWRAP$)/.test(type)))
    }
  }
  const server = http.createServer()
  const busy = net.createServer().listen(0, '127.0.0.1')
  await once(busy, 'listening')
  server.listen(busy.address().port, '127.0.0.1')
  await once(server, 'error')
  busy.close()
  await once(busy, 'close')
  await sleep(kTellMs)
  log('refused, left:', left())
})
