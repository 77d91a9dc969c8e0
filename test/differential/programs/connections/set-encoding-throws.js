'use strict'
// A connection's encoding cannot be changed under the HTTP parser; Node says so with an error of its own.
// covers: 20
// breaks: encoding-allowed

const http = require('node:http')
const { listen, log, message, program, talk } = require('../../kit')

program(async () => {
  const server = http.createServer((req, res) => {
    try {
      log(req.socket.setEncoding('utf8') === req.socket)
    } catch (error) {
      log(error.code, error.message)
    }
    res.end(String(req.socket.readableEncoding))
  })
  await talk(await listen(server), message('GET /'))
})
