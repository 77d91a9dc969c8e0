'use strict'
// proxy-addr and fastify compare req.socket.remoteAddress with subnets; on a server that listens on all
// addresses an IPv4 client has a mapped IPv6 name.
// covers: 17, r4
// breaks: family-four

const http = require('node:http')
const { listen, log, message, program, talk } = require('../../kit')

program(async () => {
  const server = http.createServer((req, res) => {
    const { socket } = req
    log(socket.remoteAddress, socket.remoteFamily, socket.localAddress, socket.localFamily, socket.address())
    res.end()
  })
  await talk(await listen(server, 0), message('GET /'))
})
