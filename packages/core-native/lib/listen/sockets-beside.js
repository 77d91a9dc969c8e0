'use strict'

// The sockets that a server listens on beside its own handle.

/** @import { Endpoint } from './listen-args' */
/**
 * @typedef {object} SocketBeside
 * @property {Endpoint} endpoint
 * @property {import('../../types/node-internals').ListenHandle} handle
 */

// A set of sockets in the order in which they were opened, indexed by port and host. It may hold thousands, and two for one endpoint.
class SocketsBeside {
  /** @type {Set<SocketBeside>} */
  #all = new Set()
  /** Sockets by port and host; host '' = every address. @type {Map<number, Map<string, Set<SocketBeside>>>} */
  #ports = new Map()

  /** @param {SocketBeside} socket */
  add (socket) {
    const { port, host = '' } = socket.endpoint
    const hosts = this.#ports.get(port) ?? new Map()
    const there = hosts.get(host) ?? new Set()
    this.#ports.set(port, hosts.set(host, there.add(socket)))
    this.#all.add(socket)
  }

  /** @param {SocketBeside} socket */
  delete (socket) {
    if (!this.#all.delete(socket)) return
    const { port, host = '' } = socket.endpoint
    const hosts = /** @type {Map<string, Set<SocketBeside>>} */ (this.#ports.get(port))
    const there = /** @type {Set<SocketBeside>} */ (hosts.get(host))
    there.delete(socket)
    if (there.size === 0) hosts.delete(host)
    if (hosts.size === 0) this.#ports.delete(port)
  }

  /** @returns {SocketBeside | undefined} the socket that was opened first */
  first () {
    return this.#all.values().next().value
  }

  /** @param {Endpoint} endpoint @returns {boolean} whether one of the sockets accepts for the endpoint */
  covers ({ host = '', port }) {
    const hosts = this.#ports.get(port)
    return hosts !== undefined && (hosts.has('') || hosts.has(host))
  }

  /** @param {Endpoint} endpoint @returns {SocketBeside[]} the sockets with this endpoint */
  at ({ host = '', port }) {
    return [...this.#ports.get(port)?.get(host) ?? []]
  }

  /** @param {number} port @returns {SocketBeside[]} */
  ofPort (port) {
    return [...this.#ports.get(port)?.values() ?? []].flatMap((sockets) => [...sockets])
  }

  /** Empties the set. @returns {SocketBeside[]} its former content */
  take () {
    const all = [...this.#all]
    this.#all.clear()
    this.#ports.clear()
    return all
  }
}

module.exports = { SocketsBeside }
