'use strict'

// Undocumented functions and symbols of Node, and tests of its behaviour, mostly made when the package
// loads. types/node-internals.d.ts is the inventory; private-members.js has the names of members.

const { AsyncLocalStorage, AsyncResource } = require('node:async_hooks')
// Cast: the module itself is the Cluster object, but its types say that only of the default export.
const cluster = /** @type {import('node:cluster').Cluster} */ (/** @type {unknown} */ (require('node:cluster')))
const http = require('node:http')
const { Buffer } = require('node:buffer')
const net = require('node:net')
const { Duplex } = require('node:stream')
const { InternalsError } = require('../base/errors')
const { hideRequests } = require('./parser')
const { checkConnection, checkPrivateMembers, kTlsSettings } = require('./private-members')

/** @import { NodeInternals, PrivateResponse } from '../../types/node-internals' */

// Node's own class, read here because `register` replaces http.Server.
const { Server: StockServer } = http

/**
 * @template {symbol} S the symbol's type in types/node-internals.d.ts
 * @param {object} holder
 * @param {string} description
 * @param {string} where
 * @returns {S}
 */
function findSymbol (holder, description, where) {
  for (let o = holder; o !== null; o = Object.getPrototypeOf(o)) {
    const found = Object.getOwnPropertySymbols(o).find((s) => s.description === description)
    if (found !== undefined) return /** @type {S} */ (found)
  }
  throw new InternalsError(`Symbol(${description}) of ${where}`)
}

/** @template {symbol} S as in findSymbol() @param {object} holder @param {string} description @returns {S | null} null in versions without it */
function findOwnSymbol (holder, description) {
  return /** @type {S | undefined} */ (Object.getOwnPropertySymbols(holder)
    .find((s) => s.description === description)) ?? null
}

/**
 * @template F the method's type in types/node-internals.d.ts
 * @param {object} holder
 * @param {string} name
 * @param {string} where
 * @returns {F}
 */
function findMethod (holder, name, where) {
  /** @type {unknown} */
  const method = Reflect.get(holder, name)
  if (typeof method !== 'function') throw new InternalsError(`${where}.${name}`)
  return /** @type {F} */ (method)
}

// Returns a method of Node's for which we have a faster replacement; null if an application replaced the method before this
// package was loaded, because its own must then see every call.
/** @template F as in findMethod() @param {object} prototype of Node's class @param {string} name @param {RegExp} known matches Node's source @returns {F | null} */
function findStock (prototype, name, known) {
  /** @type {unknown} */
  const method = Reflect.get(prototype, name)
  return typeof method === 'function' && known.test(Function.prototype.toString.call(method)) ? /** @type {F} */ (method) : null
}

/** @returns {Duplex} a stream that a server accepts as a connection */
function unconnected () {
  const socket = new Duplex({ read () {}, write (_chunk, _encoding, callback) { callback() } })
  return socket.on('error', () => {})
}

// Whether closeIdleConnections() also closes connections without a request so far, as since Node 26. Tested with a
// server and a connection that never see the network.
function closesUnserved () {
  const server = http.createServer()
  const socket = unconnected()
  server.emit('listening')
  server.emit('connection', socket)
  server.closeIdleConnections()
  const closes = socket.destroyed
  socket.destroy()
  server.close(() => {})
  return closes
}

