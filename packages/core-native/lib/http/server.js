'use strict'

// http.Server on the engine. Listening is Node's own (argument rules, name lookup, cluster, errors):
// only the moment where the bound handle would start to accept is ours, _listen2().

const http = require('node:http')
const { AsyncResource } = require('node:async_hooks')
const net = require('node:net')
const os = require('node:os')
const R = require('../records')
const { closesUnserved, connectionListener, createServerHandle } = require('./node-internals')
const { Engine } = require('../engine')
const { classifyListen } = require('./listen-args')
const { loadBinding } = require('../binding')
const { takeEngineOptions } = require('../options')
const { servers, onRecord, onThrown } = require('./connection')
const { served } = require('./served')
const { State, systemError, systemErrorText } = require('./socket')
const { EngineIncomingMessage } = require('./incoming')
const { EngineServerResponse } = require('./outgoing')
const { kLane, kListener, kReceiving, kSlot, kState } = require('./symbols')

const { kDestroy } = R.ReplyType
const kErrnoEMFILE = -os.constants.errno.EMFILE
const kErrnoENFILE = -os.constants.errno.ENFILE
// Whatever a program puts in their place later (register, instrumentation), these are Node's.
const { Server: StockServer } = http

// Methods by id, as the lanes name them. Node's parser knows QUERY before http.METHODS lists it.
const kMethods = http.METHODS.includes('QUERY') ? http.METHODS : [...http.METHODS, 'QUERY']

/** @type {Engine | null} */
let engine = null

function theEngine () {
  if (engine === null) {
    const { fatalException } = loadBinding()
    engine = new Engine({
      record: onRecord,
      thrown: (error) => onThrown(error, fatalException)
    }, kMethods)
  }
  return engine
}

// What the engine knows of one server.
class Listener {
  /** @param {any} server @param {any} options */
  constructor (server, options) {
    this.server = server
    this.IncomingMessage = options.IncomingMessage || EngineIncomingMessage
    this.ServerResponse = options.ServerResponse || EngineServerResponse
    this.methods = kMethods
    this.responseOptions = {
      highWaterMark: server.highWaterMark, rejectNonStandardBodyWrites: server.rejectNonStandardBodyWrites
    }
    this.own = takeEngineOptions(options)
    /** @type {string[]} canonical URL prefixes; empty = everything on the port */
    this.prefixes = []
    /** Open connections in HTTP mode. @type {Set<any>} */
    this.sockets = new Set()
    this.id = 0
    this.listening = 0
    /** The context of listen(), which requests inherit as on Node. */
    this.resource = new AsyncResource('HTTPSERVER')
    /** Addresses beside the first one. @type {any[]} */
    this.others = []
    /** @type {any[]} */
    this.extraHandles = []
    /** @type {NodeJS.Timeout | undefined} */
    this.checker = undefined
  }

  // Settings that the lanes read. Called whenever one of them may have changed.
  configure () {
    const { server, own } = this
    theEngine().native.configure(this.id, {
      maxHeaderSize: server.maxHeaderSize || http.maxHeaderSize,
      maxRequestBodySize: own.maxRequestBodySize,
      pipelinedRequestsMax: own.pipelinedRequestsMax,
      allowHalfOpen: Boolean(/** @type {any} */ (server).httpAllowHalfOpen),
      // Who looks at connections may listen to their sockets' errors.
      wantsErrors: server.listenerCount('clientError') > 0 || server.listenerCount('connection') > 1,
      noDelay: server.noDelay !== false,
      keepAlive: Boolean(server.keepAlive),
      keepAliveInitialDelay: server.keepAliveInitialDelay || 0,
      prefixes: this.prefixes
    })
  }

  // The id stays while connections of an earlier listen() may still name it.
  open () {
    const e = theEngine()
    if (this.id === 0) {
      this.id = e.nextServerId++
      servers.set(this.id, this.server)
    }
    this.configure()
    return e
  }

  /** @param {number} fd @param {number} backlog @returns {number} 0 or a negative errno */
  listen (fd, backlog) {
    this.resource = new AsyncResource('HTTPSERVER')
    const status = this.open().native.listen(this.id, fd, backlog)
    if (status === 0) {
      this.listening++
      served.servers++
    }
    return status
  }

  // Connections that JavaScript has not heard of yet are refused from here on.
  forget () {
    // Again: a setting changed since unlisten() has made the lanes remember the server.
    if (this.id !== 0) theEngine().native.unlisten(this.id)
    servers.delete(this.id)
    this.id = 0
  }

  unlisten () {
    if (this.listening === 0) return
    this.listening = 0
    theEngine().native.unlisten(this.id)
  }
}

class Methods extends StockServer {
  /** @param {...any} args @returns {any} */
  listen (...args) {
    const self = /** @type {any} */ (this)
    const plan = classifyListen(args)
    // Refused by Node; the prefixes it listens on stay.
    if (self._handle) return super.listen()
    self[kListener].prefixes = []
    self[kListener].others = []
    if (plan.kind === 'node') return super.listen(...plan.args)
    return listenOnPrefixes(self, plan)
  }

