'use strict'

// http.Server on the engine. Node's own code does most of listen() (argument rules, name lookup, cluster, errors);
// we replace only its last step, _listen2(), in which the bound handle starts to accept.

const http = require('node:http')
const { clearInterval } = require('node:timers')
const { isDeepStrictEqual } = require('node:util')
const { loadBinding } = require('../backend/binding')
const { CapabilityError, ListenArgsError, OptionError, PrefixStateError } = require('../base/errors')
const { refuseBehind, refuseIgnoredByServer, refuseUnknown } = require('../options/option-names')
const { checkRegistration } = require('../prefixes/reservations')
const { closeIfIdle, endWithAnswers, isInHandler } = require('../http/closing')
const { connectionListener, refusesManyHeaders } = require('../node-private/node-internals')
const { handleOf } = require('../node-private/server')
const { closeUnneeded, giveToNode, hasPort, openFor, ownEndpoint } = require('./endpoints')
const { argsOfWorker } = require('./cluster-worker')
const { applicationOf, classifyListen, readPrefix, restartMs } = require('./listen-args')
const { schemeOf } = require('./implied-prefix')
const { failureOf } = require('./listen-error')
const { isServedByNode, lookForOwnListeners, servedByNode } = require('./served-by-node')
const { Listener, theEngine } = require('./listener')
const { catchUp: catchUpWithReservations, watch: watchReservations } = require('./live-reservations')
const { servers } = require('../http/connection')
const { captureContext } = require('../http/outside')
const { keyOf } = require('../prefixes/url-prefix')
const { State } = require('../http/socket-state')
const { errnoOf, systemError } = require('../base/system-error')
const { Opening } = require('./opening')
const { removeFiles, serveFiles } = require('./static-files')
const { ServerCache } = require('./output-cache')
const { addUrl } = require('./url-endpoints')
const { kEndsIn, kLane, kListener, kState } = require('../http/symbols')
const { readString } = require('../base/validate')

// Maximum time (ms) that closeAllConnections() and closeIdleConnections() wait for the I/O threads, which usually need microseconds.
const kCloseMs = 100
/** Maximum number of prefixes named in an error message. */
const kNamedMax = 20
// Events of a server whose listeners the lanes must know: without listeners a lane handles such an event by itself.
const kWatchedEvents = new Set([
  'clientError', 'connection', 'secureConnection', 'timeout', 'upgrade', 'tlsClientError', 'newSession', 'resumeSession', 'OCSPRequest', 'keylog'
])
// Node's own class, read before a program replaces it (register, instrumentation).
const { Server: StockServer } = http

/** @import { AnySocket, ListenServer, ListenServerBase } from '../../types/internal' */
/** @import { ConnectionListener, ServerOptions } from './listener' */
/** @typedef {[options?: import('node:net').ListenOptions, callback?: () => void]} ListenArgs other forms are Node's to check */

/**
 * Makes the class with the methods in which a server of the engine differs from Node's.
 *
 * @param {ListenServerBase} Base http.Server or https.Server
 */
