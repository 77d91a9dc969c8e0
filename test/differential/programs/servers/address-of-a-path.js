'use strict'
// Reverse proxies on the same machine reach an application by a socket in the file system (fastify, hapi, pm2).
// covers: 25, 26
// breaks: path-peers-have-names, bound-handle-not-closed

const fs = require('node:fs')
const http = require('node:http')
const { listen, log, message, program, talk, logged } = require('../../kit')

program(async () => {
  const server = http.createServer(({ socket }, res) => {
    log(socket.remoteAddress, socket.remotePort, socket.remoteFamily, socket.localAddress, socket.localPort, socket.address())
    res.end('over a path')
  })
  await listen(server, { path: 'app.sock', readableAll: true, writableAll: true })
  log(server.address(), (fs.statSync('app.sock').mode & 0o777).toString(8))
  await talk({ path: 'app.sock' }, message('GET /'))
  server.on('close', () => log('close', fs.existsSync('app.sock')))
  server.close()
  await logged('close')
  await listen(server, 'app.sock')
  await talk({ path: 'app.sock' }, message('GET /'))
})
