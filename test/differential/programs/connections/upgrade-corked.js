'use strict'
// The sender of ws writes head and payload of a frame corked; bufferedAmount is 0 again as soon as the
// kernel has the bytes.
// covers: 21, r7
// breaks: writes-accepted-late

const http = require('node:http')
const { listen, log, message, program, talk } = require('../../kit')

program(async () => {
  const server = http.createServer()
  server.on('upgrade', (req, socket) => {
    socket.write('HTTP/1.1 101 Switching Protocols\r\n\r\n', () => log('head written'))
    log('after head', socket.writableLength)
    socket.cork()
    socket.write(Buffer.from('frame:'))
    socket.write(Buffer.from('payload'), (error) => log('payload written', error))
    log('corked', socket.writableLength, socket._writableState.length, socket.writableCorked)
    socket.uncork()
    log('uncorked', socket.writableLength, socket._writableState.length, socket.bytesWritten)
    socket.end(() => log('end written'))
    socket.on('finish', () => log('finish'))
  })
  await talk(await listen(server), [message('GET /', ['Upgrade: x', 'Connection: Upgrade']), { event: 'finish' }])
})
