'use strict'

const net = require('node:net')
const { UpgradeRouter } = require('./upgrade-router')
const { internals } = require('@httpsys/core-native')

/** @import { UpgradeHandler } from '../types' */
/** @import { Server } from 'node:http' */

/**
 * @param {UpgradeHandler} webSocketServer
 * @param {Server | { readonly server: Server }} adapterOrServer
 * @param {string} [prefix]
 */
function attach (webSocketServer, adapterOrServer, prefix = '/') {
  if (typeof webSocketServer?.handleUpgrade !== 'function') {
    throw invalid('TYPE', 'The "webSocketServer" argument must be a WebSocketServer of the ws package')
  }
  if (webSocketServer.options !== undefined && webSocketServer.options.noServer !== true) {
    throw invalid('VALUE', 'The WebSocketServer has a server of its own; make it with { noServer: true }')
  }
  if (typeof prefix !== 'string') throw invalid('TYPE', `The "prefix" argument must be of type string. Received ${nameOf(prefix)}`)
  const isWhole = prefix.includes('://')
  const path = isWhole ? internals.parseUrlPrefix(prefix).path : internals.parsePath(prefix)
  const router = UpgradeRouter.of(serverOf(adapterOrServer))
  const remove = router.add({ path, isWhole, handler: webSocketServer })
  const detach = () => {
    webSocketServer.removeListener('close', detach)
    remove()
  }
  webSocketServer.once('close', detach)
  return detach
}

/** @param {unknown} given an adapter, or a server @returns {Server} @throws ERR_INVALID_ARG_TYPE */
function serverOf (given) {
  const server = given instanceof net.Server
    ? given
    : /** @type {{ server?: unknown } | null | undefined} */ (given)?.server
  if (server instanceof net.Server) return /** @type {Server} */ (server)
  // An application of Express is refused: it has the methods of an EventEmitter, too, but never emits 'upgrade'.
  throw invalid('TYPE', typeof given === 'function'
    ? 'The "adapterOrServer" argument is an application; give the adapter, or what listen() returned'
    : `The "adapterOrServer" argument must be an adapter or an http.Server. Received ${nameOf(given)}`)
}

/** @param {unknown} value */
function nameOf (value) {
  return value === null || value === undefined ? String(value) : `type ${typeof value}`
}

/** @param {'TYPE' | 'VALUE'} kind @param {string} message */
function invalid (kind, message) {
  return Object.assign(new TypeError(message), { code: `ERR_INVALID_ARG_${kind}` })
}

module.exports = { attach }
