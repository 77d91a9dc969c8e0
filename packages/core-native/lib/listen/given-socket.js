'use strict'

// listen({ prefix, fd }), where fd is a socket bound by another program, such as a systemd socket unit. It replaces the sockets
// that the server would bind on that port, and is shared with other processes as these are.

const fs = require('node:fs')
const { ListenArgsError } = require('../base/errors')
const { createServerHandle } = require('../node-private/node-internals')
const { addressOf } = require('./listener')
const { listenError } = require('./listen-error')

/** @import { ListenHandle } from '../../types/node-internals' */
/** @import { Endpoint } from './listen-args' */

/**
 * Handles by descriptor. Each is kept until a listen() with its descriptor succeeds. After a failure the handle stays open for the next
 * attempt: closing it would close the application's descriptor.
 *
 * @type {Map<number, { handle: ListenHandle, identity: string }>}
 */
const kept = new Map()

/**
 * Replaces all endpoints on the descriptor's port by one for the descriptor.
 *
 * @param {Endpoint[]} endpoints
 * @param {number} fd owned by the handle from now on, as with Node's listen({ fd })
 * @returns {{ endpoints: Endpoint[], port: number }}
 * @throws the error that listen() must emit
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

/** @param {number} fd @returns {ListenHandle | undefined} undefined: none, or the descriptor now belongs to another socket */
function keptHandle (fd) {
  const found = kept.get(fd)
  if (found === undefined) return undefined
  // A stale handle is not closed: that would close the file that the application opened under this number later.
  return identityOf(fd) === found.identity ? found.handle : undefined
}

/** Identifies a socket: descriptors of one socket give the same string. @param {number} fd @returns {string} '' if closed */
function identityOf (fd) {
  try {
    const { dev, ino } = fs.fstatSync(fd, { bigint: true })
    return `${dev} ${ino}`
  } catch {
    return ''
  }
}

/**
 * Must be called when the server listens on the descriptor, or on another member's descriptor of that socket: closes an unused handle.
 *
 * @param {number} fd
 * @param {ListenHandle[]} handles that it listens on
 */
function settleGiven (fd, handles) {
  const handle = kept.get(fd)?.handle
  kept.delete(fd)
  if (handle !== undefined && !handles.includes(handle)) handle.close()
}

/** Whether two handles have the same socket. @param {ListenHandle} one @param {ListenHandle} other */
function isSameSocket (one, other) {
  return identityOf(/** @type {number} */ (one.fd)) === identityOf(/** @type {number} */ (other.fd))
}

module.exports = { isSameSocket, placeGiven, settleGiven }
