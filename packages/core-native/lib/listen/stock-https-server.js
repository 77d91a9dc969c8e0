'use strict'

// HTTPSYS_BACKEND=node: node:https itself, which only learns to listen on URL prefixes.

const https = require('node:https')
const { derive } = require('./stock-server')

const Server = derive(https.Server)

/** @param {any} [options] @param {any} [requestListener] @returns {https.Server} */
function createServer (options, requestListener) {
  return new Server(options, requestListener)
}

module.exports = { Server, createServer }
