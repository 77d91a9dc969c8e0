'use strict'
// A listener destroys the socket with the error it was given: it is not told a second time, and who
// listens to the socket hears it.
// covers: 24, r12
// breaks: error-told-again

const http = require('node:http')
const { listen, log, logged, program, talk } = require('../../kit')

program(async () => {
  const server = http.createServer()
  server.on('connection', (socket) => socket.on('close', (hadError) => log('close', hadError)))
  server.on('clientError', (error, socket) => {
    log('clientError', error.code, socket.listenerCount('error'))
    socket.destroy(error)
    log('destroyed', socket.destroyed, socket.errored?.code)
  })
  await talk(await listen(server), 'bad\r\n\r\n')
  await logged('close')
})
