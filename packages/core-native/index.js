'use strict'

// The drop-in face: everything that node:http exports, with servers on the engine.
//   const http = require('@httpsys/core-native')   // was: require('node:http')

const http = require('node:http')
const nodeHttps = require('node:https')
const { EnvironmentError, OptionError, WsInternalsError } = require('./lib/errors')
const { checkRuntime } = require('./lib/runtime')

// HTTPSYS_BACKEND=node chooses stock Node explicitly; it is the reference column of every suite.
const backend = process.env.HTTPSYS_BACKEND || 'engine'
if (backend !== 'node' && backend !== 'engine') {
  throw new EnvironmentError('HTTPSYS_BACKEND', backend, '"engine" or "node"')
}
if (backend === 'engine') checkRuntime()
const { Server, createServer } = backend === 'node' ? require('./lib/http/stock-server') : require('./lib/http/server')
const https = backend === 'node' ? require('./lib/http/stock-https-server') : require('./lib/http/https-server')
const { EngineIncomingMessage } = require('./lib/http/incoming')
const { EngineServerResponse } = require('./lib/http/outgoing')
const R = require('./lib/records')
const { nodeProcess } = require('./lib/node-process')
const { withInherited } = require('./lib/given-options')
const { kServerOptions } = require('./lib/options')
const { refuseMisplaced, refuseMisspelt, refuseUnknown } = require('./lib/option-names')
const { webSocketOpener } = backend === 'node' ? { webSocketOpener: () => () => null } : require('./lib/http/web-socket-channel')
const { flushCache, setCachePolicy } = backend === 'node' ? require('./lib/http/stock-cache') : require('./lib/http/kernel-cache')
const { sendFile } = require('./lib/http/send-file')
const { kAdapterTls } = require('./lib/http/symbols')
const { kTlsOptions, splitOptions } = require('./lib/tls/options')
const { matchesPath, parseUrlPrefix } = require('./lib/url-prefix')

const face = {
  ...http,
  Server,
  createServer,
  flushCache,
  sendFile,
  setCachePolicy,
  https: Object.defineProperties({ ...nodeHttps, Server: https.Server, createServer: https.createServer }, {
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
    OptionError,
    frames: { kFrameFin: R.kFrameFin, kFrameCompress: R.kFrameCompress },
    kAdapterTls,
    kServerOptions,
    kTlsOptions,
    matchesPath,
    nodeProcess,
    parseUrlPrefix,
    refuseMisplaced,
    refuseMisspelt,
    refuseUnknown,
    splitOptions,
    webSocketOpener,
    withInherited,
    WsInternalsError
  }
}

// Accessors of node:http; copies would not follow the setting.
module.exports = Object.defineProperties(face, {
  maxHeaderSize: { configurable: true, enumerable: true, get: () => http.maxHeaderSize },
  globalAgent: {
    configurable: true,
    enumerable: true,
    get: () => http.globalAgent,
    /** @param {http.Agent} agent */
    set (agent) { http.globalAgent = agent }
  }
})
