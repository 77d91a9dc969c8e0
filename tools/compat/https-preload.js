'use strict'

// Loaded before a suite that knows only http: its servers get TLS. supertest sees from the class of a server which
// scheme to use; nothing else of the suite is changed.

const http = require('node:http')
const { syncBuiltinESMExports } = require('node:module')
const { https } = /** @type {any} */ (require('@httpsys/core-native'))

process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0'
process.removeAllListeners('warning')

const kDev = { devCert: true }

/** @param {any} [options] @param {any} [listener] */
function createServer (options, listener) {
  return typeof options === 'function' ? https.createServer(kDev, options) : https.createServer({ ...kDev, ...options }, listener)
}

Object.defineProperty(http, 'createServer', { value: createServer, writable: true, configurable: true, enumerable: true })
syncBuiltinESMExports()
