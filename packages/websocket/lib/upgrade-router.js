'use strict'

// The one 'upgrade' listener of a server, which finds the WebSocket server for a request's path.

const { internals } = require('@httpsys/core-native')

/** @import { UpgradeHandler } from '../types' */
/** @import { IncomingMessage, Server } from 'node:http' */

const kRefusal = 'HTTP/1.1 404 Not Found\r\nConnection: close\r\nContent-Type: text/html\r\nContent-Length: 9\r\n\r\nNot Found'

/** @type {WeakMap<Server, UpgradeRouter>} */
const routers = new WeakMap()

/**
 * @typedef {object} Route
 * @property {string} path begins and ends with `/`
 * @property {boolean} isWhole true: `path` is compared with the URL that the client has sent; false: with the part that `stripPrefix` leaves of it
 * @property {UpgradeHandler} handler
 */

class UpgradeRouter {
  /** @type {Route[]} */
  #routes = []

  #server

  /** @param {Server} server */
  static of (server) {
    const known = routers.get(server)
    if (known !== undefined) return known
    const router = new UpgradeRouter(server)
    routers.set(server, router)
    return router
  }

  /** @param {Server} server */
  constructor (server) {
    this.#server = server
  }

  /** @param {Route} route @returns {() => void} removes it; idempotent */
  add (route) {
    const { path, isWhole } = route
    const same = this.#routes.find((other) => other.isWhole === isWhole && includes(other.path, path) &&
      includes(path, other.path))
    if (same !== undefined) {
      throw Object.assign(new Error(`attach EADDRINUSE: a WebSocket server is attached to ${same.path} already`),
        { code: 'EADDRINUSE', path: same.path })
    }
    this.#routes.push(route)
    if (this.#routes.length === 1) this.#server.on('upgrade', this.#onUpgrade)
    return () => {
      const at = this.#routes.indexOf(route)
      if (at === -1) return
      this.#routes.splice(at, 1)
      // Without a listener, requests to upgrade are ordinary requests again.
      if (this.#routes.length === 0) this.#server.removeListener('upgrade', this.#onUpgrade)
    }
  }

  /**
   * Returns the route with the longest path that contains the request's URL.
   *
   * @param {IncomingMessage & { baseUrl?: string, originalUrl?: string }} req
   * @returns {Route | undefined}
   */
  #find ({ url = '/', baseUrl = '', originalUrl = url }) {
    const depth = (/** @type {Route} */ { path, isWhole }) => (isWhole ? 0 : baseUrl.length) + path.length
    return this.#routes
      .filter(({ path, isWhole }) => includes(path, isWhole ? originalUrl : url))
      .reduce((/** @type {Route | undefined} */ best, route) =>
        best === undefined || depth(route) > depth(best) ? route : best, undefined)
  }

  /** @param {IncomingMessage} req @param {import('node:stream').Duplex} socket @param {Buffer} head */
  #onUpgrade = (req, socket, head) => {
    const route = this.#find(req)
    if (route !== undefined) {
      const { handler } = route
      handler.handleUpgrade(req, socket, head, (webSocket) => handler.emit('connection', webSocket, req))
    } else if (this.#server.listenerCount('upgrade') === 1) {
      refuse(socket)
    }
  }
}

/** @param {string} path @param {string} target */
function includes (path, target) {
  return internals.matchesPath(path, target)
}

/** @param {import('node:stream').Duplex} socket */
function refuse (socket) {
  socket.on('error', () => socket.destroy())
  socket.once('finish', () => socket.destroy())
  socket.end(kRefusal)
}

module.exports = { UpgradeRouter }
