'use strict'
// supertest 6 and older listen on any port and read it in the same tick.
// covers: 25
// breaks: listen-deferred

const http = require('node:http')
const { listening, log, message, program, talk, logged } = require('../../kit')

program(async () => {
  const server = http.createServer((req, res) => res.end(req.url))
  log(server.listening, server.address())
  server.on('listening', () => log('listening', server.listening))
  server.on('close', () => log('close', server.listening, server.address()))
  log(server.listen(0) === server, server.listening, Object.keys(server.address()), server.address().family)
  const port = listening(server)
  await talk(port, message('GET /'))
  server.close()
  log(server.listening, server.address())
  await logged('close')
})
