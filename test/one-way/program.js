'use strict'

// A process of the test `one-way`: the servers of the program, or the server of another member of their port. Its first argument is a
// description in JSON. It stands still when it is told to, until a byte comes on stdin.

const { createHash } = require('node:crypto')
const fs = require('node:fs')
const http = require('@httpsys/core-native')
const { kBodyMax, kQueueLimit, kResources } = require('./resources')

/** @type {{ port: number, role: 'owner' | 'other', folder: string, tls: { key: string, cert: string } | null }} */
const { port, role, folder, tls } = JSON.parse(process.argv[2])
const scheme = tls === null ? 'http' : 'https'

/** Fields of a request that depend on its way: `kExceptions` of the test has the reasons. */
const kOfTheWay = new Set(['connection', 'host', 'transfer-encoding'])

/** Ids of the requests that JavaScript was given. @type {string[]} */
const seen = []
/** How often JavaScript answered a URL. @type {Map<string, number>} */
const versions = new Map()

/** @param {any} req @param {any} res */
function handle (req, res) {
  const { 'x-id': id, 'x-fail': fails } = req.headers
  if (id !== undefined) seen.push(id)
  const sum = createHash('sha1')
  let bytes = 0
  req.on('data', (/** @type {Buffer} */ piece) => {
    bytes += piece.length
    sum.update(piece)
  })
  req.on('end', () => {
    const path = /** @type {string} */ (req.originalUrl ?? req.url).split('?')[0]
    const [, kind] = /\/cached\/(\w+)\//.exec(path) ?? []
    const resource = kResources[kind]
    res.setHeader('X-By', 'JavaScript')
    if (resource !== undefined) return answerResource(req, res, path, resource, fails !== undefined)
    const fields = Object.entries(req.headers).filter(([name]) => !kOfTheWay.has(name)).map(([name, value]) => `${name}: ${value}`).sort()
    const told = { method: req.method, url: req.url, original: req.originalUrl, base: req.baseUrl, host: req.headers.host, prefix: req.urlPrefix, at: req.urlPrefixPath, fields, bytes, sum: sum.digest('hex') }
    const text = `${JSON.stringify(told).replaceAll(`:${port}/`, ':PORT/').replaceAll('https://', 'http://')}\n`
    if (/[?&]empty/.test(req.url)) return res.writeHead(204).end()
    if (/[?&]fails/.test(req.url)) res.statusCode = 500
    if (/[?&]pieces/.test(req.url)) {
      res.write(text)
      return setImmediate(() => res.end('the end'))
    }
    if (/[?&]cookies/.test(req.url)) res.setHeader('Set-Cookie', ['a=1', 'b=2'])
    res.setHeader('Content-Type', 'application/json')
    res.end(text)
  })
}

/** @param {any} req @param {any} res @param {string} path @param {import('./resources').Resource} resource @param {boolean} fails */
function answerResource (req, res, path, resource, fails) {
  const tag = `"${path.split('/').at(-1)}"`
  if (fails) {
    res.statusCode = 500
    return res.end('failed')
  }
  for (const [name, value] of Object.entries(resource.fields)) res.setHeader(name, value)
  res.setHeader('ETag', tag)
  res.setHeader('Content-Type', 'text/plain')
  if (req.method === 'GET' && req.headers['if-none-match'] === tag) {
    res.statusCode = 304
    return res.end()
  }
  const url = `${req.headers.host} ${req.originalUrl ?? req.url}`
  const version = (versions.get(url) ?? 0) + 1
  versions.set(url, version)
  res.statusCode = resource.status ?? 200
  const text = `${req.method} ${url} ${req.headers['accept-language']} version ${version}\n`.padEnd(resource.length ?? 0, '0123456789')
  if (!resource.hasPieces) return res.end(text)
  res.write(text)
  setImmediate(() => res.end('the end'))
}

const kCommon = { http2: true, keepAliveTimeout: 60_000, ...tls }

/** @param {any} options @param {string[]} prefixes @param {(server: any) => void} [prepare] */
function serve (options, prefixes, prepare) {
  const create = tls === null ? http.createServer : /** @type {any} */ (http).https.createServer
  const server = create({ ...kCommon, ...options }, handle)
  prepare?.(server)
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(prefixes.map((prefix) => `${scheme}://${prefix.replace('/', `:${port}/`)}`), resolve)
  })
}

const kRoles = {
  owner: () => Promise.all([
    serve({ maxRequestBodySize: kBodyMax, queueLimit: kQueueLimit, cache: { status: 'debug' } }, ['*/shop/', 'a.one.test/named/', 'b.two.test/named/']),
    serve({ queueLimit: kQueueLimit }, ['*/shop/files/'], (server) => server.serveFiles('/', folder, { precompressed: true, maxAge: '1h' })),
    serve({ maxRequestBodySize: 10, strictUrl: true, stripPrefix: true, queueLimit: kQueueLimit, http503Verbosity: 'limited', cache: { status: 'debug' } },
      ['*/strict/', '*/shop/nested/'], (server) => server.serveFiles('/files/', folder, { fallthrough: true })),
    serve({ queueLimit: kQueueLimit, http503Verbosity: 'basic' }, ['*/basic/']),
    serve({ maxConnectionsPerPrefix: 1 }, ['*/few/'])
  ]),
  other: () => serve({}, ['*/elsewhere/', 'front.one.test/elsewhere/'])
}

process.on('disconnect', () => process.exit())
process.on('message', (command) => {
  if (command === 'seen') return process.send?.({ seen })
  // As a write on stdout it leaves although JavaScript stands still.
  fs.writeSync(1, 'still\n')
  fs.readSync(0, Buffer.alloc(1))
})
kRoles[role]().then(() => process.send?.({ isReady: true }), (error) => {
  console.error(error)
  process.exit(1)
})
