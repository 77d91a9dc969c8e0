'use strict'

// Loaded before a suite that knows only http: its servers get TLS. supertest sees from the class of a server which
// scheme to use; requests by http itself go where their server is. Nothing else of the suite is changed.

const http = require('node:http')
const { syncBuiltinESMExports } = require('node:module')
const { https } = /** @type {any} */ (require('@httpsys/core-native'))

process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0'
process.removeAllListeners('warning')

const kDev = { devCert: true }

/** Of these servers. */
const ports = new Set()

/** @param {any} [options] @param {any} [listener] */
function createServer (options, listener) {
  const server = typeof options === 'function' ? https.createServer(kDev, options) : https.createServer({ ...kDev, ...options }, listener)
  return server.on('listening', () => ports.add(server.address()?.port))
}

// Clients that have no scheme of their own.
const { request } = http
/** @param {any} options @param {...any} rest */
function requestOf (options, ...rest) {
  return (ports.has(options?.port) ? https.request : request)(options, ...rest)
}

// Programs ask whether something is a server of http.
Object.defineProperty(http, 'Server', { value: https.Server, writable: true, configurable: true, enumerable: true })
Object.defineProperty(http, 'createServer', { value: createServer, writable: true, configurable: true, enumerable: true })
Object.defineProperty(http, 'request', { value: requestOf, writable: true, configurable: true, enumerable: true })
syncBuiltinESMExports()
