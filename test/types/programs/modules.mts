// ES modules: default and named exports.
import core, { backend, createServer, globalAgent, https, Server } from '@httpsys/core-native'
import adapters, { createAdapter } from '@httpsys/express-adapter'
import WebSocket, { attach, WebSocket as Named, WebSocketServer } from '@httpsys/websocket'
import type { MessageEvent, Server as AnyServer } from '@httpsys/websocket'
import { register } from '@httpsys/core-native/register'

const server: Server = core.createServer((req, res) => { res.end(req.url) })
const same: typeof core.https = https
createServer().listen('http://*:8080/')
console.log(backend, globalAgent.maxSockets, core.globalAgent.maxSockets, same)
adapters.createAdapter((req, res) => { server.emit('request', req, res) })
attach(new WebSocketServer({ noServer: true }), createAdapter((req, res) => { res.end(req.url) }))()
const socket: Named = new WebSocket('ws://localhost/')
socket.onmessage = (event: MessageEvent) => { socket.send(event.data) }
const any: AnyServer = new WebSocket.Server({ server })
register()
// @ts-expect-error `ws` does not export the class by this name to ES modules
import { Server as NoClass } from '@httpsys/websocket'; new NoClass()
// @ts-expect-error no such export
import { createAdaptor } from '@httpsys/express-adapter'
export { any, createAdaptor }
