'use strict'
// Loggers read a connection's addresses when it is gone.
// covers: 17, r4
// breaks: no-peer-name

const http = require('node:http')
const { listen, log, message, program, talk, logged } = require('../../kit')

program(async () => {
  const server = http.createServer((req, res) => {
    const { socket } = req
    const names = () => log(socket.remoteAddress, socket.remoteFamily, socket.remotePort, socket.localAddress, socket.localPort, socket.encrypted, socket.address())
    names()
    socket.on('close', () => {
      log('close')
      names()
    })
    res.end()
  })
  await talk(await listen(server), message('GET /'))
  await logged('close')
})
