'use strict'

// Undocumented functions and symbols of Node, and answers to how it behaves. Each is looked for when the package
// loads. types/node-internals.d.ts is the inventory; private-members.js has the names of members.

const { AsyncLocalStorage, AsyncResource } = require('node:async_hooks')
// The module itself is the object, which its types say of its default export alone.
const cluster = /** @type {import('node:cluster').Cluster} */ (/** @type {unknown} */ (require('node:cluster')))
const http = require('node:http')
const { Buffer } = require('node:buffer')
const net = require('node:net')
const { Duplex } = require('node:stream')
const { InternalsError } = require('../base/errors')
const { hideRequests } = require('./parser')
const { checkConnection, checkPrivateMembers, kTlsSettings } = require('./private-members')

/** @typedef {import('../../types/node-internals').NodeInternals} NodeInternals */

// `register` replaces it.
const { Server: StockServer } = http

/**
 * @template {symbol} S the one that types/node-internals.d.ts has for it
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

/** @template {symbol} S as above @param {object} holder @param {string} description @returns {S | null} null in versions without it */
function findOwnSymbol (holder, description) {
  return /** @type {S | undefined} */ (Object.getOwnPropertySymbols(holder).find((s) => s.description === description)) ?? null
}

/**
 * @template F what types/node-internals.d.ts says of it
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

// A method for which there is a shorter way, unless somebody has put his own in its place before this package was
// loaded: he wants to see every call.
/** @template F as above @param {object} prototype of Node's class @param {string} name @param {RegExp} known to be in Node's source @returns {F | null} */
function findStock (prototype, name, known) {
  /** @type {unknown} */
  const method = Reflect.get(prototype, name)
  return typeof method === 'function' && known.test(Function.prototype.toString.call(method)) ? /** @type {F} */ (method) : null
}

/** @returns {Duplex} what a server takes for a connection */
function unconnected () {
  const socket = new Duplex({ read () {}, write (_chunk, _encoding, callback) { callback() } })
  return socket.on('error', () => {})
}

// Node 26 counts connections without a request so far as idle. Asked of a server and a connection that
// never see the network.
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

// Node 24 destroys responses whose turn had not come when the connection closes; before, they never
// hear of it. Asked in the same way.
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

// Releases of 2026 refuse a message with more headers than maxHeadersCount; before, those were left out. Asked
// when the package loads: hooks of the application would see the parser.
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

// Node 24 keeps what enterWith() sets in a frame, which leaving a scope takes back; before, the async
// resource has it.
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
 * Gives a tls.Server what another one was created with and setSecureContext() does not set.
 *
 * @param {import('node:tls').Server} from
 * @param {import('node:tls').Server} to
 */
function copyTlsSettings (from, to) {
  for (const name of kTlsSettings) Reflect.set(to, name, Reflect.get(from, name))
  for (const description of ['handshake-timeout', 'snicallback']) {
    const symbol = findOwnSymbol(from, description)
    if (symbol === null) throw new InternalsError(`Symbol(${description}) of tls.Server`)
    Reflect.set(to, symbol, Reflect.get(from, symbol))
  }
}

// Finds a member by the description of its symbol: Node has no public name for these settings of a tls.Server.
/** @template T of the setting @param {object} server @param {string} description @returns {T} */
function tlsSetting (server, description) {
  const symbol = findOwnSymbol(server, description)
  if (symbol === null) throw new InternalsError(`Symbol(${description}) of tls.Server`)
  return /** @type {T} */ (Reflect.get(server, symbol))
}

/** @returns {NodeInternals} */
function collect () {
  // All that the constructor reads of a socket.
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
    isLenientHeaderValidation: /** @type {Partial<Pick<import('../../types/node-internals').PrivateResponse, '_isLenientHeaderValidation'>>} */ (http.OutgoingMessage.prototype)._isLenientHeaderValidation ?? null,
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
    // Nothing can be asked for it but a connection.
    zeroIsALimit: Number(process.versions.node.split('.')[0]) >= 21,
    handshakeTimeoutOf: (server) => tlsSetting(server, 'handshake-timeout'),
    sniCallbackOf: (server) => tlsSetting(server, 'snicallback'),
    connectionListener: findMethod(http, '_connectionListener', 'http'),
    createServerHandle: findMethod(net, '_createServerHandle', 'net'),
    queryPrimary: cluster.isWorker ? findMethod(cluster, '_getServer', 'cluster') : null,
    // Runs the nextTick queue and the microtasks, as Node does between two timers. Where it is gone,
    // every record gets a native callback scope of its own instead.
    drainTicks: typeof tickCallback === 'function' ? tickCallback : null
  }
}

module.exports = collect()
