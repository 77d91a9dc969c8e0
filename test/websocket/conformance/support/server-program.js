'use strict'

// A server in a process of its own, for tests about memory and about many sockets.

const { column } = require('./columns')

/**
 * @param {string} name of the column
 * @param {object} options of the WebSocketServer
 * @param {(message: any) => void} report
 */
function run (name, options, report) {
  const { createServer, WebSocketServer } = column(name)
  const server = createServer()
  // None of these is meant for a connection that is a WebSocket.
  Object.assign(server, { timeout: 1000, keepAliveTimeout: 300, headersTimeout: 900, requestTimeout: 1000 })
  const wss = new WebSocketServer({ server, ...options })
  const closes = /** @type {Record<string, number>} */ ({})
  let errors = 0
  wss.on('connection', (/** @type {any} */ socket) => {
    socket.on('message', (/** @type {Buffer} */ data, /** @type {boolean} */ binary) => socket.send(data, { binary }))
    socket.on('error', () => { errors++ })
    socket.on('close', (/** @type {number} */ code) => { closes[code] = (closes[code] ?? 0) + 1 })
  })
  process.on('message', async (message) => {
    if (message !== 'look') return
    for (let round = 0; round < 3; round++) {
      /** @type {any} */ (globalThis).gc()
      // No event says when finalizers have run, and when the I/O threads have given back memory that they free by their own clocks.
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    report({ look: { rss: process.memoryUsage.rss(), peak: process.resourceUsage().maxRSS * 1024, clients: wss.clients.size, closes, errors } })
  })
  server.listen(0, '127.0.0.1', () => report({ port: /** @type {any} */ (server.address()).port }))
}

module.exports = { run }
