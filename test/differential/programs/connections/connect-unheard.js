'use strict'
// A CONNECT that nobody listens to is closed without an answer, and without a request.
// covers: 22
// breaks: connect-answered

const http = require('node:http')
const { listen, log, logged, message, program, talk } = require('../../kit')

program(async () => {
  const server = http.createServer(() => log('request'))
  server.on('connection', (socket) => {
    for (const type of ['end', 'finish', 'close']) socket.on(type, (...args) => log(type, args))
  })
  server.on('clientError', (error) => log('clientError', error.code))
  await talk(await listen(server), message('CONNECT a:443'))
  await logged('close')
})
