'use strict'
// A WebSocket that is closed before anybody read it: 'end' comes all the same, and the socket can still
// be written to.
// covers: 21, r8
// breaks: end-waits-for-a-reader

const http = require('node:http')
const { listen, log, logged, message, program, talk } = require('../../kit')

program(async () => {
  const server = http.createServer()
  server.on('upgrade', (req, socket) => {
    socket.on('end', () => {
      log('end', socket.readable, socket.writable, socket.writableEnded)
      socket.write('still ')
      socket.end('here')
    })
    socket.on('close', (hadError) => log('close', hadError))
    socket.write('HTTP/1.1 101 Switching Protocols\r\n\r\n')
  })
  await talk(await listen(server), [message('GET /', ['Upgrade: x', 'Connection: Upgrade']), /101/, null, { event: 'end' }])
  await logged('close')
})
