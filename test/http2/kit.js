'use strict'

// Servers that speak HTTP/2 without TLS, and clients for them.

const { once } = require('node:events')
const http2 = require('node:http2')
const { http } = require('../helpers/backend')

/** @typedef {{ status: number, headers: any, trailers: any, body: Buffer, text: string, informational: any[] }} Answer */

/**
 * A server, and a session of Node's client with it; both end with the test.
 *
 * @param {import('node:test').TestContext} t
 * @param {any} listener
 * @param {any} [options]
 * @param {any} [clientOptions]
 */
async function serve (t, listener, options, clientOptions) {
  const server = http.createServer({ http2: true, ...options }, listener)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  const client = await connect(t, port, clientOptions)
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return { server, port, client }
}

/** @param {import('node:test').TestContext} t @param {number} port @param {any} [options] */
async function connect (t, port, options) {
  const client = http2.connect(`http://127.0.0.1:${port}`, options)
  client.on('error', () => {})
  t.after(() => client.destroy())
  await once(client, 'remoteSettings')
  return client
}

/**
 * One request, up to its end.
 *
 * @param {http2.ClientHttp2Session} client
 * @param {any} headers
 * @param {{ body?: any, trailers?: any }} [options]
 * @returns {Promise<Answer>}
 */
function request (client, headers, { body, trailers } = {}) {
  return new Promise((resolve, reject) => {
    const stream = client.request(headers, { endStream: body === undefined && trailers === undefined, waitForTrailers: trailers !== undefined })
    /** @type {any} */
    const answer = { informational: [], trailers: undefined }
    /** @type {Buffer[]} */
    const chunks = []
    stream.on('headers', (/** @type {any} */ info) => answer.informational.push(info))
    stream.on('response', (/** @type {any} */ got) => {
      answer.headers = got
      answer.status = got[':status']
    })
    stream.on('trailers', (/** @type {any} */ got) => { answer.trailers = got })
    stream.on('wantTrailers', () => stream.sendTrailers(trailers))
    stream.on('data', (/** @type {Buffer} */ chunk) => chunks.push(chunk))
    stream.on('error', reject)
    stream.on('end', () => {
      answer.body = Buffer.concat(chunks)
      answer.text = answer.body.toString()
      resolve(answer)
    })
    if (body !== undefined) stream.end(body)
    else if (trailers !== undefined) stream.end()
  })
}

module.exports = { connect, request, serve }
