import * as http from '@httpsys/core-native'
import { createAdapter } from '@httpsys/express-adapter'
import { WebSocketServer } from '@httpsys/websocket'
import express from 'express'

const adapter = createAdapter(express(), { maxRequestBodySize: 1000 })
adapter.listen('http://*:18080/shop/', { queueName: 'shop' }, () => { adapter.close() })

createAdapter((req, res) => { res.end(req.url) }).listen(18081).close()
const server: http.Server = http.createServer((req, res) => { res.end(req.urlPrefix) })
server.listen('http://*:18082/')
server.close()

const wss = new WebSocketServer({ noServer: true })
wss.on('connection', (socket) => {
  socket.on('message', (data, binary) => { for (const client of wss.clients) client.send(data, { binary }) })
})