// Whether the end of a connection destroys responses that wait behind another one, as since Node 24. In older
// versions they stay as they were. Tested with a connection that never sees the network.
function destroysQueued () {
  /** @type {http.ServerResponse[]} */
  const responses = []
  const server = http.createServer((req, res) => responses.push(res))
  const socket = unconnected()
  server.emit('connection', socket)
  const request = Buffer.from('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
  for (let i = 0; i < 2; i++) socket.emit('data', request)
  socket.emit('close')
  socket.destroy()
  return responses[1]?.destroyed === true
}

// Whether a message with more headers than maxHeadersCount is refused, as in Node's releases of 2026. Older ones drop
// the surplus headers. Tested when the package loads, because later the application's hooks would see the parser.
function refusesManyHeaders () {
  let refuses = false
  const server = new StockServer()
  server.maxHeadersCount = 1
  server.on('clientError', () => { refuses = true })
  const socket = unconnected()
  server.emit('connection', socket)
  checkConnection(socket)
  hideRequests(socket)
  socket.emit('data', Buffer.from('GET / HTTP/1.1\r\nHost: a\r\nA: b\r\n\r\n'))
  socket.destroy()
  return refuses
}

/** @type {boolean | undefined} */
let areFrames

// Whether leaving an async scope undoes enterWith(), as since Node 24, which stores the value in a frame. In older
// versions the async resource keeps the value.
function contextsAreFrames () {
  if (areFrames !== undefined) return areFrames
  const storage = new AsyncLocalStorage()
  const resource = new AsyncResource('HTTPSYSPROBE', { requireManualDestroy: true })
  resource.runInAsyncScope(() => storage.enterWith(true))
  const stays = resource.runInAsyncScope(() => storage.getStore() === true)
  storage.disable()
  resource.emitDestroy()
  areFrames = !stays
  return areFrames
}

/**
 * Copies from one tls.Server to another the constructor's options that setSecureContext() does not set.
 *
 * @param {import('node:tls').Server} from
 * @param {import('node:tls').Server} to
 */
function copyTlsSettings (from, to) {
  for (const name of kTlsSettings) Reflect.set(to, name, Reflect.get(from, name))
  for (const symbol of [findSymbol(from, 'handshake-timeout', 'tls.Server'), findSymbol(from, 'snicallback', 'tls.Server')]) {
    Reflect.set(to, symbol, Reflect.get(from, symbol))
  }
}

/** Reads a setting for which a tls.Server has no public property. @template T @param {object} server @param {string} description of its symbol @returns {T} */
function tlsSetting (server, description) {
  return Reflect.get(server, findSymbol(server, description, 'tls.Server'))
}

/** @returns {NodeInternals} */
function collect () {
  // The constructor of IncomingMessage reads only this property of a socket.
  const request = new http.IncomingMessage(/** @type {net.Socket} */ ({ readableHighWaterMark: 16384 }))
  const response = new http.ServerResponse(request)
  const server = http.createServer()
  checkPrivateMembers(request, response, server)
  const { _tickCallback: tickCallback } = /** @type {NodeJS.Process & { _tickCallback?: () => void }} */ (process)
  return {
    kNeedDrain: findSymbol(response, 'kNeedDrain', 'http.ServerResponse'),
    kOutHeaders: findSymbol(response, 'kOutHeaders', 'http.ServerResponse'),
    kCorked: findSymbol(response, 'corked', 'http.ServerResponse'),
    kWritableFinished: findOwnSymbol(response, 'kWritableFinished'),
    kEndCallbacks: findOwnSymbol(response, 'kEndCallbacks'),
    kDetachAbortSignal: findOwnSymbol(http.IncomingMessage.prototype, 'kDetachAbortSignal'),
    kRejectNonStandardBodyWrites: findSymbol(response, 'kRejectNonStandardBodyWrites', 'http.ServerResponse'),
    kOutgoingUniqueHeaders: findSymbol(server, 'kUniqueHeaders', 'http.Server'),
    kOptimizeEmptyRequests: findOwnSymbol(server, 'OptimizeEmptyRequestsOption'),
    kShapeMode: findOwnSymbol(response, 'shapeMode'),
    isLenientHeaderValidation: /** @type {Partial<Pick<PrivateResponse, '_isLenientHeaderValidation'>>} */ (
      http.OutgoingMessage.prototype
    )._isLenientHeaderValidation ?? null,
    setHeader: findStock(http.OutgoingMessage.prototype, 'setHeader', /ERR_HTTP_HEADERS_SENT/),
    write: findStock(http.OutgoingMessage.prototype, 'write', /write_\(/),
    end: findStock(http.OutgoingMessage.prototype, 'end', /ERR_STREAM_WRITE_AFTER_END/),
    addHeaderLine: findStock(http.IncomingMessage.prototype, '_addHeaderLine', /matchKnownFields|joinDuplicateHeaders/),
    knowsHttpValidation: 'httpValidation' in server,
    closesUnserved,
    destroysQueued,
    refusesManyHeaders: refusesManyHeaders(),
    contextsAreFrames,
    copyTlsSettings,
    // Whether `maxConnections` 0 allows no connection. Decided by version number, because a test would need a real connection.
    zeroIsALimit: Number(process.versions.node.split('.')[0]) >= 21,
    handshakeTimeoutOf: (server) => tlsSetting(server, 'handshake-timeout'),
    sniCallbackOf: (server) => tlsSetting(server, 'snicallback'),
    connectionListener: findMethod(http, '_connectionListener', 'http'),
    createServerHandle: findMethod(net, '_createServerHandle', 'net'),
    queryPrimary: cluster.isWorker ? findMethod(cluster, '_getServer', 'cluster') : null,
    // Runs the nextTick queue and the microtasks, as Node does between two timers. If null, native code opens a callback
    // scope for every record instead.
    drainTicks: typeof tickCallback === 'function' ? tickCallback : null
  }
}

module.exports = collect()
