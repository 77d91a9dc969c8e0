'use strict'

// Servers and clients of each protocol that files are sent over.

const http2 = require('node:http2')
const nodeHttp = require('node:http')
const nodeHttps = require('node:https')
const { Buffer } = require('node:buffer')
const { once } = require('node:events')
const { http } = require('../helpers/backend')
const { listen, stop } = require('../helpers/client')
const { localhost } = require('../helpers/tls')

/**
 * @typedef {object} Answer
 * @property {number} status
 * @property {Record<string, any>} headers
 * @property {Buffer} body
 * @property {boolean} isWhole the message has ended as HTTP says
 *
 * @typedef {object} GetOptions
 * @property {Record<string, string>} [headers]
 * @property {() => Promise<unknown>} [pause] called within the body, which is read on when it is done
 *
 * @typedef {(path: string, options?: GetOptions) => Promise<Answer>} Get
 */

/**
 * Reads a body, and stands still within it.
 *
 * @param {import('node:stream').Readable} body
 * @param {GetOptions['pause']} pause
 * @returns {Promise<{ body: Buffer, hasFailed: boolean }>}
 */
function readBody (body, pause) {
  const pieces = /** @type {Buffer[]} */ ([])
  return new Promise((resolve) => {
    const done = (/** @type {boolean} */ hasFailed) => resolve({ body: Buffer.concat(pieces), hasFailed })
    body.on('data', (piece) => {
      pieces.push(piece)
      if (pause === undefined) return
      body.pause()
      pause().then(() => body.resume())
      pause = undefined
    })
    body.on('end', () => done(false))
    body.on('error', () => done(true))
    body.on('aborted', () => done(true))
    body.on('close', () => done(true))
  })
}

/** @param {(options: any, onResponse: (res: import('node:http').IncomingMessage) => void) => import('node:http').ClientRequest} get @param {any} where @returns {Get} */
function getBy (get, where) {
  return (path, { headers = {}, pause } = {}) => new Promise((resolve, reject) => {
    get({ ...where, path, headers }, async (res) => {
      const { body, hasFailed } = await readBody(res, pause)
      resolve({ status: res.statusCode ?? 0, headers: res.headers, body, isWhole: !hasFailed && res.complete })
    }).on('error', reject)
  })
}

/** @param {import('node:test').TestContext} t @param {string} url @param {any} options @returns {Promise<Get>} */
async function getByHttp2 (t, url, options) {
  const client = http2.connect(url, options)
  client.on('error', () => {})
  t.after(() => client.destroy())
  await once(client, 'connect')
  return async (path, { headers = {}, pause } = {}) => {
    const stream = client.request({ ':path': path, ...headers })
    const failed = once(stream, 'error').then(([error]) => { throw error })
    failed.catch(() => {})
    // Listens before the response: an empty body may have ended by the time that a promise continues.
    const read = readBody(stream, pause)
    const [fields] = await Promise.race([once(stream, 'response'), failed])
    const { body, hasFailed } = await read
    return { status: fields[':status'], headers: fields, body, isWhole: !hasFailed && stream.rstCode === 0 }
  }
}

/** @typedef {{ server: any, port: number, get: Get }} Served */

/** @type {Record<string, (t: import('node:test').TestContext, handler: (req: any, res: any) => void, agent?: any) => Promise<Served>>} */
const kProtocols = {
  async 'HTTP/1.1' (t, handler) {
    const agent = new nodeHttp.Agent({ keepAlive: true })
    t.after(() => agent.destroy())
    const server = http.createServer(handler)
    t.after(() => stop(server))
    const port = await listen(server)
    return { server, port, get: getBy(nodeHttp.get, { host: '127.0.0.1', port, agent }) }
  },
  async TLS (t, handler) {
    const agent = new nodeHttps.Agent({ keepAlive: true, ca: localhost().cert })
    t.after(() => agent.destroy())
    const server = /** @type {any} */ (http).https.createServer(localhost(), handler)
    t.after(() => stop(server))
    const port = await listen(server)
    return { server, port, get: getBy(nodeHttps.get, { host: '127.0.0.1', servername: 'localhost', port, agent }) }
  },
  async 'HTTP/2' (t, handler) {
    const server = http.createServer(/** @type {any} */ ({ http2: true }), handler)
    t.after(() => stop(server))
    const port = await listen(server)
    return { server, port, get: await getByHttp2(t, `http://127.0.0.1:${port}`, {}) }
  },
  async 'HTTP/2 over TLS' (t, handler) {
    const server = /** @type {any} */ (http).https.createServer({ ...localhost(), http2: true }, handler)
    t.after(() => stop(server))
    const port = await listen(server)
    return { server, port, get: await getByHttp2(t, `https://localhost:${port}`, { ca: localhost().cert, lookup: undefined }) }
  }
}

module.exports = { kProtocols }
