'use strict'

const { Buffer } = require('node:buffer')
const ws = require('ws')
const core = require('@httpsys/core-native')
const { NativeWebSocket, whileUpgrading } = require('./native-websocket')

const { completeUpgrade } = ws.WebSocketServer.prototype

const kOpen = 1
// Options of broadcast(). Other names are refused: with a misspelt `filter` all clients would get the message.
const kBroadcastOptions = ['filter', 'binary', 'compress', 'fin', 'mask']
// Text above this length (characters) is converted to bytes once: sent by reference, it can be shared only as bytes.
const kLongText = 16 * 1024

class WebSocketServer extends ws.WebSocketServer {
  /** @param {import('../types').ServerOptions | undefined} options which ws checks @param {() => void} [callback] */
  constructor (options, callback) {
    core.internals.refuseMisplaced('WebSocketServer()', options, [])
    const given = { WebSocket: NativeWebSocket, ...options }
    if (given.port == null || given.server || given.noServer) {
      super(given, callback)
      return
    }
    const server = core.createServer(refuse)
    server.listen(given.port, given.host, given.backlog, callback)
    super({ ...given, port: null, server })
    // From here on the options are as if ws itself had made the HTTP server, so that ws closes that server in close().
    Object.assign(this.options, { port: given.port, server: null })
  }

  /** @param {...unknown} args of ws' completeUpgrade() */
  completeUpgrade (...args) {
    whileUpgrading(this, () => Reflect.apply(completeUpgrade, this, args))
  }

  /**
   * Sends a message to all open clients.
   *
   * @param {unknown} data which send() checks
   * @param {import('../types').BroadcastOptions} [options]
   * @returns {number} number of clients that get the message
   */
  broadcast (data, options = {}) {
    core.internals.refuseUnknown('broadcast()', options, kBroadcastOptions)
    const { filter, ...how } = options
    if (!this.clients) throw new Error('broadcast() needs the option clientTracking')
    let count = 0
    // Convert the data once for all clients, so that the message is framed once.
    let bytes = data instanceof ArrayBuffer ? new Uint8Array(data) : typeof data === 'number' ? String(data) : data
    let sendOptions = Object.keys(how).length === 0 ? undefined : how
    if (typeof bytes === 'string' && bytes.length > kLongText) {
      sendOptions = { binary: false, ...how }
      bytes = Buffer.from(bytes)
    }
    for (const client of this.clients) {
      if (client.readyState !== kOpen || (filter !== undefined &&
        !filter(/** @type {import('../types')} */ (/** @type {unknown} */ (client))))) {
        continue
      }
      client.send(bytes, sendOptions)
      count++
    }
    return count
  }
}

const kBody = 'Upgrade Required'

/** @param {import('node:http').IncomingMessage} req @param {import('node:http').ServerResponse} res */
function refuse (req, res) {
  res.writeHead(426, { 'Content-Length': kBody.length, 'Content-Type': 'text/plain' })
  res.end(kBody)
}

module.exports = { WebSocketServer }
