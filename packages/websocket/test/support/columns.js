'use strict'

// The three ways of the differential tests: `ws` on node:http, `ws` on the engine, and this package on the engine.

const { once } = require('node:events')
const http = require('node:http')
const ws = require('ws')
const core = require('@httpsys/core-native')
const fast = require('../..')

/** @type {{ name: string, WebSocketServer: any, createServer: () => any, isFast: boolean }[]} */
const columns = [
  { name: 'ws on node:http', WebSocketServer: ws.WebSocketServer, createServer: () => http.createServer(), isFast: false },
  { name: 'ws on the engine', WebSocketServer: ws.WebSocketServer, createServer: () => core.createServer(), isFast: false },
  { name: 'this package', WebSocketServer: fast.WebSocketServer, createServer: () => core.createServer(), isFast: core.backend === 'engine' }
]

/**
 * A WebSocket server on a free port, ended with the test.
 *
 * @param {import('node:test').TestContext} t
 * @param {typeof columns[number]} column
 * @param {object} [options]
 */
async function serve (t, { WebSocketServer, createServer }, options = {}) {
  const server = createServer()
  const wss = new WebSocketServer({ server, ...options })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(async () => {
    for (const client of wss.clients ?? []) client.terminate()
    wss.close()
    await new Promise((resolve) => server.close(resolve))
  })
  return { wss, server, port: server.address().port, url: `ws://127.0.0.1:${server.address().port}` }
}

module.exports = { columns, serve, kFast: columns[2] }