function methodsOf (Base) {
  class Methods extends Base {
    /** @param {...unknown} args @returns {this} */
    listen (...args) {
      const listener = this[kListener]
      const plan = classifyListen(args, { isSecure: listener.isSecure, learned: (port) => mappingLearned(this, port) })
      if (plan.kind === 'node' && listener.cache !== null && listener.cache.prefixes.length > 0) {
        throw new OptionError('The cache of a server that listens on a port', 'prefixes', undefined, 'it belongs to servers of URL prefixes')
      }
      // Mounting may have changed the prototypes of the application since its listener was added.
      align(this)
      // Already listening: Node throws, and the server keeps its prefixes.
      if (this._handle) return super.listen()
      const whyNode = servedByNode(this)
      if (whyNode !== null) refuseEngineOptions(plan, whyNode)
      // Create the engine now: if it refuses an environment variable, it throws here, not after the host look-up, where no caller can catch it.
      else if (loadBinding().capabilities.listensOnSockets) theEngine()
      listener.origin = new Error()
      Error.captureStackTrace(listener.origin, Methods.prototype.listen)
      listener.prefixes.clear()
      listener.statics.prefixesCleared()
      listener.plan = null
      listener.stopOpening()
      if (listener.leaving?.holdsClose) {
        // Emit the pending 'close' of the earlier close() now, even if this listen() fails.
        listener.leaving.holdsClose = false
        super._emitCloseIfDrained()
      }
      listener.sharing = plan.sharing
      listener.endsWithPrimary = false
      const toPrimary = plan.kind === 'node' && isServedHere(this) ? argsOfWorker(plan.args) : null
      listener.asksPrimary = toPrimary !== null
      listener.isLookingUp = true
      if (plan.kind === 'node') {
        listener.failure = failureOf(() => listener.preparePortTls(plan))
        return super.listen(...(/** @type {ListenArgs} */ (toPrimary ?? plan.args)))
      }
      if (plan.fd !== undefined && !isServedHere(this)) throw new CapabilityError('listen({ prefix, fd })', 'listensOnSockets', loadBinding().capabilities.name)
      listener.failure = failureOf(() => listener.prepareTls(plan))
      listenOnPrefixes(this, plan, Base)
      return this
    }

    /**
     * @param {string | null} address
     * @param {number | null} port
     * @param {number | null} addressType
     * @param {number} backlog
     * @param {number} [fd]
     * @param {number} [flags]
     */
    _listen2 (address, port, addressType, backlog, fd, flags) {
      this[kListener].isLookingUp = false
      new Opening(this, { address, port, addressType, backlog, fd, flags }, (bound) => {
        super._listen2(bound.address, bound.port, bound.addressType, bound.backlog, bound.fd, bound.flags)
      }).run()
    }

    /** The server's prefixes in canonical form, in the order in which they were added. */
    get prefixes () {
      // A server on a Unix socket or pipe has no prefixes, because it has no port.
      return this._handle && hasPort(this) ? prefixesOf(this).map(({ prefix }) => prefix) : []
    }

    /** The server's output cache; null without the option `cache`. */
    get cache () {
      const listener = this[kListener]
      if (listener === undefined || listener.cache === null) return null
      return (listener.cacheFace ??= new ServerCache(this))
    }

    // Programs written for node:http may set a property of their own with this name.
    set cache (value) {
      Object.defineProperty(this, 'cache', { value, writable: true, enumerable: true, configurable: true })
    }

    /** @param {string} text @param {...unknown} others must be empty: only listen() has options */
    async addPrefix (text, ...others) {
      refuseOptions('addPrefix()', others)
      const parsed = readPrefix(requireText(text))
      const listener = requireListener(this)
      const whyNode = servedByNode(this)
      if (whyNode !== null) throw new PrefixStateError(`Node's own code serves a server ${whyNode}, and knows no prefixes`)
      const { prefixes } = listener
      listener.requireTls(parsed)
      if (hasPrefix(this, parsed)) throw inUse(parsed.prefix)
      checkRegistration(parsed.prefix, applicationOf(listener.sharing))
      if (prefixes.isImplied) prefixes.makeExplicit(prefixesOf(this)[0])
      const id = prefixes.add(parsed)
      // A host that the server had no https prefix for may be bound to another certificate.
      if (parsed.scheme === 'https' && prefixes.isOnlyOfHost(parsed)) listener.bindings?.look()
      try {
        // The lanes must know the prefix before other processes send requests for it.
        listener.configure()
        if (!loadBinding().capabilities.listensOnSockets) return addUrl(this, parsed, id)
        await openFor(this, parsed, id)
      } catch (error) {
        prefixes.delete(parsed)
        listener.configure()
        // Close a socket that no prefix needs now: the prefix that opened it may have been removed meanwhile.
        if (handleOf(this)) closeUnneeded(this, parsed)
        catchUpWithReservations(listener)
        throw error
      }
      prefixes.regain(parsed)
      watchReservations(listener)
    }

    /** @param {string} text @param {...unknown} others must be empty */
    async removePrefix (text, ...others) {
      refuseOptions('removePrefix()', others)
      const parsed = readPrefix(requireText(text))
      const { prefixes } = requireListener(this)
      if (!hasPrefix(this, parsed)) throw new PrefixStateError(`${parsed.prefix} is none of the server's prefixes (${someOf(this.prefixes)})`)
      if (prefixes.isImplied || prefixes.size === 1) throw new PrefixStateError(`${parsed.prefix} is the server's last prefix; close() ends the server`)
      const id = prefixes.idOf(parsed) ?? 0
      prefixes.delete(parsed)
      this[kListener].statics.prefixRemoved(parsed)
      if (!loadBinding().capabilities.listensOnSockets) {
        theEngine().native.removeUrl(this[kListener].id, id)
        this[kListener].configure()
        return
      }
      const isEverywhere = this[kListener].unregister([parsed.port], [{ id }])
      this[kListener].configure()
      closeUnneeded(this, parsed)
      await isEverywhere
    }

    /** @param {string} where a URL prefix, or a path below each prefix @param {string | URL} root @param {object} [options] serve-static's and ours */
    serveFiles (where, root, options) {
      return serveFiles(this, where, root, options)
    }

    /** @param {string} where as serveFiles() was given it */
    removeFiles (where) {
      return removeFiles(this, where)
    }

    // Node calls this when a connection of a closed server has ended. After the last one, the engine forgets the server.
    _emitCloseIfDrained () {
      const listener = this[kListener]
      if (listener?.leaving?.holdsClose) {
        if (!this._handle && this._connections === 0) listener.leaving.endsIn = listener.endsIn ?? captureContext()
        return
      }
      if (listener?.endsIn) listener.endsIn(() => super._emitCloseIfDrained())
      else super._emitCloseIfDrained()
      listener?.forgetIfUnused()
    }

    /** @param {...unknown} args */
    close (...args) {
      const listener = this[kListener]
      const options = typeof args[0] === 'object' && args[0] !== null ? /** @type {object} */ (args.shift()) : {}
      refuseBehind('close() behind its first argument', args)
      const wasListening = Boolean(handleOf(this))
      listener.sharing.restartMs = restartMs(options)
      listener.isLookingUp = false
      listener.stopOpening()
      clearInterval(listener.checker)
      listener.isClosing = true
      if (wasListening && isInHandler(listener)) {
        listener.endsIdle = false
        if (listener.id !== 0) listener.configure()
      }
      try {
        return super.close(...(/** @type {[callback?: (error?: Error) => void]} */ (args)))
      } finally {
        listener.isClosing = false
        if (wasListening) {
          listener.isClosed = true
          endWithAnswers(listener)
        }
      }
    }

    closeAllConnections () {
      super.closeAllConnections()
      const sockets = Array.from(this[kListener]?.sockets ?? [])
      // First destroy connections that closeIdleConnections() is already closing: on Node they would have ended, so none of them is the last.
      for (const socket of sockets) if (socket[kEndsIn] !== null) socket.destroy()
      for (const socket of sockets) socket.destroy()
      if (sockets.length > 0) theEngine().drain(kCloseMs, 'handled')
    }

    closeIdleConnections () {
      super.closeIdleConnections()
      const listener = this[kListener]
      let isAny = false
      let endsIn = null
      for (const socket of Array.from(listener?.sockets ?? [])) {
        if (!closeIfIdle(socket)) continue
        isAny = true
        // Remember the async context in which the connection must end. Node ends an idle connection within this call, and a closed server
        // with its last connection; so the first call that finds a connection idle decides.
        if (socket[kEndsIn] === null || !listener.isClosed) socket[kEndsIn] = endsIn ??= captureContext()
      }
      // As on Node, the connections are closed when this method returns: a client in this process could otherwise reuse one.
      if (isAny) theEngine().drain(kCloseMs, 'handled')
    }
  }

  for (const name of /** @type {const} */ (['on', 'addListener', 'prependListener', 'removeListener', 'off', 'removeAllListeners'])) {
    Object.defineProperty(Methods.prototype, name, {
      value: {
        /** @this {ListenServer} @param {...unknown} args passed on as given: removeAllListeners() differs from removeAllListeners(undefined) */
        [name] (...args) {
          const result = /** @type {(...args: unknown[]) => unknown} */ (Base.prototype[name]).apply(this, args)
          const [event] = args
          if (event === undefined || kWatchedEvents.has(/** @type {string} */ (event))) reconfigure(this)
          if (event === undefined || event === 'request') align(this)
          return result
        }
      }[name],
      writable: true,
      configurable: true
    })
  }
  return Methods
}

