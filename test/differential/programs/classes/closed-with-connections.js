'use strict'
// A handler shuts down the server together with all connections, the one that asked for it included.
// covers: r15
// breaks: close-all-forgets

const http = require('node:http')
const { dial, listen, log, logged, message, play, program, talk } = require('../../kit')

program(async () => {
  let closed = 0
  const server = http.createServer((req, res) => {
    log('request', req.url)
    // Which of the others comes first is nobody's promise.
    res.on('close', () => log(`close${++closed}`, req.url === '/idle' && res.writableFinished))
    if (req.url === '/idle') res.end('idle')
    if (req.url !== '/shutdown') return
    server.close(() => log('closed'))
    server.closeAllConnections()
    log('destroyed', req.socket.destroyed, server.listening)
  })
  const port = await listen(server)
  const wires = [await dial(port), await dial(port), await dial(port)]
  await play(wires[0], [message('GET /idle', []), /idle/, { event: 'close1' }])
  await play(wires[1], [message('GET /waiting', []), { event: 'request /waiting' }])
  await play(wires[2], message('GET /shutdown', []))
  for (const wire of wires) await talk(wire, [])
  await logged('closed')
  await logged('close3')
})
