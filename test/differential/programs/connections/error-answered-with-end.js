'use strict'
// The example in Node's manual ends the socket with an answer; the connection closes when the client has.
// covers: 24
// breaks: error-destroys-too

const http = require('node:http')
const { listen, log, logged, program, talk, watch } = require('../../kit')

program(async () => {
  const server = http.createServer(() => log('request'))
  server.on('clientError', (error, socket) => {
    log('clientError', error.code)
    watch('socket', socket, ['end', 'finish', 'close'])
    socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')
  })
  await talk(await listen(server), 'no request at all\r\n\r\n')
  await logged('socket close')
})
