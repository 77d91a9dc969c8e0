// createAdapter() of functions, connect's among them, and its options.
import { createAdapter } from '@httpsys/express-adapter'
import type { Adapter, AdapterListenOptions, AdapterOptions, AdapterTlsOptions, Application } from '@httpsys/express-adapter'
import type { Server, StaticFilesOptions } from '@httpsys/core-native'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'

// Parameters have their types without being told.
createAdapter((req, res) => {
  const url: string | undefined = req.url
  const prefix: string | undefined = req.urlPrefix
  res.setHeader('a', url ?? '').end(prefix)
  // @ts-expect-error no such member: `any` would take it
  res.noSuchMember()
})
createAdapter(async (req, res) => { res.end(req.method) })
const listener: RequestListener = (req, res) => { res.end(req.url) }
const ofListener: Adapter<RequestListener> = createAdapter(listener)
const app: RequestListener = ofListener.app
const connect = Object.assign((req: IncomingMessage, res: ServerResponse, next?: (error?: unknown) => void) => { next?.() }, { use: () => {} })
createAdapter(connect).app.use()
const any: Adapter = createAdapter(listener)

const tls: AdapterTlsOptions = { devCert: true }
const options: AdapterOptions = { ...tls, keepAliveTimeout: 1, queueLimit: 1, http2: { allowHTTP1: false }, minVersion: 'TLSv1.2' }
const listenOptions: AdapterListenOptions = { port: 8443, ...tls }
const adapter = createAdapter((req, res) => { res.end(req.url) }, options)
const server: Server = adapter.server
server.on('upgrade', (req, socket) => { socket.end(req.url) }).keepAliveTimeout = 1
adapter.listen(listenOptions).close()
const closed: Server = adapter.close((error) => { console.log(error?.message) })
adapter.close({ restart: true })
adapter.uninstall()
const files: StaticFilesOptions = {
  acceptRanges: true, cacheControl: true, dotfiles: 'deny', etag: false, extensions: ['html'], fallthrough: false, headers: { '.css': { a: 1, b: 'c' } },
  immutable: true, index: false, lastModified: false, maxAge: '1d', precompressed: ['br', 'zstd'], redirect: false, symlinks: true
}
adapter.static('/assets/', 'public', files).static('/other/', new URL('file:///srv/'), { maxAge: 1000, precompressed: true, index: 'a' }).listen(8080)
const removed: Promise<void> = adapter.server.removeFiles('/assets/')

// @ts-expect-error an application is a function
createAdapter({})
// @ts-expect-error an application is there
createAdapter()
// @ts-expect-error a misspelt option
createAdapter(listener, { queueLimt: 1 })
// @ts-expect-error options of listen() are not for createAdapter()
createAdapter(listener, { queueName: 'a' })
// @ts-expect-error a function cannot be run by the I/O threads
adapter.static('/assets/', 'public', { setHeaders: () => {} })
// @ts-expect-error no such coding
adapter.static('/assets/', 'public', { precompressed: ['deflate'] })
// @ts-expect-error a folder is there
adapter.static('/assets/')
// @ts-expect-error read-only
adapter.server = server
// @ts-expect-error no property of an adapter
adapter.port = 1
export { any, app, closed, removed, type Application }
