'use strict'
// maxConnections refuses what is too much and says so with "drop"; what leaves makes room.
// covers: 27, 28
// breaks: drop-without-data, light-sockets-not-uncounted

const http = require('node:http')
const { dial, listen, log, logged, message, play, program, talk } = require('../../kit')

program(async () => {
  const server = http.createServer((req, res) => {
    if (req.url === '/leave') req.socket.destroy()
    else res.end('served')
  })
  server.on('drop', (data) => log('drop', data))
  server.on('connection', () => log('connection'))
  server.maxConnections = 1
  const port = await listen(server)
  const first = await dial(port)
  await play(first, [message('GET /', []), /served$/])
  const second = await dial(port)
  second.socket.on('close', () => log('second closed'))
  await logged('second closed')
  await play(first, [message('GET /leave', [])])
  await first.untilClosed()
  await talk(port, message('GET /'))
  server.maxConnections = 2
  const wires = [await dial(port), await dial(port)]
  for (const wire of wires) await talk(wire, [message('GET /', [])], /served$/)
})
