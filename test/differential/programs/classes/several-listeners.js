'use strict'
// Several listeners hear each request in order, with the server as this, and the last ones see what the
// first did.
// covers: 4, 6
// breaks: this-lost

const http = require('node:http')
const { listen, log, message, program, talk } = require('../../kit')

program(async () => {
  const server = http.createServer(function (req, res) {
    log('second', this === server, req.first)
    res.end(`${req.first}`)
  })
  server.prependListener('request', function (req) {
    log('first', this === server)
    req.first = 'told'
  })
  server.on('request', function (req, res) {
    log('third', this === server, res.headersSent, res.writableEnded)
  })
  await talk(await listen(server), message('GET /'))
})
