'use strict'
// After an upgrade nothing of http listens on the socket: its timeout and its errors are the application's.
// covers: 21, r9
// breaks: http-listeners-stay

const http = require('node:http')
const { listen, log, logged, message, program, talk } = require('../../kit')

program(async () => {
  const server = http.createServer()
  server.on('timeout', () => log('server timeout'))
  server.on('clientError', (error) => log('clientError', error.message))
  server.on('upgrade', (req, socket) => {
    for (const type of ['data', 'drain', 'error', 'timeout', 'close', 'readable']) log(type, socket.listenerCount(type))
    log(socket.readableFlowing, socket.isPaused(), socket.server === server)
    socket.write('HTTP/1.1 101 Switching Protocols\r\n\r\n')
    socket.on('error', (error) => log('error', error.message))
    socket.on('close', (hadError) => log('close', hadError))
    socket.setTimeout(50, () => {
      log('timeout', socket.destroyed)
      socket.destroy(new Error('mine'))
    })
  })
  await talk(await listen(server), message('GET /', ['Upgrade: x', 'Connection: Upgrade']))
  await logged('close')
})
