'use strict'
// http-terminator and plugins of servers ask a new connection which server it belongs to.
// covers: 14, r5
// breaks: server-named-late, server-behind-a-copy

const http = require('node:http')
const net = require('node:net')
const { listen, log, message, program, talk } = require('../../kit')

program(async () => {
  const servers = ['a', 'b'].map((name) => http.createServer((req, res) => {
    log(name, 'request', servers.map((server) => server === req.socket.server))
    res.end(name)
  }))
  for (const server of servers) {
    server.on('connection', (socket) => {
      log('connection', servers.map((one) => one === socket.server), socket.server instanceof http.Server, socket instanceof net.Socket)
    })
  }
  for (const server of servers) await talk(await listen(server), message('GET /'))
})
