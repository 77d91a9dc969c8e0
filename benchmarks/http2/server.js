'use strict'

// A server under measurement. Tells its parent the port.
//
//   server.js <side>
//   server.js <side> <key file> <certificate file> <bytes>   with TLS, and a body of so many bytes

const fs = require('node:fs')

const [, , side, key, cert, bytes] = process.argv
const kBody = bytes === undefined ? 'Hello, World!' : Buffer.alloc(Number(bytes), 'x')

/** @param {any} _req @param {any} res */
function hello (_req, res) {
  res.setHeader('Content-Type', 'text/plain')
  res.end(kBody)
}

const keys = () => ({ key: fs.readFileSync(key), cert: fs.readFileSync(cert) })

function secure () {
  return /** @type {any} */ (require('@httpsys/core-native')).https.createServer({ ...keys(), http2: true }, hello)
}

function express () {
  const app = require('express')()
  app.get('/', (/** @type {any} */ _req, /** @type {any} */ res) => res.send(kBody))
  return require('@httpsys/express-adapter').createAdapter(app, { http2: true })
}

/** @type {Record<string, () => any>} */
const kServers = {
  node: () => require('node:http2').createServer(hello),
  httpsys: () => require('@httpsys/core-native').createServer(/** @type {any} */ ({ http2: true }), hello),
  express,
  'express-http1': express,
  // With TLS.
  'node:https': () => require('node:https').createServer(keys(), hello),
  'node:http2': () => require('node:http2').createSecureServer(keys(), hello),
  'httpsys h1': secure,
  'httpsys h2': secure,
}

const server = kServers[side]()
const listening = server.listen(0, '127.0.0.1', () => {
  const { port } = (server.address?.() ?? listening.address())
  process.send?.({ port })
})
process.on('disconnect', () => process.exit())
