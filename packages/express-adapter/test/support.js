'use strict'

const http = require('node:http')
const { once } = require('node:events')

/**
 * Starts an adapter on a free port and closes it when the test ends.
 *
 * @returns {Promise<number>} the port
 */
async function start (t, adapter) {
  adapter.listen(0, '127.0.0.1')
  await once(adapter.server, 'listening')
  t.after(() => {
    adapter.uninstall()
    adapter.server.closeAllConnections()
    return new Promise((resolve) => adapter.close(resolve))
  })
  return adapter.server.address().port
}

/** One request on a connection of its own. */
function fetchText (port, path = '/', { body, ...options } = {}) {
  return new Promise((resolve, reject) => {
    const req = http.request({ host: '127.0.0.1', port, path, agent: false, ...options }, (res) => {
      const chunks = []
      res.on('data', (chunk) => chunks.push(chunk))
      res.on('error', reject)
      res.on('end', () => resolve({
        status: res.statusCode, headers: res.headers, rawHeaders: res.rawHeaders, text: Buffer.concat(chunks).toString()
      }))
    })
    req.on('error', reject)
    req.end(body)
  })
}

module.exports = { fetchText, start }
