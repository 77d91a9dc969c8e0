'use strict'

// Preloaded into a test on stock Node: says in its report whether an http server accepted a connection.
// Watches the channel that Node publishes for sockets of net servers, so nothing is replaced.

const diagnostics = require('node:diagnostics_channel')
const fs = require('node:fs')

let connections = 0
diagnostics.subscribe('net.server.socket', (message) => {
  const { server } = /** @type {any} */ (/** @type {any} */ (message).socket)
  // Not require('node:http') to find out: some tests are about who loads it first. https servers, which are tls ones, stay Node's.
  if (server !== null && server !== undefined && 'keepAliveTimeout' in server && 'requestTimeout' in server && !('setSecureContext' in server)) connections++
})

process.on('exit', () => {
  const report = process.env.HTTPSYS_COMPAT_COUNT
  if (report) fs.appendFileSync(report, `${JSON.stringify({ connections })}\n`)
})
