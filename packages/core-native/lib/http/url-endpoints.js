'use strict'

// Listening where the operating system's own HTTP server listens: it is told URLs, not given sockets. Node's
// listen() has run up to the moment when it would bind; what stands in for its handle is a UrlHandle.

const net = require('node:net')
const { UrlSharingError } = require('../errors')
const { theEngine } = require('./listener')
const { createServerHandle } = require('./node-internals')
const { listenError } = require('./listen-error')
const { urlError } = require('./url-error')
const { kListener } = require('./symbols')

/**
 * @typedef {import('./endpoints').Plan} Plan
 * @typedef {import('../url-prefix').UrlPrefix} UrlPrefix
 */

// Stands where Node expects the libuv handle of a listening server.
class UrlHandle {
  #referenced = false
  #server

  /** @param {any} server @param {string} address @param {number} port */
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
 * Registers what a server is to listen on: everything, or nothing.
 *
 * @param {any} server
 * @param {Plan} plan
 * @returns {UrlHandle}
 * @throws what listen() is to emit
 */
function openUrls (server, { endpoints: [{ host, port }], prefixes, isPlain }) {
  const listener = server[kListener]
  if (listener.sharing.queueName !== '') throw new UrlSharingError('queueName')
  const { native } = listener.open()
  const at = port || freePort(host)
  /** @type {number[]} */
  const registered = []
  for (const { id, text } of prefixes) {
    const url = isPlain && port === 0 ? text.replace(/:0\/$/, `:${at}/`) : text
    const status = native.addUrl(listener.id, id, url)
    if (status === 0) {
      registered.push(id)
      continue
    }
    for (const other of registered) native.removeUrl(listener.id, other)
    throw urlError(status, url, isPlain ? { address: host ?? '::', port: at } : undefined)
  }
  return new UrlHandle(server, host ?? '::', at)
}

// The system's server takes no port of its own choice.
/** @param {string | undefined} host @returns {number} one that nobody listens on */
function freePort (host) {
  const handle = createServerHandle(host ?? '0.0.0.0', 0, net.isIPv6(host ?? '') ? 6 : 4)
  if (typeof handle === 'number') throw listenError(handle, host ?? '::', 0)
  const address = /** @type {{ port?: number }} */ ({})
  const status = handle.getsockname(address)
  handle.close()
  if (status !== 0) throw listenError(status, host ?? '::', 0)
  return address.port ?? 0
}

/**
 * Registers a further prefix of a listening server.
 *
 * @param {any} server
 * @param {UrlPrefix} parsed
 * @param {number} id
 */
function addUrl (server, parsed, id) {
  const listener = server[kListener]
  // One that listens on a port is registered by that: its own prefix is there already.
  const status = listener.open().native.addUrl(listener.id, id, parsed.prefix)
  if (status !== 0) throw urlError(status, parsed.prefix)
}

module.exports = { UrlHandle, addUrl, openUrls }
