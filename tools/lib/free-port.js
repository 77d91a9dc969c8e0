'use strict'

const dgram = require('node:dgram')
const net = require('node:net')
const { randomInt } = require('node:crypto')
const { once } = require('node:events')

/**
 * For URL prefixes, which have to name a port.
 *
 * @returns {Promise<number>} one that nobody listens on, below those that systems give to clients' connections (from 32768),
 *   one of which could have it before the test does. No other process of the tests gets it while this one lives.
 */
async function freePort () {
  for (;;) {
    const port = randomInt(10_000, 32_768)
    // UDP's ports are others than TCP's: this one says that the test has the port, while nobody listens on it.
    const claim = dgram.createSocket('udp4')
    claim.bind({ port, address: '127.0.0.1', exclusive: true })
    if (!await isBound(claim)) continue
    claim.unref()
    const server = net.createServer().listen(port)
    const isFree = await isBound(server)
    if (isFree) {
      server.close()
      await once(server, 'close')
      return port
    }
    claim.close()
  }
}

/** @param {import('node:events').EventEmitter} socket */
function isBound (socket) {
  return once(socket, 'listening').then(() => true, (error) => {
    // EACCES: Windows keeps ranges of ports for itself.
    if (error.code !== 'EADDRINUSE' && error.code !== 'EACCES') throw error
    return false
  })
}

module.exports = { freePort }
