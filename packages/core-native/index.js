'use strict'

// The drop-in replacement for node:http: exports everything that node:http exports, with servers on the engine.
//   const http = require('@httpsys/core-native')   // was: require('node:http')

const http = require('node:http')
const nodeHttps = require('node:https')
const { OptionError, WsInternalsError, variableMustBe } = require('./lib/base/errors')
const { checkRuntime } = require('./lib/base/runtime')
const { warnOfUnknownVariables } = require('./lib/options/variables')

// HTTPSYS_BACKEND=node chooses stock Node, with which every test suite compares the engine.
const backend = process.env.HTTPSYS_BACKEND || 'engine'
if (backend !== 'node' && backend !== 'engine') {
  throw variableMustBe('HTTPSYS_BACKEND', backend, '"engine" or "node"')
}
checkRuntime(backend)
warnOfUnknownVariables()
const { Server, createServer } = backend === 'node' ? require('./lib/listen/stock-server') : require('./lib/listen/server')
const https = backend === 'node' ? require('./lib/listen/stock-server').https : require('./lib/listen/https-server')
const { EngineIncomingMessage } = require('./lib/http/incoming')
const { EngineServerResponse } = require('./lib/http/outgoing')
const R = require('./lib/records/records')
const { shrinkListeners } = require('./lib/node-private/emitter')
const { nodeProcess } = require('./lib/node-private/node-process')
const { hasHandle } = require('./lib/node-private/server')
const { withInherited } = require('./lib/options/given-options')
const { kNodeServerOptions, kServerOptions, refuseMisplaced, refuseMisspelt, refuseUnknown } = require('./lib/options/option-names')
const { webSocketOpener } = backend === 'node' ? { webSocketOpener: () => () => null } : require('./lib/websocket/web-socket-channel')
const { flushCache, setCachePolicy } = backend === 'node' ? require('./lib/listen/stock-server') : require('./lib/listen/output-cache')
const { AlignedPrototypes } = require('./lib/http/aligned-prototypes')
const { sendFile } = require('./lib/http/send-file')
const { kAdapterTls, kTlsOptions, splitOptions } = require('./lib/options/tls-options')
const { matchesPath, parsePath, parseUrlPrefix } = require('./lib/prefixes/url-prefix')

/**
 * Copies the properties of a module without reading them: some are getters, which load the export (such as WebSocket) when first read, or
 * follow a setting.
 *
 * @template {object} M
 * @param {M} module
 * @returns {M} with the same exports
 */
function copyOf (module) {
  return /** @type {M} */ (Object.defineProperties({}, Object.getOwnPropertyDescriptors(module)))
}

module.exports = Object.assign(copyOf(http), {
  Server,
  createServer,
  flushCache,
  sendFile,
  setCachePolicy,
  https: Object.defineProperties(Object.assign(copyOf(nodeHttps), { Server: https.Server, createServer: https.createServer }), {
    globalAgent: {
      configurable: true,
      enumerable: true,
      get: () => nodeHttps.globalAgent,
      /** @param {nodeHttps.Agent} agent */
      set (agent) { nodeHttps.globalAgent = agent }
    }
  }),
  backend,
  internals: {
    IncomingMessage: backend === 'node' ? http.IncomingMessage : EngineIncomingMessage,
    ServerResponse: backend === 'node' ? http.ServerResponse : EngineServerResponse,
    AlignedPrototypes,
    OptionError,
    hasHandle,
    frames: { kFrameFin: R.kFrameFin, kFrameCompress: R.kFrameCompress },
    kAdapterTls,
    kNodeServerOptions,
    kServerOptions,
    kTlsOptions,
    matchesPath,
    nodeProcess,
    parsePath,
    parseUrlPrefix,
    refuseMisplaced,
    refuseMisspelt,
    refuseUnknown,
    shrinkListeners,
    splitOptions,
    webSocketOpener,
    withInherited,
    WsInternalsError
  }
})
