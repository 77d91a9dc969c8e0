'use strict'

// The servers that must come to the same verdicts. The first one is the reference.

const nodeHttp = require('node:http')
const ws = require('ws')
const fast = require('@httpsys/websocket')
const { http } = require('../../../helpers/backend')

/** @typedef {{ name: string, createServer: () => import('node:http').Server, WebSocketServer: any }} Column */

/** @type {Column[]} */
const kColumns = [
  { name: 'ws on node:http', createServer: () => nodeHttp.createServer(), WebSocketServer: ws.WebSocketServer },
  { name: 'ws on the engine', createServer: () => http.createServer(), WebSocketServer: ws.WebSocketServer },
  { name: 'the fast path', createServer: () => http.createServer(), WebSocketServer: /** @type {any} */ (fast).WebSocketServer },
].filter(({ WebSocketServer }) => WebSocketServer !== undefined)

/** @param {string} name @returns {Column} */
function column (name) {
  const found = kColumns.find((each) => each.name === name)
  if (found === undefined) throw new Error(`no column ${name}`)
  return found
}

module.exports = { column, kColumns }
