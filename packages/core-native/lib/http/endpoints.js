'use strict'

// The sockets that a server listens on: server._handle, which is Node's in all but accepting, and those
// beside it for prefixes of other ports and addresses.

const net = require('node:net')
const os = require('node:os')
const { PrefixStateError } = require('../errors')
const { createServerHandle } = require('./node-internals')
const { endpointsOf } = require('./listen-args')
const { theEngine } = require('./listener')
const { served } = require('./served')
const { systemError, systemErrorText } = require('./socket')
const { kListener } = require('./symbols')

/** @typedef {import('./listen-args').Endpoint} Endpoint */
/** @typedef {import('../url-prefix').UrlPrefix} UrlPrefix */

const kErrnoEMFILE = -os.constants.errno.EMFILE
const kErrnoENFILE = -os.constants.errno.ENFILE
const kBacklogDefault = 511 // Node's.

// Makes a bound libuv handle listen on the engine. Everything else about it stays Node's.
/** @param {any} server @param {any} handle */
function takeHandle (server, handle) {
  const listener = server[kListener]
  if (typeof handle.fd !== 'number' || handle.fd < 0) {
    takeClusterHandle(listener, handle)
    return
  }
  const { close } = handle
  let referenced = false
  let key = 0
  const own = {
    /** @param {number} backlog */
    listen (backlog) {
      // bind() reports an address in use only here (uv_tcp_bind delays it).
      const delayed = handle.getsockname?.({}) ?? 0
      if (delayed !== 0) return delayed
      key = listener.listen(handle.fd, backlog)
      if (key < 0) return key
      own.ref()
      return 0
    },
    ref () {
      if (referenced || listener.listening === 0) return
      referenced = true
      theEngine().ref()
    },
    unref () {
      if (!referenced) return
      referenced = false
      theEngine().unref()
    },
    hasRef: () => referenced,
    /** @param {...any} args */
    close (...args) {
      own.unref()
      if (server._handle === handle || server._handle === null) {
        listener.unlisten()
        for (const { handle } of listener.beside.splice(0)) handle.close()
      } else if (key > 0 && listener.listening > 0) {
        listener.stopListening(key)
      }
      return close.apply(handle, args)
    }
  }
  Object.assign(handle, own)
}

// In a cluster worker the primary accepts and sends connections; they move on to a lane.
/** @param {import('./listener').Listener} listener @param {any} handle */
function takeClusterHandle (listener, handle) {
  const onconnection = (/** @type {number} */ status, /** @type {any} */ client) => {
    if (status !== 0) {
      listener.server.emit('error', systemError(status, 'accept'))
      return
    }
    const failed = listener.open().native.adopt(listener.id, client.fd)
    client.close()
    // Out of descriptors a connection is refused, as by whoever accepts; peers must not end the worker with it.
    if (failed !== 0 && failed !== kErrnoEMFILE && failed !== kErrnoENFILE) {
      listener.server.emit('error', systemError(failed, 'accept'))
    }
  }
  Object.defineProperty(handle, 'onconnection', {
    configurable: true, enumerable: true, get: () => onconnection, set () {}
  })
  listener.open()
  served.servers++
}

/**
 * @param {any} server
 * @param {Endpoint} endpoint
 * @param {number} backlog
 * @throws what Node's listen() would emit
 */
function listenBeside (server, endpoint, backlog) {
  const { host, port, ipv6Only } = endpoint
  const type = host === undefined || net.isIPv6(host) ? 6 : 4
  let handle = createServerHandle(host ?? '::', port, type, undefined, ipv6Only ? 1 : 0)
  // A machine without IPv6, as in _listen2().
  if (typeof handle === 'number' && host === undefined && !ipv6Only) handle = createServerHandle('0.0.0.0', port, 4)
  let status = typeof handle === 'number' ? handle : 0
  if (status === 0) {
    takeHandle(server, handle)
    status = handle.listen(backlog || kBacklogDefault)
    if (status !== 0) handle.close()
  }
  if (status !== 0) throw listenError(status, host ?? '::', port)
  server[kListener].beside.push({ endpoint, handle })
}

// The further addresses of a server with several prefixes, once the first one listens.
/** @param {any} server @param {number} backlog */
function listenOnOthers (server, backlog) {
  try {
    for (const endpoint of server[kListener].others) listenBeside(server, endpoint, backlog)
  } catch (error) {
    server._handle.close()
    server._handle = null
    process.nextTick(emitError, server, error)
  }
}

/**
 * Where a listening server listens, its own handle first.
 *
 * @param {any} server
 * @returns {Endpoint[]}
 */
function listeningOn (server) {
  const { beside } = server[kListener]
  return [ownEndpoint(server), ...beside.map((/** @type {any} */ { endpoint }) => endpoint)]
}

/** @param {any} server @returns {Endpoint} */
function ownEndpoint (server) {
  const address = server.address()
  if (address === null || typeof address !== 'object') {
    throw new PrefixStateError('the server listens on a Unix socket or pipe, which has no port for a prefix')
  }
  const { address: host, port } = address
  return host === '::' || host === '0.0.0.0' ? { port } : { host, port }
}

/** @param {Endpoint[]} open @param {Endpoint} wanted */
function isOpen (open, { host, port }) {
  return open.some((endpoint) => endpoint.port === port && (endpoint.host === undefined || endpoint.host === host))
}

/**
 * Opens what a further prefix needs and is not open yet: everything, or nothing.
 *
 * @param {any} server
 * @param {UrlPrefix} parsed
 */
function openFor (server, parsed) {
  const { beside } = server[kListener]
  const before = beside.length
  try {
    for (const endpoint of endpointsOf([parsed], undefined)) {
      if (!isOpen(listeningOn(server), endpoint)) listenBeside(server, endpoint, kBacklogDefault)
    }
  } catch (error) {
    for (const { handle } of beside.splice(before)) handle.close()
    throw error
  }
}

/**
 * Closes what none of the server's prefixes needs any more. Connections that were accepted stay.
 *
 * @param {any} server
 */
function closeUnneeded (server) {
  const listener = server[kListener]
  const needed = endpointsOf(listener.prefixes.list(), undefined)
  const isNeeded = (/** @type {Endpoint} */ endpoint) => needed.some(({ host, port }) =>
    port === endpoint.port && (endpoint.host === undefined || endpoint.host === host))
  for (const item of [...listener.beside]) {
    if (isNeeded(item.endpoint)) continue
    listener.beside.splice(listener.beside.indexOf(item), 1)
    item.handle.close()
  }
  if (isNeeded(ownEndpoint(server)) || listener.beside.length === 0) return
  // Another one becomes the server's own, which address() tells and close() closes.
  const { _handle: handle } = server
  server._handle = listener.beside.shift().handle
  handle.close()
}

/** @param {number} errno @param {string} address @param {number} port */
function listenError (errno, address, port) {
  const { code, syscall } = systemError(errno, 'listen')
  const where = port > 0 ? `${address}:${port}` : address
  const error = new Error(`${syscall} ${code}: ${systemErrorText(errno)}${where ? ` ${where}` : ''}`)
  return Object.assign(error, { code, errno, syscall, address }, port ? { port } : null)
}

/** @param {any} server @param {Error} error */
function emitError (server, error) {
  server.emit('error', error)
}

module.exports = { closeUnneeded, emitError, listenError, listenOnOthers, openFor, ownEndpoint, takeHandle }
