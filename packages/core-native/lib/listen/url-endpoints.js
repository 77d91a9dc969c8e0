'use strict'

// Listens with the operating system's own HTTP server (HTTP.SYS), which takes URLs instead of sockets. Node's
// listen() has run up to the point where it would bind; a UrlHandle replaces the libuv handle.

const cluster = /** @type {import('node:cluster').Cluster} */ (/** @type {unknown} */ (require('node:cluster'))) // Cast as in node-internals.js.
const net = require('node:net')
const { setImmediate } = require('node:timers')
const { loadBinding } = require('../backend/binding')
const { CapabilityError, UrlSharingError } = require('../base/errors')
const { theEngine } = require('./listener')
const { createServerHandle } = require('../node-private/node-internals')
const { listenError } = require('./listen-error')
const { parseUrlPrefix } = require('../prefixes/url-prefix')
const { requireCertificate } = require('../tls/system-certificate')
const { optionError, queueError, urlError } = require('./url-error')
const { kQueueModes } = require('./listen-args')
const { kListener } = require('../http/symbols')

// Attempts to register a free port for listen(0). Between freePort() and the registration a client's connection, say, may take the port.
const kFreePortTries = 10

/** @import { ListenHandle } from '../../types/node-internals' */
/** @import { ListenServer } from '../../types/internal' */
/** @import { Listener } from './listener' */
/** @import { Plan } from './endpoints' */
/** @import { UrlPrefix } from '../prefixes/url-prefix' */

// Replaces the libuv handle that Node expects of a listening server.
class UrlHandle {
  #referenced = false
  #server

  /** @param {ListenServer} server @param {string} address @param {number} port */
  constructor (server, address, port) {
    this.#server = server
    this.address = address
    this.port = port
  }

  listen () {
    const status = this.#server[kListener].listenShared()
    this.ref()
    return status
  }

  /** @param {{ address?: string, family?: string, port?: number }} to */
  getsockname (to) {
    Object.assign(to, { address: this.address, family: net.isIPv6(this.address) ? 'IPv6' : 'IPv4', port: this.port })
    return 0
  }

  ref () {
    if (this.#referenced) return
    this.#referenced = true
    theEngine().ref()
  }

  unref () {
    if (!this.#referenced) return
    this.#referenced = false
    theEngine().unref()
  }

  hasRef () {
    return this.#referenced
  }

  /** @param {() => void} [closed] */
  close (closed) {
    this.unref()
    this.#server[kListener].unlisten()
    if (typeof closed === 'function') setImmediate(closed)
  }
}

/**
 * @param {Listener} listener
 * @returns {boolean} whether the server attached to a queue that another process had made and whose URLs that process registers
 * @throws the error that listen() must emit
 */
function openQueue (listener) {
  const { sharing } = listener
  const { capabilities } = loadBinding()
  if (sharing.isImplied && cluster.isWorker) throw new UrlSharingError('queueName')
  // Servers that HTTPSYS_LISTEN maps have an implied queue name; with HTTP.SYS each gets a queue of its own instead.
  const { queueName, queueMode } = sharing.isImplied ? { queueName: '', queueMode: 'create' } : sharing
  if (queueName !== '' && !capabilities.namedQueues) throw new CapabilityError('listen({ queueName })', 'namedQueues', capabilities.name)
  const { status, property, isAttached } = listener.open()
    .native.openQueue(listener.id, queueName, kQueueModes.indexOf(queueMode))
  if (status === 0) return isAttached
  if (property === 'queueName') throw queueError(status, queueName)
  throw property === '' ? queueError(status) : optionError(status, property)
}

/**
 * @param {Listener} listener
 * @param {number} id
 * @param {string} url
 * @param {object} [members] of the error
 * @throws the error that listen() must emit
 */
function register (listener, id, url, members) {
  const { native } = theEngine()
  const { status, property } = native.addUrl(listener.id, id, url)
  if (status !== 0) throw property === '' ? urlError(status, url, members) : optionError(status, `httpSys.${property}`)
  try {
    requireCertificate(parseUrlPrefix(url))
  } catch (error) {
    native.removeUrl(listener.id, id)
    throw error
  }
}

/**
 * Registers all URLs on which a server is to listen. If one fails, none stays registered.
 *
 * @param {ListenServer} server
 * @param {Plan} plan
 * @returns {UrlHandle}
 * @throws the error that listen() must emit
 */
function openUrls (server, plan) {
  const listener = server[kListener]
  const { host, port } = plan.endpoints[0]
  const isAttached = openQueue(listener)
  if (isAttached) return new UrlHandle(server, host ?? '::', port || freePort(host))
  for (let tries = port === 0 ? kFreePortTries : 1; ; tries--) {
    const at = port || freePort(host)
    try {
      registerAll(listener, plan, at)
      return new UrlHandle(server, host ?? '::', at)
    } catch (error) {
      if (tries === 1 || /** @type {NodeJS.ErrnoException} */ (error).code !== 'EADDRINUSE') throw error
    }
  }
}

/**
 * @param {Listener} listener
 * @param {Plan} plan
 * @param {number} at the port that replaces port 0 of the plan
 * @throws the error that listen() must emit; nothing is registered then
 */
function registerAll (listener, { endpoints: [{ host, port }], prefixes, isPlain }, at) {
  /** @type {number[]} */
  const registered = []
  try {
    for (const { id, text } of prefixes) {
      const url = isPlain && port === 0 ? text.replace(/:0\/$/, `:${at}/`) : text
      register(listener, id, url, isPlain ? { address: host ?? '::', port: at } : undefined)
      registered.push(id)
    }
  } catch (error) {
    for (const other of registered) theEngine().native.removeUrl(listener.id, other)
    throw error
  }
}

// Finds a free port for listen(0), because HTTP.SYS does not choose ports.
/** @param {string | undefined} host @returns {number} a port on which no program listens */
function freePort (host) {
  const handle = createServerHandle(host ?? '0.0.0.0', 0, net.isIPv6(host ?? '') ? 6 : 4)
  if (typeof handle === 'number') throw listenError(handle, host ?? '::', 0)
  const address = /** @type {{ port?: number }} */ ({})
  const status = /** @type {Required<ListenHandle>} */ (handle).getsockname(address)
  handle.close()
  if (status !== 0) throw listenError(status, host ?? '::', 0)
  return address.port ?? 0
}

/**
 * Registers a further prefix of a listening server.
 *
 * @param {ListenServer} server
 * @param {UrlPrefix} parsed
 * @param {number} id
 */
function addUrl (server, parsed, id) {
  // configure() passes all prefixes to the lane. Only the new one is registered, because HTTP.SYS has the prefixes of listen() already.
  server[kListener].configure()
  register(server[kListener], id, parsed.prefix)
}

module.exports = { addUrl, openUrls }
