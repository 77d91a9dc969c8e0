'use strict'
// A client ends in the middle of a head or of a body: HPE_INVALID_EOF_STATE, with an answer if nobody listens.
// covers: 24, r8
// breaks: end-of-a-body-unnoticed

const http = require('node:http')
const { listen, log, message, program, talk } = require('../../kit')

program(async () => {
  for (const isHeard of [false, true]) {
    const server = http.createServer((req) => {
      log('request')
      req.on('error', (error) => log('request', error.code))
    })
    server.on('connection', (socket) => {
      for (const type of ['end', 'close']) socket.on(type, () => log('socket', type))
    })
    if (isHeard) {
      server.on('clientError', (error, socket) => {
        log('clientError', error.code, error.message, socket.writable, socket.readable)
        socket.end('HTTP/1.1 418 Cut Short\r\n\r\n')
      })
    }
    const port = await listen(server)
    await talk(port, ['GET / HTTP/1.1\r\nHost:', null])
    await talk(port, [message('POST /', ['Content-Length: 10']), { event: 'request' }, 'abc', null])
  }
})
