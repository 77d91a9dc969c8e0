'use strict'
// The client of a WebSocket vanishes: the socket has an error, which http does not answer any more, and 'close'.
// covers: 21, r3
// breaks: reset-without-error

const http = require('node:http')
const { dial, listen, log, logged, message, play, program } = require('../../kit')

program(async () => {
  const server = http.createServer()
  server.on('clientError', (error) => log('clientError', error.code))
  server.on('upgrade', (req, socket) => {
    socket.on('error', (error) => log('error', error.code, error.syscall, error.errno, error.message))
    socket.on('close', (hadError) => log('close', hadError, socket.errored?.code))
    socket.on('end', () => log('end'))
    socket.resume()
    socket.write('HTTP/1.1 101 Switching Protocols\r\n\r\n')
  })
  const wire = await dial(await listen(server))
  await play(wire, [message('GET /', ['Upgrade: x', 'Connection: Upgrade']), /101/])
  wire.socket.resetAndDestroy()
  await logged('close')
})
