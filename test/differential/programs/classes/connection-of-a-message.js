'use strict'
// engine.io, sockjs and Restify use the old name of a message's socket.
// covers: 19, 15
// breaks: socket-per-request

const http = require('node:http')
const { listen, log, logged, message, program, talk } = require('../../kit')

program(async () => {
  const server = http.createServer((req, res) => {
    const { connection } = req
    log(connection === req.socket, res.connection === connection, connection.server === server, connection.encrypted)
    res.on('finish', () => log('finish', res.connection, req.connection === connection))
    connection.by = 'application'
    res.end(res.connection.by)
    req.connection = { remoteAddress: 'faked' }
    log(req.socket.remoteAddress)
    req.socket = connection
    log(req.connection === connection)
  })
  await talk(await listen(server), message('GET /'))
  await logged('finish')
})
