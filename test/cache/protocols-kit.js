'use strict'

// Servers with an output cache, and what is asked of them over each protocol.

const assert = require('node:assert/strict')
const http2 = require('node:http2')
const nodeHttp = require('node:http')
const nodeHttps = require('node:https')
const { once } = require('node:events')
const { http } = require('../helpers/backend')
const { backend } = require('../helpers/backend')
const { needs } = require('../helpers/capabilities')
const { listen, stop } = require('../helpers/client')
const { localhost } = require('../helpers/tls')

/** Options of a test about the cache. */
const ofCache = { ...needs('cacheRules'), ...(backend === 'node' && { skip: 'node:http has no cache' }) }

/** @typedef {{ status: number, headers: Record<string, any>, body: string }} Answer */
/** @typedef {(path: string, headers?: Record<string, any>, method?: string) => Promise<Answer>} Ask */
/** @typedef {{ server: any, port: number, ask: Ask }} Cached */

/** @param {(options: any, onResponse: (res: import('node:http').IncomingMessage) => void) => import('node:http').ClientRequest} request @param {any} where @returns {Ask} */
const askBy = (request, where) => (path, headers = {}, method = 'GET') => new Promise((resolve, reject) => {
  request({ ...where, path, headers, method }, (res) => {
    let body = ''
    res.setEncoding('latin1').on('data', (piece) => { body += piece }).on('error', reject)
    res.on('end', () => resolve({ status: res.statusCode ?? 0, headers: res.headers, body }))
  }).on('error', reject).end()
})

/** @param {import('node:test').TestContext} t @param {string} url @param {any} options @returns {Promise<Ask>} */
async function askByHttp2 (t, url, options) {
  const client = http2.connect(url, options)
  client.on('error', () => {})
  t.after(() => client.destroy())
  await once(client, 'connect')
  return async (path, headers = {}, method = 'GET') => {
    const stream = client.request({ ...headers, ':path': path, ':method': method })
    const failed = once(stream, 'error').then(([error]) => { throw error })
    failed.catch(() => {})
    const [fields] = await Promise.race([once(stream, 'response'), failed])
    let body = ''
    for await (const piece of stream) body += piece.toString('latin1')
    return { status: fields[':status'], headers: fields, body }
  }
}

/**
 * Serves with a cache over one protocol.
 *
 * @type {Record<string, (t: import('node:test').TestContext, options: any, handler: (req: any, res: any) => void) => Promise<Cached>>}
 */
const kProtocols = {
  async 'HTTP/1.1' (t, options, handler) {
    const agent = new nodeHttp.Agent({ keepAlive: true })
    t.after(() => agent.destroy())
    const server = http.createServer(options, handler)
    t.after(() => stop(server))
    const port = await listen(server)
    return { server, port, ask: askBy(nodeHttp.request, { host: '127.0.0.1', port, agent }) }
  },
  async TLS (t, options, handler) {
    const agent = new nodeHttps.Agent({ keepAlive: true, ca: localhost().cert })
    t.after(() => agent.destroy())
    const server = /** @type {any} */ (http).https.createServer({ ...localhost(), ...options }, handler)
    t.after(() => stop(server))
    const port = await listen(server)
    return { server, port, ask: askBy(nodeHttps.request, { host: '127.0.0.1', servername: 'localhost', port, agent }) }
  },
  async 'HTTP/2' (t, options, handler) {
    const server = http.createServer(/** @type {any} */ ({ http2: true, ...options }), handler)
    t.after(() => stop(server))
    const port = await listen(server)
    return { server, port, ask: await askByHttp2(t, `http://127.0.0.1:${port}`, {}) }
  },
  async 'HTTP/2 over TLS' (t, options, handler) {
    const server = /** @type {any} */ (http).https.createServer({ ...localhost(), http2: true, ...options }, handler)
    t.after(() => stop(server))
    const port = await listen(server)
    return { server, port, ask: await askByHttp2(t, `https://localhost:${port}`, { ca: localhost().cert }) }
  }
}

/**
 * Serves over HTTP/1.1, and counts what JavaScript is asked.
 *
 * @param {import('node:test').TestContext} t
 * @param {(req: any, res: any, calls: number) => void} handler
 * @param {any} [cache]
 * @param {any} [options] further ones of createServer()
 * @returns {Promise<Cached & { calls: () => number }>}
 */
async function serveCached (t, handler, cache = true, options = {}) {
  let calls = 0
  const cached = await kProtocols['HTTP/1.1'](t, { cache, ...options }, (req, res) => handler(req, res, ++calls))
  return { ...cached, calls: () => calls }
}

/**
 * Serves over one protocol. The handler gets all requests but the first one, whose answer was stored, and is forgotten: requests wait for
 * each other only for what has been stored before.
 *
 * @param {import('node:test').TestContext} t
 * @param {string} protocol
 * @param {any} options of createServer()
 * @param {(req: any, res: any, calls: number) => void} handler
 * @param {Record<string, any>} [headers] of the first request that are part of the key, such as Host
 * @param {string} [path] of the first request
 * @returns {Promise<Cached & { calls: () => number }>}
 */
async function serveStoredBefore (t, protocol, options, handler, headers, path = '/') {
  let calls = -1
  const cached = await kProtocols[protocol](t, options, (req, res) => {
    if (calls++ !== -1) return handler(req, res, calls)
    res.writeHead(200, { 'Content-Type': 'text/plain', 'Cache-Control': 'public, max-age=60' }).end('first')
  })
  await cached.ask(path, headers)
  assert.equal(cached.server.cache.flush(), 1)
  return { ...cached, calls: () => calls }
}

module.exports = { kProtocols, ofCache, serveCached, serveStoredBefore }
