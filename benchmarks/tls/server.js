'use strict'

// An https server under measurement.
//
//   server.js <node | httpsys> <key file> <certificate file>

const fs = require('node:fs')

const [, , side, key, cert] = process.argv
const { createServer } = side === 'node' ? require('node:https') : /** @type {any} */ (require('@httpsys/core-native')).https

const server = createServer({ key: fs.readFileSync(key), cert: fs.readFileSync(cert) },
  (/** @type {import('node:http').IncomingMessage} */ req, /** @type {import('node:http').ServerResponse} */ res) => {
    res.setHeader('Content-Type', 'text/plain')
    res.end('Hello, world!')
  })
server.listen(0, '127.0.0.1', () => process.send?.({ port: server.address().port }))
process.on('disconnect', () => process.exit())
