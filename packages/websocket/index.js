'use strict'

// Exports the same as `require('ws')`: the WebSocket class, with all other exports as properties. The frames of servers are
// read and written on the I/O threads.

const ws = require('ws')
const { attach } = require('./lib/attach')
const { NativeWebSocket } = require('./lib/native-websocket')
const { WebSocketServer } = require('./lib/websocket-server')

const names = ['createWebSocketStream', 'extension', 'PerMessageDeflate', 'Receiver', 'Sender', 'subprotocol']

module.exports = Object.assign(NativeWebSocket, Object.fromEntries(names.map((name) => [name, /** @type {any} */ (ws)[name]])), {
  attach,
  Server: WebSocketServer,
  WebSocket: NativeWebSocket,
  WebSocketServer
})
