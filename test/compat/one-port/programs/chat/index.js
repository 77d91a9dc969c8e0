'use strict'

// The chat that socket.io's tutorial builds.

const { createServer } = require('node:http')
const path = require('node:path')
const express = require('express')
const { Server } = require('socket.io')

const app = express()
const server = createServer(app)
const io = new Server(server)

app.use(express.static(path.join(__dirname, 'public')))
io.on('connection', (socket) => {
  socket.on('chat message', (text) => io.emit('chat message', text))
})

server.listen(process.env.PORT || 3000)
