'use strict'

// Broadcast: what one draws, all see. Messages go to everybody as they came, and are looked into by nobody.
//
//   node examples/202-broadcast.js [port]
//
// Open http://localhost:8080/ in two windows, side by side, and draw.

const path = require('node:path')
const express = require('express')
const { WebSocket, WebSocketServer } = require('ws')
const { createAdapter } = require('@httpsys/express-adapter')
const { heartbeat } = require('./lib/heartbeat')
const { closeOnSignals } = require('./lib/shutdown')

// A stroke is a hundred bytes; whoever leaves this many unread misses the next ones instead of costing memory.
const kPayloadMax = 1024
const kUnreadMax = 256 * 1024

const [port = '8080'] = process.argv.slice(2)

const app = express()
app.use(express.static(path.join(__dirname, 'lib', 'broadcast')))

const adapter = createAdapter(app)
const server = adapter.listen(`http://localhost:${port}/`, () => console.log(`Listening on http://localhost:${port}/`))

// As the documentation of ws shows it; the server is one of node:http to it.
const board = new WebSocketServer({ server, path: '/board', maxPayload: kPayloadMax })
heartbeat(board)

board.on('connection', (socket) => {
  socket.on('error', console.error)
  socket.on('message', (data, isBinary) => {
    for (const client of board.clients) {
      if (client !== socket && client.readyState === WebSocket.OPEN && client.bufferedAmount < kUnreadMax) {
        client.send(data, { binary: isBinary })
      }
    }
  })
})

closeOnSignals(server)
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.on(signal, () => { for (const socket of board.clients) socket.close(1001) })
}
