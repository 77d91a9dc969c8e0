'use strict'
// A client resets the connection while its request waits: 'clientError' ECONNRESET, which fastify passes
// over in silence.
// covers: 24, 31
// breaks: reset-without-error

const http = require('node:http')
const { dial, listen, log, logged, message, play, program, watch } = require('../../kit')

program(async () => {
  const server = http.createServer((req, res) => {
    watch('request', req, ['aborted', 'error', 'close'])
    watch('response', res, ['close'])
    req.socket.on('close', (hadError) => log('socket close', hadError))
    log('request')
  })
  server.on('clientError', (error, socket) => {
    log('clientError', error.code, error.syscall, socket.destroyed, socket.writable)
    socket.destroy(error)
  })
  const wire = await dial(await listen(server))
  await play(wire, [message('GET /', []), { event: 'request' }])
  wire.socket.resetAndDestroy()
  await logged('socket close')
})
