'use strict'

// Functions for the undocumented members of http.Server and net.Server, named by what each member is for.

const http = require('node:http')

/** @import { ListenHandle, PrivateServer } from '../../types/node-internals' */

module.exports = {
  /** @param {PrivateServer} server @returns {ListenHandle | null | undefined} the handle on which it listens; null or undefined: it does not listen */
  handleOf: (server) => server._handle,
  /** @param {PrivateServer} server @param {ListenHandle | null} handle on which it listens; null: it does not listen */
  setHandle: (server, handle) => { server._handle = handle },
  /** @param {{ _handle?: unknown, handle?: unknown }} options of listen() @returns {boolean} whether the "options" are a server, a socket or a handle */
  hasHandle: (options) => Boolean(options._handle || options.handle),
  /** @param {PrivateServer} server @returns {number} number of its open connections */
  connectionsOf: (server) => server._connections,
  /** Counts an opened connection. @param {PrivateServer} server */
  countConnection: (server) => { server._connections++ },
  /** Counts a closed connection. @param {PrivateServer} server */
  uncountConnection: (server) => { server._connections-- },
  /** @param {PrivateServer} server @returns {number} the high-water mark of its connections, bytes */
  highWaterMarkOf: (server) => server.highWaterMark,
  /** @param {PrivateServer} server @returns {boolean | undefined} whether a connection stays open for sending after its client has ended its side */
  allowsHalfOpen: (server) => server.httpAllowHalfOpen,
  /** @param {PrivateServer} server @returns {boolean} whether it is an error to write a body to a response that must not have one */
  rejectsBodyWrites: (server) => server.rejectNonStandardBodyWrites,
  /** @param {PrivateServer} server @returns {boolean} whether a request of HTTP/1.1 without Host is refused */
  requiresHost: (server) => server.requireHostHeader,
  /** @param {PrivateServer} server @returns {boolean} whether repeated lines of a header that may come only once are joined */
  joinsDuplicates: (server) => Boolean(server.joinDuplicateHeaders),
  /** @template {PrivateServer} S @param {S} server @returns {server is S & Required<Pick<PrivateServer, 'shouldUpgradeCallback'>>} whether it has a callback that accepts or ignores upgrades; since Node 22.21 */
  decidesUpgrades: (server) => typeof server.shouldUpgradeCallback === 'function',
  /** @param {Required<Pick<PrivateServer, 'shouldUpgradeCallback'>>} server for which decidesUpgrades() is true @param {import('node:http').IncomingMessage} req @returns {boolean} whether it accepts the upgrade */
  acceptsUpgrade: (server, req) => Boolean(server.shouldUpgradeCallback(req)),
  /** @param {PrivateServer} server @returns {number} time between two checks of headersTimeout and requestTimeout, ms */
  checkingIntervalOf: (server) => server.connectionsCheckingInterval,

  /**
   * Reads the options of createServer() that the lanes need from the server's properties, which the application may have changed.
   *
   * @param {PrivateServer} server
   */
  connectionOptionsOf ({ maxHeaderSize, httpAllowHalfOpen, noDelay, keepAlive, keepAliveInitialDelay }) {
    return {
      maxHeaderSize: maxHeaderSize || http.maxHeaderSize,
      allowHalfOpen: Boolean(httpAllowHalfOpen),
      noDelay: noDelay !== false,
      keepAlive: Boolean(keepAlive),
      keepAliveInitialDelay: keepAliveInitialDelay || 0
    }
  },

  /** @param {PrivateServer} server @returns {number | undefined} its limit for a request's head, bytes; undefined or 0: the process's */
  headerSizeOf: (server) => server.maxHeaderSize,

  /** @param {Pick<PrivateServer, 'httpValidation' | 'insecureHTTPParser'>} server */
  leniencyOf ({ httpValidation, insecureHTTPParser }) {
    return { httpValidation, insecureHTTPParser }
  },

  /** Emits 'close' if the server no longer listens and has no connections. @param {PrivateServer} server */
  emitCloseIfDrained: (server) => { server._emitCloseIfDrained() }
}
