// WebSocketServer, WebSocket and attach().
import WebSocket, { attach, createWebSocketStream, WebSocketServer } from '@httpsys/websocket'
import type { BroadcastOptions, ClientOptions, RawData, SendOptions, ServerOptions, UpgradeHandler } from '@httpsys/websocket'
import { createServer, https } from '@httpsys/core-native'
import { createAdapter } from '@httpsys/express-adapter'
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'

const adapter = createAdapter((req, res) => { res.end(req.url) })
const options: ServerOptions = { server: adapter.server, perMessageDeflate: { threshold: 1 }, maxPayload: 1, verifyClient: ({ origin, req }) => origin === req.url }
const wss = new WebSocketServer(options)
wss.on('connection', (socket, req) => {
  const request: IncomingMessage = req
  // README's own line.
  socket.on('message', (data, isBinary) => socket.send(data, { binary: isBinary }))
  socket.once('message', (data, isBinary) => {
    const given: RawData = data
    const how: SendOptions = { binary: isBinary, compress: true, fin: true }
    socket.send(given, how, (error) => { if (error) socket.terminate() })
  })
  socket.on('close', (code, reason) => { console.log(code.toFixed(), reason.toString('utf8'), request.url) })
  socket.addListener('ping', (data) => { socket.pong(data) }).on('error', (error) => { console.log(error.message) })
  socket.on('open', () => { socket.ping() })
  socket.on('message', (data: Buffer) => { console.log(data.length) })
  socket.on('of-the-application', (one: number) => { console.log(one) })
  socket.onmessage = ({ data, target }) => { target.send(data) }
  socket.addEventListener('close', ({ wasClean, code }) => { console.log(wasClean, code) }, { once: true })
  socket.binaryType = 'blob'
  if (socket.readyState === WebSocket.OPEN) socket.close(1000, 'bye')
  socket.send('text'); socket.send(new Uint8Array(1)); socket.send(1); socket.send([1, 2], { binary: true })
  // @ts-expect-error a length is a number
  socket.on('close', (code) => { code.toUpperCase() })
  // @ts-expect-error an option that is misspelt
  socket.send(data, { binry: true })
  // @ts-expect-error read-only
  socket.readyState = 1
  // @ts-expect-error nothing is no message
  socket.send()
})
wss.on('headers', (headers, req) => { headers.push(`A: ${req.url}`) }).on('wsClientError', (error, socket) => { socket.end(error.message) })
wss.once('listening', function () { this.close() }).on('close', () => {})
const count: number = wss.broadcast('to all', { filter: (client) => client.readyState === WebSocket.OPEN })
const how: BroadcastOptions = { compress: false }
wss.broadcast(Buffer.alloc(1), how)
for (const client of wss.clients) client.terminate()
wss.close((error) => { console.log(error) })
const where = wss.address()
if (where !== null && typeof where !== 'string') console.log(where.port)

const noServer = new WebSocketServer({ noServer: true })
adapter.server.on('upgrade', (req, socket, head) => {
  noServer.handleUpgrade(req, socket, head, (client) => { noServer.emit('connection', client, req) })
})
const detach: () => void = attach(noServer, adapter, 'http://*:8080/chat/')
attach(noServer, createServer(), '/chat/')
attach(noServer, https.createServer({}))
detach()
const handler: UpgradeHandler = noServer

new WebSocketServer({ noServer: true, verifyClient: ({ secure }, callback) => { callback(secure, 403, 'no', { a: 'b' }) } })
new WebSocketServer({ noServer: true, handleProtocols: (protocols, req) => protocols.has(String(req.url)) && 'chat' })
// @ts-expect-error a verdict is a boolean
new WebSocketServer({ noServer: true, verifyClient: ({ secure }) => String(secure) })
class Player extends WebSocket { name = '' }
new WebSocketServer({ port: 8080, WebSocket: Player }, () => {}).on('connection', (player) => { player.name = 'a' })
const client: ClientOptions = { headers: { a: 'b' }, rejectUnauthorized: false }
const duplex: Duplex = createWebSocketStream(new WebSocket('wss://localhost/', 'chat', client), { encoding: 'utf8' })
new WebSocket(new URL('ws://localhost/'), { origin: 'a' }).on('unexpected-response', (req, res) => { console.log(req.path, res.statusCode) })
new WebSocket('ws://localhost/').on('upgrade', (res) => { console.log(res.headers) }).on('redirect', (url) => { console.log(url.length) })

// @ts-expect-error a port is a number
new WebSocketServer({ port: '8080' })
// @ts-expect-error a misspelt option
new WebSocketServer({ maxPayLoad: 1 })
// @ts-expect-error misspelt: everybody would get it
wss.broadcast('a', { filtr: () => false })
// @ts-expect-error not a WebSocket server
attach(adapter, adapter)
// @ts-expect-error it attaches to a server
attach(noServer)
// @ts-expect-error an address is needed
new WebSocket()
export { count, duplex, handler }
