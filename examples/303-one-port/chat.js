'use strict'

// A chat on socket.io, with its polls and WebSockets. It knows nothing of httpsys either.

const http = require('node:http')
const { Server } = require('socket.io')

const { PORT = 3002, BASE = '/' } = process.env
const server = http.createServer((req, res) => { res.end(`The chat, process ${process.pid}\n`) })
const io = new Server(server, { path: `${BASE}socket.io` })
io.on('connection', (socket) => {
  socket.on('say', (text) => io.emit('said', text))
})

server.listen(PORT, () => console.log(`chat: ${PORT}`))
