'use strict'

// The servers that must come to the same verdicts. The first one is the reference.

const nodeHttp = require('node:http')
const ws = require('ws')
const fast = require('@httpsys/websocket')
const { http } = require('../../../helpers/backend')
const { kIsThorough } = require('../../../helpers/thorough')

/**
 * @typedef {object} Column
 * @property {string} name
 * @property {() => import('node:http').Server} createServer
 * @property {any} WebSocketServer
 * @property {boolean} [pongsOvertake] a ping is answered by the I/O thread, before what JavaScript answers to messages
 *   that came with it (pong-by-the-lane in docs/compatibility.md)
 */

/** @type {Column[]} */
const kColumns = [
  { name: 'ws on node:http', createServer: () => nodeHttp.createServer(), WebSocketServer: ws.WebSocketServer },
  { name: 'ws on the engine', createServer: () => http.createServer(), WebSocketServer: ws.WebSocketServer },
  { name: 'the fast path', createServer: () => http.createServer(), WebSocketServer: /** @type {any} */ (fast).WebSocketServer, pongsOvertake: true },
].filter(({ WebSocketServer }) => WebSocketServer !== undefined)

/** Where they are not compared with each other, the reference only shows that a test is right. */
const kTried = kIsThorough ? kColumns : kColumns.slice(1)

/** @param {string} name @returns {Column} */
function column (name) {
  const found = kColumns.find((each) => each.name === name)
  if (found === undefined) throw new Error(`no column ${name}`)
  return found
}

module.exports = { column, kColumns, kTried }
