'use strict'
// fastify's client error handler writes an answer of its own to the socket, when it can be written to.
// covers: 24, r12
// breaks: error-told-again

const http = require('node:http')
const { listen, log, logged, program, talk } = require('../../kit')

program(async () => {
  const server = http.createServer(() => log('request'))
  server.on('clientError', (error, socket) => {
    log('clientError', error.code, socket.writable, socket.listenerCount('error'), socket.bytesWritten)
    if (error.code === 'ECONNRESET' || socket.destroyed) return
    const body = JSON.stringify({ error: http.STATUS_CODES[400], code: error.code })
    socket.on('close', (hadError) => log('close', hadError))
    if (socket.writable) socket.write(`HTTP/1.1 400 Bad Request\r\nContent-Length: ${body.length}\r\nContent-Type: application/json\r\n\r\n${body}`)
    socket.destroy(error)
  })
  await talk(await listen(server), 'GET / HTTP/1.1\r\nbad\r\n\r\n')
  await logged('close')
})
