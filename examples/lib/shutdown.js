'use strict'

// Requests that are being answered get this long after a signal.
const kGraceMs = 5000

/**
 * Ends the process when it is told to: no new connections, open requests are answered first. A second signal
 * does not wait.
 *
 * @param {import('node:http').Server} server
 */
function closeOnSignals (server) {
  let closing = false
  const close = () => {
    if (closing) process.exit(1)
    closing = true
    server.close()
    setTimeout(() => server.closeAllConnections(), kGraceMs).unref()
  }
  process.on('SIGINT', close)
  process.on('SIGTERM', close)
}

module.exports = { closeOnSignals }
