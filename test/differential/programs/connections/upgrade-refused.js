'use strict'
// ws and socket.io refuse a handshake: a plain answer, and the socket destroyed on its 'finish'.
// covers: 21, 39
// breaks: finish-of-a-socket-lost

const http = require('node:http')
const { listen, log, logged, message, program, talk } = require('../../kit')

program(async () => {
  const server = http.createServer()
  server.on('upgrade', (req, socket) => {
    for (const type of ['end', 'finish', 'close']) socket.on(type, () => log(type, socket.destroyed))
    socket.once('finish', socket.destroy)
    socket.end('HTTP/1.1 401 Unauthorized\r\nConnection: close\r\nContent-Length: 2\r\n\r\nno')
    log('ended', socket.writable, socket.writableEnded, socket.writableFinished)
  })
  await talk(await listen(server), message('GET /', ['Upgrade: websocket', 'Connection: Upgrade']))
  await logged('close')
})
