'use strict'
// A server behind nginx listens on a Unix path: its connections have no names, and loggers print that.
// covers: 17, r4
// breaks: names-of-a-path

const http = require('node:http')
const path = require('node:path')
const { listen, log, message, program, talk } = require('../../kit')

program(async () => {
  const server = http.createServer((req, res) => {
    const { socket } = req
    log(socket.remoteAddress, socket.remotePort, socket.remoteFamily, socket.localAddress, socket.localPort, socket.address())
    res.end()
  })
  const where = path.join(process.cwd(), 'socket')
  await listen(server, where)
  await talk({ path: where }, message('GET /'))
  log(server.address() === where)
})
