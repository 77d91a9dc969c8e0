'use strict'

const net = require('node:net')
const { randomInt } = require('node:crypto')
const { once } = require('node:events')

/**
 * For URL prefixes, which have to name a port.
 *
 * @returns {Promise<number>} one that nobody listens on, below those that systems give to clients' connections (from 32768),
 *   one of which could have it before the test does
 */
async function freePort () {
  for (;;) {
    const port = randomInt(10_000, 32_768)
    const server = net.createServer().listen(port)
    const isFree = await once(server, 'listening').then(() => true, (error) => {
      // EACCES: Windows keeps ranges of ports for itself.
      if (error.code !== 'EADDRINUSE' && error.code !== 'EACCES') throw error
      return false
    })
    if (!isFree) continue
    server.close()
    await once(server, 'close')
    return port
  }
}

module.exports = { freePort }
