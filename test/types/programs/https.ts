// The face of node:https.
import { https } from '@httpsys/core-native'
import type { HttpsServer, HttpsServerOptions } from '@httpsys/core-native'
import * as http from 'node:http'
import * as nodeHttps from 'node:https'
import type { TLSSocket } from 'node:tls'

const options: HttpsServerOptions = { key: '', cert: '', http2: false, queueLimit: 1, devCert: false, SNICallback: (name, done) => { done(null); console.log(name) } }
const server: HttpsServer = https.createServer(options, (req, res) => { res.end(String(req.socket.remotePort)) })
const stock: nodeHttps.Server = server
stock.on('secureConnection', (socket: TLSSocket) => { socket.end() })
server.on('tlsClientError', (error, socket) => { console.log(error.message, socket.authorized) }).listen('https://*:8443/')
server.setSecureContext({ key: '', cert: '' })
https.createServer((req, res) => { res.end(req.url) })
new https.Server({ certificateDirectory: '/a' }, (req, res) => { res.end(req.urlPrefix) }).listen(8443)
new https.Server().close()
console.log(server instanceof https.Server)
https.get('https://localhost/', { agent: https.globalAgent }, (res) => { res.resume() })
https.request({ agent: new https.Agent({ keepAlive: true }) }).end()

class Message extends http.IncomingMessage { user = 'nobody' }
https.createServer({ IncomingMessage: Message }, (req, res) => { res.end(req.user) })

// @ts-expect-error a misspelt option
https.createServer({ certifcates: [] })
// @ts-expect-error a number of bytes
https.createServer({ maxRequestBodySize: '1' })
// @ts-expect-error https.Agent is a class
https.Agent = 1
export { stock }
