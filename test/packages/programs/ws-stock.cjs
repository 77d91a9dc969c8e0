'use strict'

// Knows node:http and ws only: run with --require @httpsys/core-native/register.

const http = require('node:http')
const { once } = require('node:events')
const { WebSocket, WebSocketServer } = require('ws')
const { expect, served } = require('./kit.cjs')

const server = http.createServer()
expect('prefixes' in server, true)
const wss = new WebSocketServer({ server })
wss.on('connection', (socket) => socket.on('message', (data, binary) => socket.send(data, { binary })))
served(server.listen(18080), async () => {
  const client = new WebSocket('ws://127.0.0.1:18080/')
  await once(client, 'open')
  client.send('unmodified')
  const [echo] = await once(client, 'message')
  expect(String(echo), 'unmodified')
  client.close()
  await once(client, 'close')
  server.close()
})
