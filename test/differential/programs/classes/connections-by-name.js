'use strict'
// server-destroy keeps the connections by their addresses and destroys them all to stop.
// covers: 16, 17
// breaks: connection-not-announced, close-unheard

const http = require('node:http')
const { dial, listen, log, logged, message, play, program, talk } = require('../../kit')

program(async () => {
  const connections = new Map()
  const server = http.createServer((req, res) => {
    log('request', req.url, connections.has(`${req.socket.remoteAddress}:${req.socket.remotePort}`))
    if (req.url === '/answered') res.end('answered')
    if (req.url === '/destroy') {
      server.close(() => log('closed'))
      for (const socket of connections.values()) socket.destroy()
    }
  })
  server.on('connection', (socket) => {
    const name = `${socket.remoteAddress}:${socket.remotePort}`
    connections.set(name, socket)
    socket.on('close', (hadError) => {
      connections.delete(name)
      log('left', connections.size, hadError)
    })
  })
  const port = await listen(server)
  const wires = [await dial(port), await dial(port), await dial(port)]
  await play(wires[0], [message('GET /answered', []), /answered/])
  await play(wires[1], [message('GET /waiting', []), { event: 'request /waiting' }])
  await play(wires[2], message('GET /destroy', []))
  for (const wire of wires) await talk(wire, [])
  await logged('left 0')
  await logged('closed')
})
