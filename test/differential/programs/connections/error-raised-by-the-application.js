'use strict'
// An application destroys the connection of a request with an error of its own: that is a 'clientError'
// too, and does not end the process.
// covers: 24, 31, r12
// breaks: own-errors-unheard

const http = require('node:http')
const { listen, log, logged, message, program, talk, watch } = require('../../kit')

program(async () => {
  const server = http.createServer((req, res) => {
    watch('request', req, ['aborted', 'error', 'close'])
    watch('response', res, ['close'])
    req.socket.on('close', (hadError) => log('socket close', hadError))
    req.socket.destroy(Object.assign(new Error('mine'), { code: 'E_MINE' }))
  })
  const port = await listen(server)
  await talk(port, message('GET /', []))
  await logged('socket close')
  server.on('clientError', (error, socket) => log('clientError', error.code, socket.destroyed))
  await talk(port, message('GET /', []))
  await logged('clientError')
})
