// Every form of listen(), on servers, servers with TLS and adapters.
import { createServer, https } from '@httpsys/core-native'
import type { HttpsServer, PortListenOptions, PrefixListenOptions, Server } from '@httpsys/core-native'
import { createAdapter } from '@httpsys/express-adapter'
import type { Adapter } from '@httpsys/express-adapter'
import { createServer as createNetServer, Socket } from 'node:net'

declare const options: PrefixListenOptions
declare const portOptions: PortListenOptions

function everyForm (server: Server | HttpsServer | Adapter) {
  return server
}

for (const server of [createServer(), https.createServer(), createAdapter(() => {})].map(everyForm)) {
  console.log(server)
}

const server = createServer()
const secure = https.createServer({ key: '', cert: '' })
const adapter = createAdapter((req, res) => { res.end(req.url) })

// Node's.
const afterwards: [Server, HttpsServer, Server] = [server.listen(), secure.listen(), adapter.listen()]
server.listen(() => {}); secure.listen(() => {}); adapter.listen(() => {})
server.listen(8080); secure.listen(8080); adapter.listen(8080)
server.listen(8080, () => {}); secure.listen(8080, () => {}); adapter.listen(8080, () => {})
server.listen(8080, 'localhost'); secure.listen(8080, 'localhost'); adapter.listen(8080, 'localhost')
server.listen(8080, 'localhost', () => {}); secure.listen(8080, 'localhost', () => {}); adapter.listen(8080, 'localhost', () => {})
server.listen(8080, 511, () => {}); secure.listen(8080, 511, () => {}); adapter.listen(8080, 511, () => {})
server.listen(8080, 'localhost', 511, () => {}); secure.listen(8080, 'localhost', 511, () => {}); adapter.listen(8080, 'localhost', 511, () => {})
server.listen('/tmp/a'); secure.listen('/tmp/a', () => {}); adapter.listen('/tmp/a', 511, () => {})
server.listen({ port: 8080, host: '::', ipv6Only: true }); secure.listen({ path: '/tmp/a', readableAll: true }); adapter.listen({ port: 0, exclusive: true }, () => {})
server.listen({ fd: 3 }); secure.listen({ fd: 3 }, 511); adapter.listen({ fd: 3 }, () => {})
server.listen(portOptions); secure.listen(portOptions); adapter.listen(portOptions)
server.listen(createNetServer()); secure.listen(new Socket(), () => {}); adapter.listen({ _handle: {} }, 511, () => {})
server.listen({ port: 0, signal: AbortSignal.timeout(1) }).on('listening', () => {}).once('close', () => {})

// As programs often have it.
server.listen(process.env.PORT); secure.listen(process.env.PORT || 8080); adapter.listen(process.env.PORT ?? 8080, () => {})
server.listen({ port: process.env.PORT }); secure.listen({ port: null }); adapter.listen(null)
server.listen(8080, undefined, () => {}); secure.listen(undefined, () => {}); adapter.listen(8080, process.env.HOST)

// URL prefixes.
server.listen('http://*:8080/'); secure.listen('https://*:8443/'); adapter.listen('http://*:8080/')
server.listen('http://*:8080/', () => {}); secure.listen('https://*:8443/', () => {}); adapter.listen('http://*:8080/', () => {})
server.listen(['http://*:8080/', 'https://*:8443/']); secure.listen(['https://*:8443/'], () => {}); adapter.listen(['http://*:8080/'], () => {})
server.listen('http://*:8080/', { queueName: 'a', queueMode: 'createOrAttach' }, () => {})
secure.listen('https://*:8443/', { backlog: 1, fd: 3 }, () => {})
adapter.listen(['https://*:8443/'], { certificates: [{ host: '*.example', key: '', cert: '' }, { prefix: 'https://a:8443/', pfx: '' }] })
server.listen({ prefix: 'http://*:8080/' }); secure.listen({ prefixes: ['https://*:8443/'] }, () => {}); adapter.listen({ prefix: ['http://*:8080/'], ipv6Only: true })
server.listen('https://*:8443/', options); secure.listen(options); adapter.listen(options, () => {})
adapter.listen('https://*:8443/', { devCert: true, minVersion: 'TLSv1.3', certificateDirectory: '/a' })
// Options of TLS on a port are the adapter's.
adapter.listen(8443, { key: '', cert: '', host: 'localhost' }); adapter.listen({ port: 8443, devCert: true, queueName: 'a' }); adapter.listen('/tmp/a', { devCert: true }, () => {})
const https2: readonly string[] = secure.listen('https://*:8443/').prefixes
void secure.addPrefix('https://*:8443/a/'); void secure.removePrefix('https://*:8443/a/'); void secure.serveFiles('/b/', 'public'); void secure.removeFiles('/b/'); secure.close({ restart: true })

// @ts-expect-error no port
server.listen(true)
// @ts-expect-error no port
secure.listen(true)
// @ts-expect-error no port
adapter.listen(true)
// @ts-expect-error a prefix is text
server.listen({ prefix: 8080 })
// @ts-expect-error a prefix is text
secure.listen({ prefix: 8080 })
// @ts-expect-error a prefix is text
adapter.listen([8080])
// @ts-expect-error a misspelt option
server.listen({ prefxes: ['http://*:8080/'] })
// @ts-expect-error a misspelt option
secure.listen('https://*:8443/', { queuName: 'a' })
// @ts-expect-error a misspelt option
adapter.listen('http://*:8080/', { queuName: 'a' })
// @ts-expect-error no such mode
server.listen('http://*:8080/', { queueMode: 'join' })
// @ts-expect-error both a port and a prefix
server.listen({ port: 8080, prefix: 'http://*:8080/' })
// @ts-expect-error a server without TLS takes options of TLS with https:// prefixes alone
server.listen({ port: 8080, key: '', cert: '' })
// @ts-expect-error a callback is a function
adapter.listen(8080, {}, 'callback')
// @ts-expect-error a certificate is for a host or a prefix
adapter.listen('https://*:8443/', { certificates: [{ key: '', cert: '' }] })
// @ts-expect-error the adapter has no servers of others to give
adapter.listen(8080).prefixes = []
export { afterwards, https2 }
