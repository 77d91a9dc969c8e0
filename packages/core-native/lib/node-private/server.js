'use strict'

// Functions for the undocumented members of http.Server and net.Server, named by what each member is for.

const http = require('node:http')

/** @typedef {import('../../types/node-internals').ListenHandle} ListenHandle */
/** @typedef {import('../../types/node-internals').PrivateServer} PrivateServer */

/** @param {PrivateServer} server @returns {ListenHandle | null | undefined} what it listens on; null or undefined: it does not listen */
function handleOf (server) {
  return server._handle
}

/** @param {PrivateServer} server @param {ListenHandle | null} handle what it listens on; null: it does not listen */
function setHandle (server, handle) {
  server._handle = handle
}

/** @param {{ _handle?: unknown, handle?: unknown }} options of listen() @returns {boolean} whether they are a server, a socket or a handle, whose properties are no options */
function hasHandle (options) {
  return Boolean(options._handle || options.handle)
}

/** @param {PrivateServer} server @returns {number} its open connections */
function connectionsOf (server) {
  return server._connections
}

/** @param {PrivateServer} server that has one connection more */
function countConnection (server) {
  server._connections++
}

/** @param {PrivateServer} server that has one connection less */
function uncountConnection (server) {
  server._connections--
}

/** @param {PrivateServer} server @returns {number} the high-water mark of its connections, bytes */
function highWaterMarkOf (server) {
  return server.highWaterMark
}

/** @param {PrivateServer} server @returns {boolean | undefined} whether a connection stays open that its client has ended */
function allowsHalfOpen (server) {
  return server.httpAllowHalfOpen
}

/** @param {PrivateServer} server @returns {boolean} whether a body that is written where none is allowed is an error */
function rejectsBodyWrites (server) {
  return server.rejectNonStandardBodyWrites
}

/** @param {PrivateServer} server @returns {boolean} whether a request of HTTP/1.1 without Host is refused */
function requiresHost (server) {
  return server.requireHostHeader
}

/** @param {PrivateServer} server @returns {boolean} whether the lines of a header that may come once are joined */
function joinsDuplicates (server) {
  return Boolean(server.joinDuplicateHeaders)
}

/** @template {PrivateServer} S @param {S} server @returns {server is S & Required<Pick<PrivateServer, 'shouldUpgradeCallback'>>} whether it decides itself about upgrades, as Node does since 22.21 */
function decidesUpgrades (server) {
  return typeof server.shouldUpgradeCallback === 'function'
}

/** @param {Required<Pick<PrivateServer, 'shouldUpgradeCallback'>>} server that decides @param {import('node:http').IncomingMessage} req @returns {boolean} whether it accepts the upgrade */
function acceptsUpgrade (server, req) {
  return Boolean(server.shouldUpgradeCallback(req))
}

/** @param {PrivateServer} server @returns {number} time between two checks of headersTimeout and requestTimeout, ms */
function checkingIntervalOf (server) {
  return server.connectionsCheckingInterval
}

/**
 * The options of createServer() that lanes need, as the server keeps them: they may have been changed since.
 *
 * @param {PrivateServer} server
 */
function connectionOptionsOf ({ maxHeaderSize, httpAllowHalfOpen, noDelay, keepAlive, keepAliveInitialDelay }) {
  return {
    maxHeaderSize: maxHeaderSize || http.maxHeaderSize,
    allowHalfOpen: Boolean(httpAllowHalfOpen),
    noDelay: noDelay !== false,
    keepAlive: Boolean(keepAlive),
    keepAliveInitialDelay: keepAliveInitialDelay || 0
  }
}

/** @param {PrivateServer} server @returns {number | undefined} its own limit of a request's head, bytes */
function headerSizeOf (server) {
  return server.maxHeaderSize
}

/** @param {Pick<PrivateServer, 'httpValidation' | 'insecureHTTPParser'>} server */
function leniencyOf ({ httpValidation, insecureHTTPParser }) {
  return { httpValidation, insecureHTTPParser }
}

/** Emits 'close' when it does not listen and has no connections any more. @param {PrivateServer} server */
function emitCloseIfDrained (server) {
  server._emitCloseIfDrained()
}

module.exports = {
  acceptsUpgrade,
  allowsHalfOpen,
  checkingIntervalOf,
  connectionOptionsOf,
  connectionsOf,
  countConnection,
  decidesUpgrades,
  emitCloseIfDrained,
  handleOf,
  hasHandle,
  headerSizeOf,
  highWaterMarkOf,
  joinsDuplicates,
  leniencyOf,
  rejectsBodyWrites,
  requiresHost,
  setHandle,
  uncountConnection
}
