'use strict'

// Functions for the undocumented members of http.Server and net.Server, named by what each member is for.

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

/** Emits 'close' when it does not listen and has no connections any more. @param {PrivateServer} server */
function emitCloseIfDrained (server) {
  server._emitCloseIfDrained()
}

module.exports = { connectionsOf, countConnection, emitCloseIfDrained, handleOf, hasHandle, setHandle, uncountConnection }