  /**
   * @param {any} address
   * @param {any} port
   * @param {any} addressType
   * @param {any} backlog
   * @param {any} fd
   * @param {any} flags
   */
  _listen2 (address, port, addressType, backlog, fd, flags) {
    const self = /** @type {any} */ (this)
    // @ts-expect-error: not in @types/node
    const stockListen = () => super._listen2(address, port, addressType, backlog, fd, flags)
    // Node's lenient parser is Node's: such a server is served by Node throughout.
    if (self.insecureHTTPParser ?? isLenient()) return stockListen()
    if (!self._handle) {
      let handle
      if (!address && typeof fd !== 'number') {
        handle = createServerHandle('::', port, 6, fd, flags)
        if (typeof handle === 'number') {
          address = '0.0.0.0'
          addressType = 4
        } else {
          address = '::'
          addressType = 6
        }
      }
      if (handle === undefined || typeof handle === 'number') {
        handle = createServerHandle(address, port, addressType, fd, flags)
      }
      if (typeof handle === 'number') {
        process.nextTick(emitError, self, listenError(handle, address, port))
        return
      }
      self._handle = handle
    }
    takeHandle(self, self._handle)
    stockListen()
    if (self._handle) listenOnOthers(self, backlog)
  }

  // The last connection of a closed server lets go of it.
  _emitCloseIfDrained () {
    const self = /** @type {any} */ (this)
    // @ts-expect-error: not in @types/node; see node-internals.d.ts
    super._emitCloseIfDrained()
    if (!self._handle && !self._connections) self[kListener]?.forget()
  }

  /** @param {any} callback */
  close (callback) {
    const listener = /** @type {any} */ (this)[kListener]
    clearInterval(listener.checker)
    return super.close(callback)
  }

  closeAllConnections () {
    super.closeAllConnections()
    for (const socket of Array.from(/** @type {any} */ (this)[kListener]?.sockets ?? [])) socket.destroy()
  }

  closeIdleConnections () {
    super.closeIdleConnections()
    for (const socket of Array.from(/** @type {any} */ (this)[kListener]?.sockets ?? [])) closeIfIdle(socket)
  }
}

// 'clientError' and 'connection' may gain or lose its listeners at any time; the lanes answer alone while there are none.
for (const name of /** @type {const} */ (['on', 'addListener', 'prependListener', 'removeListener', 'off', 'removeAllListeners'])) {
  Object.defineProperty(Methods.prototype, name, {
    value: {
      /** @this {any} @param {any} event @param {...any} rest */
      [name] (event, ...rest) {
        const result = /** @type {any} */ (StockServer.prototype)[name].call(this, event, ...rest)
        const listener = this[kListener]
        if ((event === 'clientError' || event === 'connection' || event === undefined) && listener !== undefined && listener.id !== 0) {
          listener.configure()
        }
        return result
      }
    }[name],
    writable: true,
    configurable: true
  })
}

/**
 * @param {any} [options] those of http.createServer, and maxRequestBodySize, pipelinedRequestsMax
 * @param {any} [requestListener]
 */
function Server (options, requestListener) {
  if (!(this instanceof Server)) return new (/** @type {any} */ (Server))(options, requestListener)
  Reflect.apply(StockServer, this, [options, requestListener])
  const self = /** @type {any} */ (this)
  self[kListener] = new Listener(self, typeof options === 'object' && options !== null ? options : {})
  watchHeaderSize(self)
  self.removeListener('connection', connectionListener)
  self.prependListener('connection', onConnection)
  self.on('listening', startChecking)
}
Server.prototype = Methods.prototype
Object.defineProperty(Server.prototype, 'constructor', { value: Server, writable: true, configurable: true })
Object.setPrototypeOf(Server, StockServer)

// The lanes read heads by themselves: they must hear of a change.
/** @param {any} server */
function watchHeaderSize (server) {
  let { maxHeaderSize } = server
  Object.defineProperty(server, 'maxHeaderSize', {
    enumerable: true,
    configurable: true,
    get: () => maxHeaderSize,
    set (value) {
      maxHeaderSize = value
      if (server[kListener].id !== 0) server[kListener].configure()
    }
  })
}

// node --insecure-http-parser
function isLenient () {
  return [...process.execArgv, ...(process.env.NODE_OPTIONS ?? '').split(' ')].includes('--insecure-http-parser')
}

// Sockets that did not come from the engine (emit('connection', socket)) are served by Node's own code,
// and so are tunnels: upgraded connections that the application gives to a server again.
/** @this {any} @param {any} socket */
function onConnection (socket) {
  const isOurs = socket[kLane] !== undefined && (socket[kState] & State.kUpgraded) === 0
  if (!isOurs) connectionListener.call(this, socket)
}

// As Node: the two message timeouts are enforced at intervals.
/** @this {any} */
function startChecking () {
  const listener = this[kListener]
  clearInterval(listener.checker)
  if (listener.id === 0) return
  listener.checker = setInterval(() => {
    const { headersTimeout, requestTimeout } = this
    if (headersTimeout === 0 && requestTimeout === 0) return
    theEngine().native.checkConnections(listener.id, headersTimeout, requestTimeout)
  }, this.connectionsCheckingInterval).unref()
}

