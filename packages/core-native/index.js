'use strict'

// The drop-in face: everything that node:http exports, with servers on the engine.
//   const http = require('@httpsys/core-native')   // was: require('node:http')

const http = require('node:http')

// HTTPSYS_BACKEND=node chooses stock Node explicitly; it is the reference column of every suite.
const backend = process.env.HTTPSYS_BACKEND === 'node' ? 'node' : 'engine'
const { Server, createServer } = backend === 'node' ? require('./lib/http/stock-server') : require('./lib/http/server')
const { EngineIncomingMessage } = require('./lib/http/incoming')
const { EngineServerResponse } = require('./lib/http/outgoing')

module.exports = {
  ...http,
  Server,
  createServer,
  backend,
  internals: {
    IncomingMessage: backend === 'node' ? http.IncomingMessage : EngineIncomingMessage,
    ServerResponse: backend === 'node' ? http.ServerResponse : EngineServerResponse
  }
}

// node:http has it as an accessor; a copy would not follow the setting.
Object.defineProperty(module.exports, 'maxHeaderSize', {
  configurable: true, enumerable: true, get: () => http.maxHeaderSize
})
Object.defineProperty(module.exports, 'globalAgent', {
  configurable: true, enumerable: true, get: () => http.globalAgent, set (agent) { http.globalAgent = agent }
})
