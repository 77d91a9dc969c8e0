'use strict'
// sockjs and old proxies write an answer of their own straight to a request's socket and end it.
// covers: 21, r7, r4
// breaks: raw-not-counted

const http = require('node:http')
const { listen, log, logged, message, program, talk, watch } = require('../../kit')

program(async () => {
  const server = http.createServer((req, res) => {
    const { socket } = req
    watch('response', res, ['finish', 'close'])
    watch('socket', socket, ['finish', 'end', 'close'])
    socket.write('HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n')
    log(socket.writableLength, socket.bytesWritten, res.headersSent)
    socket.write(Buffer.from('raw '), () => log('written'))
    socket.end('bytes', () => log('ended', socket.bytesWritten))
    log(socket.writable, socket.writableEnded, res.writable, res.writableEnded)
  })
  await talk(await listen(server), message('GET /', []))
  await logged('socket close')
})
