'use strict'

// listen({ prefix, fd }): a socket that somebody else has bound, such as that of a systemd socket unit. It takes the place
// of those that the server would bind on its port, and other processes of the port share it as they share any.

const fs = require('node:fs')
const { ListenArgsError } = require('../base/errors')
const { createServerHandle } = require('../node-private/node-internals')
const { addressOf } = require('./listener')
const { listenError } = require('./listen-error')

/** @typedef {import('../../types/node-internals').ListenHandle} ListenHandle */
/** @typedef {import('./listen-args').Endpoint} Endpoint */

/**
 * Handles whose listen() has not succeeded so far, by descriptor: the next one may. A handle cannot be separated from its
 * descriptor, so it stays open as long as the application leaves the descriptor open.
 *
 * @type {Map<number, { handle: ListenHandle, identity: string }>}
 */
const kept = new Map()

/**
 * Puts a descriptor in the place of the endpoints of its port.
 *
 * @param {Endpoint[]} endpoints
 * @param {number} fd the handle's from now on, as with Node's listen({ fd })
 * @returns {{ endpoints: Endpoint[], port: number }}
 * @throws what listen() is to emit
 */
function placeGiven (endpoints, fd) {
  const handle = keptHandle(fd) ?? createServerHandle(null, null, null, fd)
  if (typeof handle === 'number') throw listenError(handle, `fd ${fd}`, 0)
  kept.set(fd, { handle, identity: identityOf(fd) })
  const { address, port } = addressOf(handle)
  const ports = endpoints.map((endpoint) => endpoint.port)
  if (port === undefined || address === undefined) throw new ListenArgsError(`"fd" ${fd} is no TCP socket`)
  if (!ports.includes(port)) {
    throw new ListenArgsError(`"fd" ${fd} is bound to port ${port}, and the prefixes are of port ${[...new Set(ports)].join(', ')}`)
  }
  const given = { port, ...(address !== '::' && { host: address }), given: handle }
  return { endpoints: [given, ...endpoints.filter((endpoint) => endpoint.port !== port)], port }
}

/** @param {number} fd @returns {ListenHandle | undefined} undefined: none, or the descriptor has become that of another socket */
function keptHandle (fd) {
  const found = kept.get(fd)
  if (found === undefined) return undefined
  // To close the handle would close what the application has opened instead.
  return identityOf(fd) === found.identity ? found.handle : undefined
}

/** Two descriptors of one socket have the same. @param {number} fd @returns {string} '' for a closed one */
function identityOf (fd) {
  try {
    const { dev, ino } = fs.fstatSync(fd, { bigint: true })
    return `${dev} ${ino}`
  } catch {
    return ''
  }
}

/**
 * The server listens, on the descriptor or on the same socket of another member.
 *
 * @param {number} fd
 * @param {ListenHandle[]} handles that it listens on
 */
function settleGiven (fd, handles) {
  const handle = kept.get(fd)?.handle
  kept.delete(fd)
  if (handle !== undefined && !handles.includes(handle)) handle.close()
}

/** Two descriptors of one socket. @param {ListenHandle} one @param {ListenHandle} other */
function isSameSocket (one, other) {
  return identityOf(/** @type {number} */ (one.fd)) === identityOf(/** @type {number} */ (other.fd))
}

module.exports = { isSameSocket, placeGiven, settleGiven }
