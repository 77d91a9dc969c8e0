// The face of node:http: what it adds, and that what node:http has is still there.
import * as core from '@httpsys/core-native'
import * as http from 'node:http'
import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'

const server: core.Server = core.createServer((req, res) => {
  const prefix: string | undefined = req.urlPrefix
  const path: string | undefined = req.urlPrefixPath
  res.end(`${prefix}${path}${req.url}`)
})
core.createServer((req, res) => {
  req.maxRequestBodySize = 1000
  const limit: number | undefined = req.maxRequestBodySize
  res.end(`${limit}`)
})
// @ts-expect-error a number of bytes
core.createServer((req) => { req.maxRequestBodySize = '1000' })
const stock: http.Server = server
stock.on('request', (req, res) => { res.end(req.method) })

core.createServer()
core.createServer({ keepAliveTimeout: 1, maxHeaderSize: 1, maxConnectionsPerAddress: 8, maxConnectionsPerPrefix: 9, queueLimit: 1, queueTimeout: 1, minSendRate: 0, maxBandwidth: 1024, stripPrefix: true, strictUrl: true, serverHeader: false })
core.createServer({ http503Verbosity: 'limited', maxRequestBodySize: 1, maxRequestBodySizeCeiling: 2, pipelinedRequestsMax: 1, http2: true }, (req, res) => { res.end(req.url) })
core.createServer({ http2: { maxConcurrentStreams: 1, initialWindowSize: 1, maxFrameSize: 16384, headerTableSize: 0, pingInterval: 1, stallTimeout: 1, allowHTTP1: false } })
core.createServer({ httpSys: { maxBandwidth: 1024, timeouts: { drainEntityBody: 1 }, logging: { directory: '/a', rollover: 'daily' }, authentication: { schemes: ['ntlm'] } } })
core.createServer({ cache: true })
core.createServer({ cache: { compress: true } })
core.createServer({ cache: { rules: 'httpsys', compress: ['br', 'zstd', 'gzip'] } })
// @ts-expect-error not one of those that are there
core.createServer({ cache: { compress: ['deflate'] } })
core.createServer({ cache: { stale: { whileRevalidate: 5, ifError: 60 }, heuristics: true, ignoreReload: true, status: 'debug', cacheBytes: 2 ** 24, maxEntryBytes: 1000, refreshTimeout: 5000, coalesceTimeout: 1000 } })
const cached = core.createServer({ cache: { rules: 'httpsys', duration: 5, harmlessFields: ['X-Forwarded-For'] } }, (req, res) => {
  res.cacheDuration = 60
  res.end(req.url)
})
if (cached.cache !== null) {
  const [{ url, hits }] = cached.cache.entries({ prefix: 'http://*:8080/', limit: 1 })
  const { stored, refused: { SET_COOKIE: refused } } = cached.cache.stats()
  const dropped: number = cached.cache.flush(url, { recursive: true }) + cached.cache.flush()
  console.log(url, hits, stored, refused, dropped)
}
// @ts-expect-error null without the option
cached.cache.stats()
// @ts-expect-error a default lifetime is of the rules of HTTP.SYS
core.createServer({ cache: { rules: 'rfc9111', duration: 5 } })
// @ts-expect-error stale answers are of RFC 9111
core.createServer({ cache: { rules: 'httpsys', stale: { ifError: 1 } } })
new core.Server({ queueLimit: 1 }, (req, res) => { res.end(req.url) }).setTimeout(1)
// @ts-expect-error a misspelt option
core.createServer({ queueLimt: 1 })
// @ts-expect-error a string is no number
core.createServer({ queueLimit: '1' })
// @ts-expect-error no such verbosity
core.createServer({ http503Verbosity: 'none' })
// @ts-expect-error an application is a function
core.createServer({}, 'application')
// @ts-expect-error a misspelt setting of HTTP/2
core.createServer({ http2: { maxStreams: 1 } })

// Requests and responses of one's own, as node:http types them.
class Message extends http.IncomingMessage { user = 'nobody' }
class Response extends http.ServerResponse<Message> { fail () { this.writeHead(500).end() } }
const own: http.Server<typeof Message, typeof Response> = core.createServer({ IncomingMessage: Message, ServerResponse: Response }, (req, res) => {
  const user: string = req.user
  res.end(user)
  res.fail()
})
own.listen('http://*:8080/')

async function prefixes () {
  const all: string[] = server.prefixes
  const nothing: void = await server.addPrefix(all[0])
  await server.removePrefix('http://*:8080/')
  await server.serveFiles('http://*:8080/assets/', 'public', { maxAge: '1d' })
  await server.removeFiles('http://*:8080/assets/')
  // @ts-expect-error a misspelt option
  await server.serveFiles('/assets/', 'public', { maxage: 1 })
  // @ts-expect-error one prefix at a time
  await server.addPrefix(all)
  // @ts-expect-error read-only
  server.prefixes = []
  return nothing
}

server.close()
server.close((error) => { if (error) throw error }).unref()
server.close({ restart: true, waitMs: 1 }, (error?: Error) => console.log(error))
// @ts-expect-error a number of milliseconds
server.close({ restart: true, waitMs: '1' })

async function files (res: http.ServerResponse) {
  core.sendFile(res, '/a', (error) => { if (error !== null) console.log(error.code) })
  core.sendFile(res, new URL('file:///a'), { start: 1, end: 2 }, () => {})
  core.sendFile(res, await open('/a'), undefined, () => {})
  core.sendFile(res, 3, () => {})
  // @ts-expect-error it wants a callback
  core.sendFile(res, '/a')
  // @ts-expect-error no stream
  core.sendFile(res, createReadStream('/a'), () => {})
  core.setCachePolicy(res, { policy: 'none' })
  core.setCachePolicy(res, { policy: 'timeToLive', seconds: 1 })
  // @ts-expect-error for how long
  core.setCachePolicy(res, { policy: 'timeToLive' })
  core.flushCache(server, 'http://*:8080/a', { recursive: true })
}

const chosen: 'engine' | 'node' = core.backend
// @ts-expect-error there is no third one
const third: 'bun' = core.backend

// All of node:http.
const agent: http.Agent = new core.Agent({ keepAlive: true })
core.get({ agent: core.globalAgent, path: '/' }, (res) => { res.resume() })
const statuses: [string | undefined, string[], number] = [core.STATUS_CODES[200], core.METHODS, core.maxHeaderSize]
core.validateHeaderName('a')
const options: core.RequestOptions & core.ServerOptions = {}
const limits: core.EngineServerOptions & core.Http2Options & core.CertificateOptions & core.HttpSysOptions & core.CloseOptions = {}
export { agent, chosen, files, limits, options, prefixes, statuses, third }
