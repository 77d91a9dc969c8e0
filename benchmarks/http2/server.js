'use strict'

// A server under measurement: node server.js <side>. Tells its parent the port.

const kBody = 'Hello, World!'

/** @param {any} _req @param {any} res */
function hello (_req, res) {
  res.setHeader('Content-Type', 'text/plain')
  res.end(kBody)
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
}

const server = kServers[process.argv[2]]()
const listening = server.listen(0, '127.0.0.1', () => {
  const { port } = (server.address?.() ?? listening.address())
  process.send?.({ port })
})
process.on('disconnect', () => process.exit())
