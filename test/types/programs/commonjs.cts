// CommonJS as TypeScript has it.
import http = require('@httpsys/core-native')
import adapters = require('@httpsys/express-adapter')
import WebSocket = require('@httpsys/websocket')
import registered = require('@httpsys/core-native/register')
import reservations = require('@httpsys/core-native/reservations')

const server: http.Server = http.createServer((req: http.IncomingMessage, res: http.ServerResponse) => { res.end(req.urlPrefixPath) })
server.listen('http://*:8080/')
const adapter: adapters.Adapter = adapters.createAdapter((req, res) => { res.end(req.url) })
const wss: WebSocket.Server = new WebSocket.Server({ server: adapter.server })
wss.on('connection', (socket: WebSocket, req) => { socket.send(String(req.url)) })
const socket: WebSocket.WebSocket = new WebSocket('ws://localhost/')
console.log(WebSocket.OPEN, socket.OPEN, registered.served, reservations.listReservations())
// @ts-expect-error no such export
http.createAdapter()
// @ts-expect-error the module is the class, and has no default
WebSocket.default
