'use strict'

// HTTPSYS_BACKEND=node: node:http itself, which only learns to listen on URL prefixes. The reference
// to compare the engine with, and a way out where the addon cannot be built.

const http = require('node:http')
const { classifyListen } = require('./listen-args')

const { Server: StockServer } = http

class Methods extends StockServer {
  /** @param {...any} args */
  listen (...args) {
    const plan = classifyListen(args)
    if (plan.kind === 'node') return super.listen(...plan.args)
    const [{ host, port, ipv6Only }, ...others] = plan.endpoints
    const options = { ...plan.options, port }
    if (host !== undefined) options.host = host
    if (ipv6Only !== undefined) options.ipv6Only = ipv6Only
    for (const endpoint of others) listenBeside(this, endpoint)
    return super.listen(options, plan.callback)
  }
}

// A further address: its connections are this server's.
/** @param {http.Server} server @param {{ host?: string, port: number, ipv6Only?: boolean }} endpoint */
function listenBeside (server, endpoint) {
  server.once('listening', () => {
    const beside = new StockServer()
    beside.removeAllListeners('connection')
    beside.on('connection', (socket) => server.emit('connection', socket))
    beside.on('error', (error) => server.emit('error', error))
    beside.listen(endpoint)
    server.once('close', () => beside.close())
  })
}

/** @param {any} [options] @param {any} [requestListener] */
function Server (options, requestListener) {
  if (!(this instanceof Server)) return new (/** @type {any} */ (Server))(options, requestListener)
  Reflect.apply(StockServer, this, [options, requestListener])
}
Server.prototype = Methods.prototype
Object.defineProperty(Server.prototype, 'constructor', { value: Server, writable: true, configurable: true })
Object.setPrototypeOf(Server, StockServer)

/** @param {any} [options] @param {any} [requestListener] @returns {http.Server} */
function createServer (options, requestListener) {
  return new (/** @type {any} */ (Server))(options, requestListener)
}

module.exports = { Server, createServer }
