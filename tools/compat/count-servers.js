'use strict'

// Preloaded into a test on stock Node: says in its report whether an http or https server accepted a connection.
// Watches the channel that Node publishes for sockets of net servers, so nothing is replaced.

const diagnostics = require('node:diagnostics_channel')
const fs = require('node:fs')

let connections = 0
diagnostics.subscribe('net.server.socket', (message) => {
  const { server } = /** @type {any} */ (/** @type {any} */ (message).socket)
  // Not require('node:http') to find out: some tests are about who loads it first. Servers of http2 stay Node's.
  if (server !== null && server !== undefined && 'keepAliveTimeout' in server && 'requestTimeout' in server && !/^Http2/.test(server.constructor.name)) connections++
})

process.on('exit', () => {
  const report = process.env.HTTPSYS_COMPAT_COUNT
  if (report) fs.appendFileSync(report, `${JSON.stringify({ connections })}\n`)
})