/**
 * @constructor
 * @this {ListenServer}
 * @param {ServerOptions | http.RequestListener} [options] of Node's http.createServer(), and our own
 * @param {http.RequestListener} [requestListener]
 */
function Server (options, requestListener) {
  if (!(this instanceof Server)) return new Server(options, requestListener)
  refuseIgnoredByServer(options)
  if (typeof options === 'function') refuseBehind('createServer() behind the listener', [requestListener])
  watchSettings(this)
  Reflect.apply(StockServer, this, [options, requestListener])
  attach(this, options)
  replaceListener(this, 'connection', connectionListener, onConnection)
}
Server.prototype = methodsOf(/** @type {ListenServerBase} */ (StockServer)).prototype
Object.defineProperty(Server.prototype, 'constructor', { value: Server, writable: true, configurable: true })
Object.setPrototypeOf(Server, StockServer)

/** @param {ListenServer} server that Node's constructor has made @param {ServerOptions | http.RequestListener | undefined} options */
function attach (server, options) {
  server[kListener] = new Listener(server, typeof options === 'object' && options !== null ? options : {})
  align(server)
}

/**
 * Replaces Node's listener of an event by ours. While ours is registered, the engine serves the server's connections.
 *
 * @template {import('node:net').Socket} S
 * @param {ListenServer} server
 * @param {string} event
 * @param {(socket: S) => void} stock
 * @param {(socket: S & AnySocket) => void} own
 */
