'use strict'
// The older manuals of socket.io call http.Server(app) without new; Express answers beside it.
// covers: 3, 6, 21
// breaks: server-needs-new

const express = require('express4')
const http = require('node:http')
const { Server } = require('socket.io')
const { io: connect } = require('socket.io-client')
const { answer, listen, log, logged, message, program, talk } = require('../../kit')

program(async () => {
  const app = express()
  app.get('/page', (req, res) => res.send('page'))
  const server = http.Server(app)
  answer(server instanceof http.Server, server.constructor === http.Server)
  const io = new Server(server, { transports: ['websocket'] })
  io.on('connection', (socket) => {
    log('connected by', socket.conn.transport.name, socket.request.url.replace(/&t=\w+/, ''))
    socket.emit('hello', socket.handshake.headers.upgrade)
    socket.on('disconnect', (reason) => log('disconnect', reason))
  })
  const port = await listen(server)
  await talk(port, message('GET /page'))
  const client = connect(`http://127.0.0.1:${port}`, { transports: ['websocket'], reconnection: false })
  answer(await new Promise((resolve) => client.on('hello', resolve)))
  client.disconnect()
  await logged('disconnect')
  await new Promise((resolve) => io.close(resolve))
})
