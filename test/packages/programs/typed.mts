import core, { backend, createServer, https, sendFile, Server, setCachePolicy, flushCache } from '@httpsys/core-native'
import adapters, { createAdapter } from '@httpsys/express-adapter'
import type { Adapter, AdapterOptions } from '@httpsys/express-adapter'
import WebSocket, { attach, WebSocketServer } from '@httpsys/websocket'
import type { RawData } from '@httpsys/websocket'
import { register, unregister } from '@httpsys/core-native/register'
import express from 'express'

const chosen: 'engine' | 'node' = backend
const server: Server = createServer({ queueLimit: 10 }, (req, res) => {
  if (req.url === '/file') return sendFile(res, 'a.txt', (error) => { if (error !== null) res.destroy() })
  setCachePolicy(res, { policy: 'timeToLive', seconds: 1 })
  res.end(chosen)
})
server.listen(['http://*:18080/', 'http://*:18081/'], { queueName: 'a' })
await server.addPrefix('http://*:18080/more/')
flushCache(server, 'http://*:18080/')
https.createServer({ key: '', cert: '' }, (req, res) => { res.end(String(req.socket.remotePort)) }).listen('https://*:18443/')
core.createServer().listen({ port: 0, host: '127.0.0.1' })

const options: AdapterOptions = { devCert: true, maxRequestBodySize: 1 }
const adapter: Adapter = adapters.createAdapter((req, res) => { res.end(req.method) }, options)
createAdapter(express()).listen('/tmp/a.sock')
const detach: () => void = attach(new WebSocketServer({ noServer: true }), adapter, 'http://*:18080/chat/')
detach()
const client = new WebSocket('ws://127.0.0.1/')
client.on('message', (data: RawData, binary) => { client.send(data, { binary }) })
register()
unregister()
