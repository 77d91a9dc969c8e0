'use strict'

// Functions for the undocumented members of http.Server and net.Server, named by what each member is for.

const http = require('node:http')

/** @typedef {import('../../types/node-internals').ListenHandle} ListenHandle */
/** @typedef {import('../../types/node-internals').PrivateServer} PrivateServer */

/** @param {PrivateServer} server @returns {ListenHandle | null | undefined} the handle on which it listens; null or undefined: it does not listen */
function handleOf (server) {
  return server._handle
}

/** @param {PrivateServer} server @param {ListenHandle | null} handle on which it listens; null: it does not listen */
function setHandle (server, handle) {
  server._handle = handle
}

/** @param {{ _handle?: unknown, handle?: unknown }} options of listen() @returns {boolean} whether the "options" are a server, a socket or a handle */
function hasHandle (options) {
  return Boolean(options._handle || options.handle)
}

/** @param {PrivateServer} server @returns {number} number of its open connections */
function connectionsOf (server) {
  return server._connections
}

/** Counts an opened connection. @param {PrivateServer} server */
function countConnection (server) {
  server._connections++
}

/** Counts a closed connection. @param {PrivateServer} server */
function uncountConnection (server) {
  server._connections--
}

/** @param {PrivateServer} server @returns {number} the high-water mark of its connections, bytes */
function highWaterMarkOf (server) {
  return server.highWaterMark
}

/** @param {PrivateServer} server @returns {boolean | undefined} whether a connection stays open for sending after its client has ended its side */
function allowsHalfOpen (server) {
  return server.httpAllowHalfOpen
}

/** @param {PrivateServer} server @returns {boolean} whether it is an error to write a body to a response that must not have one */
function rejectsBodyWrites (server) {
  return server.rejectNonStandardBodyWrites
}

/** @param {PrivateServer} server @returns {boolean} whether a request of HTTP/1.1 without Host is refused */
function requiresHost (server) {
  return server.requireHostHeader
}

/** @param {PrivateServer} server @returns {boolean} whether repeated lines of a header that may come only once are joined */
function joinsDuplicates (server) {
  return Boolean(server.joinDuplicateHeaders)
}

/** @template {PrivateServer} S @param {S} server @returns {server is S & Required<Pick<PrivateServer, 'shouldUpgradeCallback'>>} whether it has a callback that accepts or ignores upgrades; since Node 22.21 */
function decidesUpgrades (server) {
  return typeof server.shouldUpgradeCallback === 'function'
}

/** @param {Required<Pick<PrivateServer, 'shouldUpgradeCallback'>>} server for which decidesUpgrades() is true @param {import('node:http').IncomingMessage} req @returns {boolean} whether it accepts the upgrade */
function acceptsUpgrade (server, req) {
  return Boolean(server.shouldUpgradeCallback(req))
}

/** @param {PrivateServer} server @returns {number} time between two checks of headersTimeout and requestTimeout, ms */
function checkingIntervalOf (server) {
  return server.connectionsCheckingInterval
}

/**
 * Reads the options of createServer() that the lanes need from the server's properties, which the application may have changed.
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

/** @param {PrivateServer} server @returns {number | undefined} its limit for a request's head, bytes; undefined or 0: the process's */
function headerSizeOf (server) {
  return server.maxHeaderSize
}

/** @param {Pick<PrivateServer, 'httpValidation' | 'insecureHTTPParser'>} server */
function leniencyOf ({ httpValidation, insecureHTTPParser }) {
  return { httpValidation, insecureHTTPParser }
}

/** Emits 'close' if the server no longer listens and has no connections. @param {PrivateServer} server */
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
