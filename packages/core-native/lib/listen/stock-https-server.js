'use strict'

// The https.Server for HTTPSYS_BACKEND=node: Node's own class, extended only by listening on URL prefixes.

const https = require('node:https')
const { derive } = require('./stock-server')

/** @import { RequestListener } from 'node:http' */

const Server = derive(/** @type {import('./stock-server').ServerClass} */ (https.Server))

/** @param {import('./stock-server').ServerOptions | RequestListener} [options] @param {RequestListener} [requestListener] @returns {https.Server} */
function createServer (options, requestListener) {
  return /** @type {https.Server} */ (new Server(options, requestListener))
}

module.exports = { Server, createServer }
