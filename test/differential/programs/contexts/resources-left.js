'use strict'
// What jest --detectOpenHandles and why-is-node-running look at: after close() no async resource of a server or a connection is
// left that had begun, not even of a server that never listened.
// covers: 36
// breaks: server-resource-stays

const http = require('node:http')
const net = require('node:net')
const { createHook } = require('node:async_hooks')
const { once } = require('node:events')
const { setTimeout: sleep } = require('node:timers/promises')
const { dial, log, message, play, program } = require('../../kit')

/** Of no server, of those who wait here, or of the standard output, which opens with its first line. */
const kOthers = /^(PIPEWRAP|PROMISE|Timeout|Immediate|TickObject|Microtask|DNSCHANNEL|TCPCONNECTWRAP|GETADDRINFOREQWRAP)$/
/** Node tells of an end a turn later at most; a test must not end before ours have had theirs. */
const kTellMs = 100

/** @type {Map<number, string>} */
const open = new Map()
createHook({
  init (id, type) {
    if (!kOthers.test(type)) open.set(id, type)
  },
  destroy (id) {
    open.delete(id)
  }
}).enable()

/** What one client sends. @type {Record<string, string>} */
const kClients = {
  nothing: '',
  'two requests': message('GET /', []) + message('GET /'),
  'a body': message('POST /', ['Content-Length: 2'], 'xx'),
  'half a body': message('POST /', ['Content-Length: 2'], 'x'),
  'an upgrade': message('GET /', ['Connection: Upgrade', 'Upgrade: websocket']),
  nonsense: 'nonsense\r\n\r\n',
}

program(async () => {
  http.createServer()
  const server = http.createServer((req, res) => req.resume().on('end', () => res.end('answer')))
  server.on('upgrade', (req, socket) => socket.end('HTTP/1.1 101 Switching Protocols\r\n\r\n'))
  for (const times of ['first', 'again']) {
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    for (const [name, bytes] of Object.entries(kClients)) {
      const accepted = once(server, 'connection')
      const wire = await dial(server.address().port)
      await accepted
      await play(wire, [bytes, null])
      await wire.untilClosed()
      log(times, name)
    }
    server.close()
    await once(server, 'close')
    await sleep(kTellMs)
    log(times, 'left:', [...open.values()])
  }
  const busy = net.createServer().listen(0, '127.0.0.1')
  await once(busy, 'listening')
  server.listen(busy.address().port, '127.0.0.1')
  await once(server, 'error')
  busy.close()
  await once(busy, 'close')
  await sleep(kTellMs)
  log('refused, left:', [...open.values()])
})
