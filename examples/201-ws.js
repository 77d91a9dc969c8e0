'use strict'

// WebSockets beside Express: an unmodified ws server behind a URL prefix of its own.
//
//   node examples/201-ws.js [port]
//   npx wscat -c ws://localhost:8080/echo

const express = require('express')
const { WebSocketServer } = require('ws')
const { createAdapter } = require('@httpsys/express-adapter')
const { attach } = require('@httpsys/websocket')
const { closeOnSignals } = require('./lib/shutdown')

const [port = '8080'] = process.argv.slice(2)

const app = express()
app.get('/', (req, res) => res.send('There is a WebSocket at /echo.\n'))

const echo = new WebSocketServer({ noServer: true })
echo.on('connection', (socket) => {
  socket.on('message', (data, isBinary) => socket.send(data, { binary: isBinary }))
})

const adapter = createAdapter(app)
attach(echo, adapter, '/echo/')
adapter.listen(`http://localhost:${port}/`, () => console.log(`Listening on ws://localhost:${port}/echo`))
closeOnSignals(adapter.server)
// A WebSocket is no request that ends: say goodbye (1001, going away).
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.on(signal, () => { for (const socket of echo.clients) socket.close(1001) })
}
