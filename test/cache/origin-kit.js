'use strict'

// Servers with an output cache, and requests to them as they are written. Each answer of a handler says how often the handler
// was called for its path, so that an answer from the cache is known by its number.

const nodeHttp = require('node:http')
const { Buffer } = require('node:buffer')
const { backend, http } = require('../helpers/backend')
const { needs } = require('../helpers/capabilities')
const { serve } = require('../helpers/client')

/** @typedef {import('node:test').TestContext} TestContext */
/** @typedef {import('node:http').IncomingMessage} IncomingMessage */
/** @typedef {import('node:http').ServerResponse} ServerResponse */

/**
 * @typedef {object} Asked
 * @property {string} path
 * @property {string} [method]
 * @property {Record<string, string | string[]>} [headers]
 * @property {string} [body]
 *
 * @typedef {object} Answer
 * @property {number} status
 * @property {Record<string, any>} headers lower case
 * @property {string[]} rawHeaders
 * @property {string} body Latin-1
 * @property {{ status: number, headers: Record<string, any> }[]} interim responses before it
 */

/** Stock Node has no cache. */
const needsCache = () => backend === 'node' ? { skip: 'node:http has no cache' } : needs('cacheRules')

/**
 * @param {TestContext} t
 * @param {(req: IncomingMessage, res: ServerResponse) => void} handler
 * @param {object | true} [cache] the option
 * @returns {Promise<{ port: number, server: any, ask: (asked: Asked) => Promise<Answer> }>} ask: over connections that are used again
 */
async function serveCached (t, handler, cache = true) {
  const server = http.createServer(/** @type {any} */ ({ cache }), handler)
  const agent = new nodeHttp.Agent({ keepAlive: true })
  t.after(() => agent.destroy())
  const port = await serve(t, server)
  return { port, server, ask: (asked) => ask(port, agent, asked) }
}

/** @param {number} port @param {nodeHttp.Agent} agent @param {Asked} asked @returns {Promise<Answer>} */
function ask (port, agent, { path, method = 'GET', headers = {}, body }) {
  return new Promise((resolve, reject) => {
    /** @type {Answer['interim']} */
    const interim = []
    // Node's client names no length for methods that rarely have a body.
    const length = body === undefined ? {} : { 'Content-Length': String(body.length) }
    const req = nodeHttp.request({ host: '127.0.0.1', port, agent, method, path, headers: { ...headers, ...length } }, (res) => {
      const pieces = /** @type {Buffer[]} */ ([])
      res.on('data', (piece) => pieces.push(piece)).on('error', reject)
      res.on('end', () => resolve({
        status: res.statusCode ?? 0, headers: res.headers, rawHeaders: res.rawHeaders, body: Buffer.concat(pieces).toString('latin1'), interim,
      }))
    })
    req.on('information', (info) => interim.push({ status: info.statusCode, headers: info.headers }))
    req.on('error', reject).end(body)
  })
}

module.exports = { needsCache, serveCached }