function replaceListener (server, event, stock, own) {
  server[kListener].ownListeners.push([event, /** @type {ConnectionListener} */ (own)])
  server.removeListener(event, stock)
  server.prependListener(event, own)
}

// Makes requests and responses with the prototypes of the application that is the server's only 'request' listener. During Node's
// constructor, which adds that listener, kListener is not set yet.
/** @param {ListenServer} server */
function align (server) {
  server[kListener]?.alignment?.look(server.rawListeners('request'))
}

// Passes changed settings or listeners to the lanes. If our connection listeners were removed, lets Node accept from now on.
/** @param {ListenServer} server */
function reconfigure (server) {
  const listener = server[kListener]
  if (listener === undefined) return
  lookForOwnListeners(server)
  if (listener.id === 0) return
  if (listener.listening > 0 && listener.prefixes.isImplied && isServedByNode(server)) giveToNode(server)
  else listener.configure()
}

// Properties whose changes the lanes must know at once, because they read request heads without JavaScript.
const kWatchedSettings = Object.fromEntries(
  ['maxHeaderSize', ...refusesManyHeaders ? ['maxHeadersCount'] : []].flatMap((name) => watched(name, Symbol(name))))

/** @param {string} name @param {symbol} key property with the value @returns {[string | symbol, PropertyDescriptor][]} */
function watched (name, key) {
  return [
    [key, { value: undefined, writable: true }],
    [name, {
      enumerable: true,
      configurable: true,
      /** @this {ListenServer & Record<symbol, unknown>} */
      get () { return this[key] },
      /** @this {ListenServer & Record<symbol, unknown>} */
      set (value) {
        this[key] = value
        reconfigure(this)
      }
    }]
  ]
}

// Defines the watched properties as accessors. Must run before Node's constructor sets them: a data property that becomes an
// accessor later makes V8 drop the hidden class, and every request reads a dozen properties of the server.
/** @param {ListenServer} server */
function watchSettings (server) {
  Object.defineProperties(server, kWatchedSettings)
}

// Whether the engine accepts on the server's sockets, and serves connections given to the server.
/** @param {ListenServer} server */
function isServedHere (server) {
  return loadBinding().capabilities.listensOnSockets && !isServedByNode(server)
}

// Refuses options of listen() that Node's own code would ignore: prefixes, TLS of an http.Server, the name of a queue.
/** @param {import('./listen-args').NodePlan | import('./listen-args').PrefixPlan} plan @param {string} whyNode as servedByNode() says */
function refuseEngineOptions (plan, whyNode) {
  const ignored = plan.kind === 'prefixes'
    ? 'prefixes are'
    : plan.tls !== null ? `"${Object.keys(plan.tls)[0]}" is` : plan.sharing.queueName !== '' && !plan.sharing.isImplied ? '"queueName" is' : null
  if (ignored !== null) throw new ListenArgsError(`${ignored} not for a server ${whyNode}, which Node's own code serves`)
}

/** @param {AnySocket} socket */
function isOurs (socket) {
  return socket[kLane] !== undefined && (/** @type {number} */ (socket[kState]) & State.kUpgraded) === 0
}

// Lets Node's own code serve sockets that did not come from the engine (emit('connection', socket)), and
// tunnels: upgraded connections that the application gives to a server again.
/** @this {http.Server} @param {AnySocket} socket */
function onConnection (socket) {
  if (!isOurs(socket)) connectionListener.call(this, socket)
}

