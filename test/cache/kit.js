'use strict'

// What tests of the output cache have in common: a server that counts how often it is asked, and clients of HTTP/1.1 and HTTP/2.

const http2 = require('node:http2')
const { once } = require('node:events')
const { http } = require('../helpers/backend')
const { request, serve } = require('../helpers/client')

/** @typedef {{ status: number, headers: Record<string, any>, body: string }} Answer */
/** @typedef {{ path?: string, method?: string, headers?: Record<string, any>, body?: string | Buffer }} Asked */
/** @typedef {(req: any, res: any, count: number) => void} Handler */

/** The rules of HTTP.SYS, for responses that set a time. */
const kHttpSys = { rules: 'httpsys' }

/**
 * A server with a cache, whose handler is told how many requests have reached it. Responses have a Content-Type.
 *
 * @param {import('node:test').TestContext} t
 * @param {any} cache the option
 * @param {Handler} handler
 * @param {Record<string, any>} [options] others of createServer()
 */
async function counting (t, cache, handler, options = {}) {
  const counted = { count: 0 }
  const server = http.createServer(/** @type {any} */ ({ cache, ...options }), (req, res) => {
    res.setHeader('Content-Type', 'text/plain')
    handler(req, res, ++counted.count)
  })
  const port = await serve(t, server)
  /** @param {Asked} [asked] @returns {Promise<Answer>} */
  const ask = ({ body, ...asked } = {}) => request({ port, path: '/', ...asked }, body)
  return { server, port, counted, ask }
}

/**
 * Clients by protocol: each asks with a connection of its own, and names the same authority.
 *
 * @type {Record<string, (port: number, asked?: Asked) => Promise<Answer>>}
 */
const clients = {
  'HTTP/1.1': (port, { body, ...asked } = {}) => request({ port, path: '/', ...asked }, body),
  'HTTP/2': askHttp2
}

/** @param {number} port @param {Asked} [asked] @returns {Promise<Answer>} */
async function askHttp2 (port, { path = '/', method = 'GET', headers: { Host: authority, ...headers } = {}, body } = {}) {
  const session = http2.connect(`http://127.0.0.1:${port}`)
  try {
    const stream = session.request({
      ':path': path,
      ':method': method,
      ...(authority === undefined ? {} : { ':authority': authority }),
      ...Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
    }, { endStream: body === undefined })
    if (body !== undefined) stream.end(body)
    const [{ ':status': status, ...answered }] = await once(stream, 'response')
    let text = ''
    stream.setEncoding('latin1').on('data', (piece) => { text += piece })
    await once(stream, 'end')
    return { status, headers: answered, body: text }
  } finally {
    session.close()
  }
}

module.exports = { clients, counting, kHttpSys }
