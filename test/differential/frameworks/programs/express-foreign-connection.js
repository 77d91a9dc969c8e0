'use strict'
// A protocol sniffer (httpolyglot, SSH tunnels) listens with node:net and hands its connections to Express.
// covers: 40
// breaks: foreign-connection-unserved

const express = require('express')
const http = require('node:http')
const net = require('node:net')
const { listen, log, message, program, talk, dial, play, answer, within } = require('../../kit')

program(async () => {
  const app = express()
  app.use((req, res) => res.json({ url: req.url, server: req.socket.server === server }))
  const server = http.createServer(app)
  const port = await listen(server)
  const front = net.createServer((socket) => {
    socket.once('data', (piece) => {
      socket.pause()
      log('sniffed', piece.toString('latin1', 0, 3))
      socket.unshift(piece)
      server.emit('connection', socket)
      process.nextTick(() => socket.resume())
    })
  })
  const wire = await dial(await listen(front))
  await play(wire, [message('GET /tunnelled')])
  await within(wire.untilClosed())
  answer(wire.text)
  await talk(port, message('GET /direct'))
})