/** @param {ListenServer} server @param {import('./listen-args').PrefixPlan} plan @param {ListenServerBase} Base */
function listenOnPrefixes (server, plan, Base) {
  const listener = server[kListener]
  listener.plan = {
    endpoints: plan.endpoints,
    prefixes: plan.prefixes.map((parsed, at) =>
      ({ id: listener.prefixes.add(parsed, plan.ways?.[at]), port: parsed.port, text: parsed.prefix })),
    isPlain: false,
    mapping: plan.mapping,
    isKnownToPrimary: plan.isKnownToPrimary,
    fd: plan.fd
  }
  listener.givenPort = 0
  const { host, port, ipv6Only } = plan.endpoints[0]
  // `exclusive` keeps Node from asking a cluster's primary: a worker shares the port like any other process.
  const options = { ...plan.options, port, exclusive: true }
  if (host !== undefined) options.host = host
  if (ipv6Only !== undefined) options.ipv6Only = ipv6Only
  Base.prototype.listen.call(server, options, plan.callback)
}

/**
 * Finds the mapping of HTTPSYS_LISTEN that another server with the same handler uses, if the program got `port` from its address() and now
 * listens on a further address of it. Fastify does that for "localhost", with a server for each address and one handler for all.
 *
 * @param {ListenServer} server
 * @param {number} port
 */
function mappingLearned (server, port) {
  const own = server.listeners('request')
  for (const other of /** @type {Iterable<ListenServer>} */ (servers.values())) {
    const mapping = other.listening ? other[kListener].plan?.mapping : undefined
    if (mapping?.ports.includes(port) && own.length > 0 && isDeepStrictEqual(own, other.listeners('request'))) return mapping
  }
}

/** @param {ListenServer} server @returns {Listener} */
function requireListener (server) {
  if (handleOf(server)) return server[kListener]
  throw Object.assign(new Error('Server is not running.'), { code: 'ERR_SERVER_NOT_RUNNING' })
}

/** @param {unknown} prefix of addPrefix() or removePrefix() @returns {string} @throws ERR_INVALID_ARG_TYPE */
function requireText (prefix) {
  return readString('prefix', prefix)
}

/** @param {string} where @param {unknown[]} args superfluous ones: an object among them may be options that would be ignored */
function refuseOptions (where, args) {
  for (const options of args) if (typeof options === 'object' && options !== null) refuseUnknown(where, options, [])
}

// Returns a server's prefixes. A server that was given only a port has an implied one: everything at its address.
/** @param {ListenServer} server @returns {import('../prefixes/url-prefix').UrlPrefix[]} */
function prefixesOf (server) {
  const { prefixes } = server[kListener]
  if (!prefixes.isImplied || prefixes.implied !== null) return prefixes.held()
  const { host = '*', port } = ownEndpoint(server)
  return [readPrefix(`${schemeOf(server)}://${host.includes(':') ? `[${host}]` : host}:${port}/`)]
}

/** @param {ListenServer} server @param {import('../prefixes/url-prefix').UrlPrefix} parsed */
function hasPrefix (server, parsed) {
  const { prefixes } = server[kListener]
  return prefixes.isImplied
    ? prefixesOf(server).some((implied) => keyOf(implied) === keyOf(parsed))
    : prefixes.has(parsed)
}

/** Lists the first kNamedMax prefixes for an error message. @param {string[]} prefixes */
function someOf (prefixes) {
  if (prefixes.length === 0) return 'it has none'
  const rest = prefixes.length - kNamedMax
  return prefixes.slice(0, kNamedMax).join(', ') + (rest > 0 ? ` and ${rest} more` : '')
}

/** @param {string} prefix */
function inUse (prefix) {
  const error = systemError(errnoOf('EADDRINUSE'), 'listen')
  error.message = `listen EADDRINUSE: ${prefix} is already registered by process ${process.pid}`
  return Object.assign(error, { prefix, pid: process.pid })
}

/** @param {ServerOptions | http.RequestListener} [options] @param {http.RequestListener} [requestListener] @returns {http.Server} */
function createServer (options, requestListener) {
  return /** @type {http.Server & Server} */ (new Server(options, requestListener))
}

module.exports = { Server, attach, createServer, isOurs, methodsOf, onConnection, replaceListener, watchSettings }