/** @type {boolean | undefined} asked when first needed */
let isUnservedIdle

// A connection that has been served and is between two requests, or as Node decides one that has not
// begun its first. The lane has the last word, because the next request may be on its way to JavaScript.
/** @param {any} socket */
function closeIfIdle (socket) {
  if (socket[kReceiving] !== null || socket.destroyed) return
  if (socket._httpMessage && !socket._httpMessage.finished) return
  const isServed = (socket[kState] & State.kServed) !== 0
  if (!isServed && !(isUnservedIdle ??= closesUnserved())) return
  socket[kLane].writer.command(kDestroy, isServed ? R.kReplyIfIdle : R.kReplyIfIdle | R.kReplyIfUnserved, socket[kSlot])
}

// Makes a bound libuv handle listen on the engine. Everything else about it stays Node's.
/** @param {any} server @param {any} handle */
function takeHandle (server, handle) {
  const listener = server[kListener]
  if (typeof handle.fd !== 'number' || handle.fd < 0) {
    takeClusterHandle(listener, handle)
    return
  }
  const { close } = handle
  let referenced = false
  const own = {
    /** @param {number} backlog */
    listen (backlog) {
      // bind() reports an address in use only here (uv_tcp_bind delays it).
      const delayed = handle.getsockname?.({}) ?? 0
      if (delayed !== 0) return delayed
      const status = listener.listen(handle.fd, backlog)
      if (status === 0) own.ref()
      return status
    },
    ref () {
      if (referenced || listener.listening === 0) return
      referenced = true
      theEngine().ref()
    },
    unref () {
      if (!referenced) return
      referenced = false
      theEngine().unref()
    },
    hasRef: () => referenced,
    /** @param {...any} args */
    close (...args) {
      own.unref()
      if (server._handle === handle || server._handle === null) {
        listener.unlisten()
        for (const extra of listener.extraHandles.splice(0)) extra.close()
      }
      return close.apply(handle, args)
    }
  }
  Object.assign(handle, own)
}

// In a cluster worker the primary accepts and sends connections; they move on to a lane.
/** @param {Listener} listener @param {any} handle */
function takeClusterHandle (listener, handle) {
  const onconnection = (/** @type {number} */ status, /** @type {any} */ client) => {
    if (status !== 0) {
      listener.server.emit('error', systemError(status, 'accept'))
      return
    }
    const failed = listener.open().native.adopt(listener.id, client.fd)
    client.close()
    // Out of descriptors a connection is refused, as by whoever accepts; peers must not end the worker with it.
    if (failed !== 0 && failed !== kErrnoEMFILE && failed !== kErrnoENFILE) {
      listener.server.emit('error', systemError(failed, 'accept'))
    }
  }
  Object.defineProperty(handle, 'onconnection', {
    configurable: true, enumerable: true, get: () => onconnection, set () {}
  })
  listener.open()
}

/** @param {any} server @param {import('./listen-args').PrefixPlan} plan */
function listenOnPrefixes (server, plan) {
  const listener = server[kListener]
  const [first, ...others] = plan.endpoints
  listener.prefixes = plan.prefixes
  listener.others = others
  const { host, port, ipv6Only } = first
  const options = { ...plan.options, port }
  if (host !== undefined) options.host = host
  if (ipv6Only !== undefined) options.ipv6Only = ipv6Only
  return StockServer.prototype.listen.call(server, options, plan.callback)
}

// The further addresses of a server with several prefixes, once the first one listens.
/** @param {any} server @param {number} backlog */
function listenOnOthers (server, backlog) {
  const listener = server[kListener]
  for (const { host, port, ipv6Only } of listener.others) {
    const type = host === undefined || net.isIPv6(host) ? 6 : 4
    let handle = createServerHandle(host ?? '::', port, type, undefined, ipv6Only ? 1 : 0)
    // A machine without IPv6, as in _listen2().
    if (typeof handle === 'number' && host === undefined && !ipv6Only) handle = createServerHandle('0.0.0.0', port, 4)
    let status = typeof handle === 'number' ? handle : 0
    if (status === 0) {
      takeHandle(server, handle)
      status = handle.listen(backlog || 511)
      if (status === 0) listener.extraHandles.push(handle)
      else handle.close()
    }
    if (status !== 0) {
      server._handle.close()
      server._handle = null
      process.nextTick(emitError, server, listenError(status, host ?? '::', port))
      return
    }
  }
}

/** @param {number} errno @param {string} address @param {number} port */
function listenError (errno, address, port) {
  const error = systemError(errno, 'listen')
  const where = port > 0 ? `${address}:${port}` : address
  error.message = `listen ${error.code}: ${systemErrorText(errno)}${where ? ` ${where}` : ''}`
  return Object.assign(error, { address }, port ? { port } : null)
}

/** @param {any} server @param {Error} error */
function emitError (server, error) {
  server.emit('error', error)
}

/** @param {any} [options] @param {any} [requestListener] @returns {http.Server} */
function createServer (options, requestListener) {
  return new (/** @type {any} */ (Server))(options, requestListener)
}

module.exports = { Server, createServer }
