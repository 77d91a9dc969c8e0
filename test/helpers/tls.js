'use strict'

// A server with TLS on the backend under test, and clients of it.

const { once } = require('node:events')
const https = require('node:https')
const tls = require('node:tls')
const core = require('@httpsys/core-native')
const { certificate } = require('./certificates')

const localhost = () => certificate('localhost')

/**
 * @param {import('node:test').TestContext} t
 * @param {any} options beside a certificate for localhost
 * @param {(req: any, res: any) => void} [handler]
 */
async function serve (t, options = {}, handler = (req, res) => { res.end('ok') }) {
  const given = options.pfx || options.cert === null ? options : { ...localhost(), ...options }
  const server = /** @type {any} */ (core).https.createServer(given, handler)
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  server.listen(0)
  await once(server, 'listening')
  return { server, port: server.address().port }
}

/**
 * One request on a connection of its own.
 *
 * @param {number} port
 * @param {any} [options] of https.request
 * @param {string | Buffer} [body]
 * @returns {Promise<{ status: number, body: string, socket: tls.TLSSocket, headers: any }>}
 */
function request (port, options = {}, body) {
  return new Promise((resolve, reject) => {
    const req = https.request({ port, host: '127.0.0.1', servername: 'localhost', ca: localhost().cert, agent: false, ...options }, (res) => {
      const socket = /** @type {tls.TLSSocket} */ (res.socket)
      let text = ''
      res.setEncoding('latin1').on('data', (chunk) => { text += chunk })
      res.on('end', () => resolve({ status: res.statusCode ?? 0, body: text, socket, headers: res.headers }))
      res.on('error', reject)
    })
    req.on('error', reject)
    req.end(body)
  })
}

/**
 * A connection whose handshake is done.
 *
 * @param {number} port
 * @param {tls.ConnectionOptions} [options]
 * @returns {Promise<tls.TLSSocket>}
 */
async function connect (port, options = {}) {
  const socket = tls.connect({ port, host: '127.0.0.1', servername: 'localhost', ca: localhost().cert, ...options })
  await once(socket, 'secureConnect')
  return socket
}

/** @param {import('node:stream').Readable} stream @returns {Promise<string>} */
async function readAll (stream) {
  let text = ''
  for await (const chunk of stream) text += chunk.toString('latin1')
  return text
}

module.exports = { connect, localhost, readAll, request, serve }
