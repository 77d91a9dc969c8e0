'use strict'

// A chat with socket.io, unmodified, beside Express. Clients begin with polling and go on with a WebSocket. In several
// processes on one port (each with a prefix of its own, and its path in socket.io's "path") polling needs no sticky
// sessions: a client's requests are for its process.
//
//   node examples/203-socket-io.js [port]
//
// Open http://localhost:8080/ in two windows.

const path = require('node:path')
const express = require('express')
const { Server } = require('socket.io')
const { createAdapter } = require('@httpsys/express-adapter')

const kNameMax = 40
const kTextMax = 2000

const [port = '8080'] = process.argv.slice(2)

const app = express()
for (const folder of ['socket-io', 'chat']) app.use(express.static(path.join(__dirname, 'lib', folder)))

const adapter = createAdapter(app)
const io = new Server(adapter.server, { maxHttpBufferSize: 16 * 1024 })

const nameOf = (/** @type {unknown} */ name) => typeof name === 'string' && name !== '' ? name.slice(0, kNameMax) : 'somebody'

function tellPeople () {
  io.emit('people', [...new Set([...io.sockets.sockets.values()].map((socket) => socket.data.name))].sort())
}

io.on('connection', (socket) => {
  socket.data.name = nameOf(socket.handshake.auth.name)
  tellPeople()
  socket.broadcast.emit('note', `${socket.data.name} is here.`)

  socket.on('rename', (name) => {
    const before = socket.data.name
    socket.data.name = nameOf(name)
    tellPeople()
    socket.broadcast.emit('note', `${before} is now called ${socket.data.name}.`)
  })
  socket.on('say', (text, done) => {
    if (typeof done !== 'function') return
    if (typeof text !== 'string' || text === '' || text.length > kTextMax) return done({ error: `1 to ${kTextMax} characters` })
    io.emit('message', { from: socket.data.name, text, at: new Date().toISOString() })
    done({})
  })
  socket.on('disconnect', () => {
    tellPeople()
    io.emit('note', `${socket.data.name} has left.`)
  })
})

adapter.listen(`http://localhost:${port}/`, () => console.log(`Listening on http://localhost:${port}/`))

for (const signal of ['SIGINT', 'SIGTERM']) {
  // Ends every client, and closes the server.
  process.once(signal, () => { io.close() })
}
