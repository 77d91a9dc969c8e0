'use strict'

// The servers that are compared.

/**
 * @typedef {object} Side
 * @property {string} what
 * @property {() => { createServer: () => import('node:http').Server, WebSocketServer: any }} load
 */

/** The reference: what everything is divided by. */
const kReference = 'ws, node:http'

/** @type {Record<string, Side>} */
const kSides = {
  [kReference]: {
    what: 'ws, unmodified, on node:http',
    load: () => ({ createServer: () => require('node:http').createServer(), WebSocketServer: require('ws').WebSocketServer }),
  },
  'ws, httpsys': {
    what: 'ws, unmodified, on @httpsys/core-native',
    load: () => ({ createServer: () => require('@httpsys/core-native').createServer(), WebSocketServer: require('ws').WebSocketServer }),
  },
  '@httpsys/websocket': {
    what: 'the WebSocketServer of @httpsys/websocket, same program',
    load: () => ({
      createServer: () => require('@httpsys/core-native').createServer(),
      WebSocketServer: /** @type {any} */ (require('@httpsys/websocket')).WebSocketServer,
    }),
  },
}

/** The row of benchmarks/websocket/floor.cc. */
const kFloor = 'floor'

module.exports = { kFloor, kReference, kSides }
