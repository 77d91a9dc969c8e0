'use strict'

const { UpgradeRouter } = require('./upgrade-router')
const { internals } = require('@httpsys/core-native')

/** @typedef {import('../types').UpgradeHandler} UpgradeHandler */
/** @typedef {import('node:http').Server} Server */

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
  const server = 'server' in adapterOrServer ? adapterOrServer.server : adapterOrServer
  if (typeof server?.on !== 'function') {
    throw invalid('TYPE', 'The "adapterOrServer" argument must be an adapter or an http.Server')
  }
  const router = UpgradeRouter.of(server)
  const isWhole = !prefix.startsWith('/')
  const path = isWhole ? internals.parseUrlPrefix(prefix).path : prefix
  const remove = router.add({ path: path.endsWith('/') ? path : `${path}/`, isWhole, handler: webSocketServer })
  const detach = () => {
    webSocketServer.removeListener('close', detach)
    remove()
  }
  webSocketServer.once('close', detach)
  return detach
}

/** @param {'TYPE' | 'VALUE'} kind @param {string} message */
function invalid (kind, message) {
  return Object.assign(new TypeError(message), { code: `ERR_INVALID_ARG_${kind}` })
}

module.exports = { attach }
