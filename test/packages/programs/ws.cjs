'use strict'

const { once } = require('node:events')
const { WebSocket, WebSocketServer } = require('@httpsys/websocket')
const { expect, served } = require('./kit.cjs')

const wss = new WebSocketServer({ port: 18080, perMessageDeflate: true })
wss.on('connection', (socket) => socket.on('message', (data, binary) => socket.send(data, { binary })))
served(wss, async () => {
  const client = new WebSocket('ws://127.0.0.1:18080/')
  await once(client, 'open')
  client.send('x'.repeat(100_000))
  const [echo] = await once(client, 'message')
  expect(echo.length, 100_000)
  client.close()
  await once(client, 'close')
  wss.close()
})
