'use strict'

// http.Server on the engine. Listening is Node's own (argument rules, name lookup, cluster, errors):
// only the moment where the bound handle would start to accept is ours, _listen2().

const http = require('node:http')
const net = require('node:net')
const { clearInterval, setInterval } = require('node:timers')
const { nodeProcess } = require('../node/node-process')
const { loadBinding } = require('../backend/binding')
const { CapabilityError, ListenArgsError, PrefixStateError } = require('../base/errors')
const { refuseBehind, refuseIgnoredByServer, refuseUnknown } = require('../options/option-names')
const { checkRegistration, findRefusal } = require('../prefixes/reservations')
const { closeIfIdle, endWithAnswers, isInHandler, listenAgain } = require('../http/closing')
const { connectionListener, createServerHandle, refusesManyHeaders } = require('../node/node-internals')
const { handleOf } = require('../node/server')
const {
  kBindIpv6Only, kBindReusePort, closeUnneeded, emitError, listenBeside, openAll, openFor, ownEndpoint, takeHandle
} = require('./endpoints')
const { argsOfWorker, openAsWorker } = require('./cluster-worker')
const { applicationOf, classifyListen, isWildcard, readPrefix, restartMs } = require('./listen-args')
const { listenError, raisedAt } = require('./listen-error')
const { isParsedByNode } = require('../options/lenient')
const { Listener, addressOf, theEngine } = require('./listener')
const { catchUp: catchUpWithReservations, watch: watchReservations } = require('./live-reservations')
const { captureContext } = require('../http/outside')
const { keyOf } = require('../prefixes/prefixes')
const { State } = require('../http/socket-state')
const { errnoOf, systemError } = require('../base/system-error')
const { addUrl, openUrls } = require('./url-endpoints')
const { kEndsIn, kLane, kListener, kState } = require('../http/symbols')

// How long close() waits for the I/O threads; they need microseconds unless the machine is overloaded.
const kCloseMs = 100
// They may gain or lose listeners at any time; the lanes answer alone while there are none.
const kWatchedEvents = new Set([
  'clientError', 'connection', 'secureConnection', 'tlsClientError', 'newSession', 'resumeSession', 'OCSPRequest', 'keylog'
])
// Whatever a program puts in their place later (register, instrumentation), these are Node's.
const { Server: StockServer } = http

/** @typedef {import('../../types/internal').AnySocket} AnySocket */
/** @typedef {import('../../types/internal').ListenServer} ListenServer */
/** @typedef {import('../../types/internal').ListenServerBase} ListenServerBase */
/** @typedef {import('../../types/node-internals').ListenHandle} ListenHandle */
/** @typedef {import('./listener').ServerOptions} ServerOptions */
/** @typedef {[options?: net.ListenOptions, callback?: () => void]} ListenArgs what Node makes of the others, it finds out by itself */

/**
 * What a server of the engine does in its own way.
 *
 * @param {ListenServerBase} Base http.Server or https.Server
 */
function methodsOf (Base) {
  class Methods extends Base {
    /** @param {...unknown} args @returns {this} */
    listen (...args) {
      const listener = this[kListener]
      const plan = classifyListen(args, listener)
      // Refused by Node; the prefixes it listens on stay.
      if (this._handle) return super.listen()
      if (isParsedByNode(this)) refuseEngineOptions(plan)
      // What it refuses in the environment is thrown here, not behind the look-up of a host, where nobody could catch it.
      else if (loadBinding().capabilities.listensOnSockets) theEngine()
      listener.origin = new Error()
      Error.captureStackTrace(listener.origin, Methods.prototype.listen)
      listener.prefixes.clear()
      listener.plan = null
      listener.stopOpening()
      if (listener.leaving?.holdsClose) {
        // 'close' is that of the close() before, whatever becomes of this listen().
        listener.leaving.holdsClose = false
        super._emitCloseIfDrained()
      }
      listener.sharing = plan.sharing
      listener.endsWithPrimary = false
      const toPrimary = plan.kind === 'node' && isServedHere(this) ? argsOfWorker(plan.args) : null
      listener.asksPrimary = toPrimary !== null
      if (plan.kind === 'node') {
        listener.preparePortTls(plan)
        return super.listen(...(/** @type {ListenArgs} */ (toPrimary ?? plan.args)))
      }
      if (plan.fd !== undefined && !isServedHere(this)) throw new CapabilityError('listen({ prefix, fd })', 'listensOnSockets', loadBinding().capabilities.name)
      listener.prepareTls(plan)
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
      const { origin } = this[kListener]
      this[kListener].origin = null
      const fail = (/** @type {unknown} */ error) => nodeProcess.nextTick(emitError, this, raisedAt(error, origin))
      /** @param {() => void} [take] makes server._handle the engine's @param {() => void} [beside] listens on further sockets */
      const listen = (take, beside) => listenAgain(this, () => {
        take?.()
        super._listen2(address, port, addressType, backlog, fd, flags)
        if (!this._handle || beside === undefined) return
        try {
          beside()
        } catch (error) {
          this._handle.close()
          this._handle = null
          throw error
        }
      })
      // Node's lenient parser is Node's: such a server is served by Node throughout.
      if (isParsedByNode(this)) return listen()
      const listener = this[kListener]
      const isPort = typeof fd !== 'number' && addressType !== -1
      if (this._handle || !isPort) {
        // Pipes, sockets that somebody else has bound, those of a cluster's primary.
        if (!loadBinding().capabilities.listensOnSockets) return listen()
        if (!this._handle) {
          const handle = createServerHandle(address, port, addressType, fd, flags)
          if (typeof handle === 'number') {
            fail(listenError(handle, /** @type {string} */ (address), /** @type {number} */ (port)))
            return
          }
          this._handle = handle
        }
        listen(() => takeHandle(this, /** @type {ListenHandle} */ (this._handle), { isForeign: true }))
        if (this._handle) startChecking.call(this)
        return
      }
      const plan = listener.plan ?? planForPort(this, address, /** @type {number} */ (port), flags)
      const refusal = refusalOf(plan, listener.sharing)
      if (refusal !== null) {
        fail(refusal)
        listener.listenFailed()
        return
      }
      if (!loadBinding().capabilities.listensOnSockets) {
        try {
          listen(() => { this._handle = openUrls(this, plan) })
        } catch (error) {
          fail(error)
        }
        return
      }
      const opening = listener.opening = {}
      const open = (/** @type {import('./endpoints').Done} */ done) => {
        if (!listener.asksPrimary) return openAll(this, plan, backlog, done)
        openAsWorker(this, plan, { address, port: /** @type {number} */ (port), addressType: /** @type {number} */ (addressType), fd, flags, backlog }, done)
      }
      open((error, opened) => {
        if (listener.opening !== opening) { // close(), or another listen(), came before the answer of others.
          for (const { handle } of opened) handle.close()
          return
        }
        listener.opening = null
        if (error !== null) {
          fail(error)
          listener.listenFailed()
          return
        }
        const [own, ...others] = opened
        const { handle } = own
        if (plan.isPlain) listener.prefixes.implied = impliedBy(plan, handle)
        if (listener.ports.size > 0 && !isAnyPort(plan)) watchReservations(listener)
        this._handle = handle
        if (!address && !listener.asksPrimary) {
          // In use may be found out as late as in listen(2), and is then named as on Node.
          address = addressOf(handle).address ?? '::'
          addressType = net.isIPv6(address) ? 6 : 4
        }
        try {
          listen(() => takeHandle(this, handle, own), () => listenBeside(this, others, backlog))
          if (this._handle) startChecking.call(this)
        } catch (error) {
          fail(error)
        }
      })
    }

    /** Canonical, in the order in which they were added. */
    get prefixes () {
      return this._handle ? prefixesOf(this).map(({ prefix }) => prefix) : []
    }

    /** @param {string} text @param {...unknown} others none: options are those of listen() */
    async addPrefix (text, ...others) {
      refuseOptions('addPrefix()', others)
      const parsed = readPrefix(text)
      const listener = requireListener(this)
      if (isParsedByNode(this)) throw new PrefixStateError('a server with Node\'s lenient parser (insecureHTTPParser, httpValidation) is Node\'s own code, which knows no prefixes')
      const { prefixes } = listener
      const present = prefixesOf(this)
      listener.requireTls(parsed)
      if (present.some((other) => keyOf(other) === keyOf(parsed))) throw inUse(parsed.prefix)
      checkRegistration(parsed.prefix, applicationOf(listener.sharing))
      if (prefixes.isImplied) prefixes.makeExplicit(present[0])
      const id = prefixes.add(parsed)
      // Another host may be bound to another certificate.
      if (parsed.scheme === 'https') listener.bindings?.look()
      try {
        // The lanes know it before others send requests for it.
        listener.configure()
        if (!loadBinding().capabilities.listensOnSockets) return addUrl(this, parsed, id)
        await openFor(this, parsed, id)
      } catch (error) {
        prefixes.delete(parsed)
        listener.configure()
        catchUpWithReservations(listener)
        throw error
      }
      prefixes.regain(parsed)
      watchReservations(listener)
    }

    /** @param {string} text @param {...unknown} others none */
    async removePrefix (text, ...others) {
      refuseOptions('removePrefix()', others)
      const parsed = readPrefix(text)
      const { prefixes } = requireListener(this)
      const present = prefixesOf(this)
      if (!present.some((other) => keyOf(other) === keyOf(parsed))) {
        throw new PrefixStateError(`${parsed.prefix} is none of the server's prefixes (${present.map(({ prefix }) => prefix).join(', ') || 'it has none'})`)
      }
      if (present.length === 1) throw new PrefixStateError(`${parsed.prefix} is the server's last prefix; close() ends the server`)
      const id = prefixes.idOf(parsed) ?? 0
      prefixes.delete(parsed)
      if (!loadBinding().capabilities.listensOnSockets) {
        theEngine().native.removeUrl(this[kListener].id, id)
        this[kListener].configure()
        return
      }
      const isEverywhere = this[kListener].unregister([parsed.port], [{ id }])
      this[kListener].configure()
      closeUnneeded(this)
      await isEverywhere
    }

    // The last connection of a closed server lets go of it.
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
      // Idle ones that were to be closed before are gone on Node: the last end is not theirs.
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
        // Node closes an idle connection within this call, so that a closed server ends here. The first call that finds a connection
        // idle decides the context.
        if (socket[kEndsIn] === null || !listener.isClosed) socket[kEndsIn] = endsIn ??= captureContext()
      }
      // They are closed when this returns, as on Node: a client in this process may want to use one next.
      if (isAny) theEngine().drain(kCloseMs, 'handled')
    }
  }

  for (const name of /** @type {const} */ (['on', 'addListener', 'prependListener', 'removeListener', 'off', 'removeAllListeners'])) {
    Object.defineProperty(Methods.prototype, name, {
      value: {
        /** @this {ListenServer} @param {string | symbol | undefined} event @param {...unknown} rest */
        [name] (event, ...rest) {
          const result = /** @type {(...args: unknown[]) => unknown} */ (Base.prototype[name]).call(this, event, ...rest)
          if (event === undefined || kWatchedEvents.has(/** @type {string} */ (event))) reconfigure(this)
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
 * @param {ServerOptions | http.RequestListener} [options] those of http.createServer, and maxRequestBodySize, pipelinedRequestsMax
 * @param {http.RequestListener} [requestListener]
 */
function Server (options, requestListener) {
  if (!(this instanceof Server)) return new Server(options, requestListener)
  refuseIgnoredByServer(options)
  if (typeof options === 'function') refuseBehind('createServer() behind the listener', [requestListener])
  watchSettings(this)
  Reflect.apply(StockServer, this, [options, requestListener])
  attach(this, options)
  this.removeListener('connection', connectionListener)
  this.prependListener('connection', onConnection)
}
Server.prototype = methodsOf(/** @type {ListenServerBase} */ (StockServer)).prototype
Object.defineProperty(Server.prototype, 'constructor', { value: Server, writable: true, configurable: true })
Object.setPrototypeOf(Server, StockServer)

/** @param {ListenServer} server that Node's constructor has made @param {ServerOptions | http.RequestListener | undefined} options */
function attach (server, options) {
  server[kListener] = new Listener(server, typeof options === 'object' && options !== null ? options : {})
}

// Lanes that serve it must hear of a change.
/** @param {ListenServer} server */
function reconfigure (server) {
  const listener = server[kListener]
  if (listener !== undefined && listener.id !== 0) listener.configure()
}

// The lanes read heads by themselves.
const kWatchedSettings = Object.fromEntries(
  ['maxHeaderSize', ...refusesManyHeaders ? ['maxHeadersCount'] : []].flatMap((name) => watched(name, Symbol(name))))

/** @param {string} name @param {symbol} key where its value is @returns {[string | symbol, PropertyDescriptor][]} */
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

// Before Node's constructor sets them: a property that becomes another kind of property makes V8 forget the hidden
// class, and every request reads a dozen of a server's.
/** @param {ListenServer} server */
function watchSettings (server) {
  Object.defineProperties(server, kWatchedSettings)
}

// Sockets, and connections that it is given, are the engine's.
/** @param {ListenServer} server */
function isServedHere (server) {
  return loadBinding().capabilities.listensOnSockets && !isParsedByNode(server)
}

// Refuses options of listen() that Node's own code would ignore: prefixes, TLS of an http.Server, the name of a queue.
/** @param {import('./listen-args').NodePlan | import('./listen-args').PrefixPlan} plan */
function refuseEngineOptions (plan) {
  const ignored = plan.kind === 'prefixes'
    ? 'prefixes are'
    : plan.tls !== null ? `"${Object.keys(plan.tls)[0]}" is` : plan.sharing.queueName !== '' && !plan.sharing.isImplied ? '"queueName" is' : null
  if (ignored !== null) throw new ListenArgsError(`${ignored} not for servers with Node's lenient parser (insecureHTTPParser, httpValidation), which are Node's own code`)
}

/** @param {AnySocket} socket */
function isOurs (socket) {
  return socket[kLane] !== undefined && (/** @type {number} */ (socket[kState]) & State.kUpgraded) === 0
}

// Sockets that did not come from the engine (emit('connection', socket)) are served by Node's own code,
// and so are tunnels: upgraded connections that the application gives to a server again.
/** @this {http.Server} @param {AnySocket} socket */
function onConnection (socket) {
  if (!isOurs(socket)) connectionListener.call(this, socket)
}

// As Node: the two message timeouts are enforced at intervals.
/** @this {ListenServer} */
function startChecking () {
  const listener = this[kListener]
  clearInterval(listener.checker)
  if (listener.id === 0) return
  listener.checker = setInterval(() => {
    let { headersTimeout, requestTimeout } = this
    if (headersTimeout === 0 && requestTimeout === 0) return
    // Set the wrong way round after createServer(), which refuses it, Node takes them for each other.
    if (requestTimeout > 0 && headersTimeout > requestTimeout) [headersTimeout, requestTimeout] = [requestTimeout, headersTimeout]
    theEngine().native.checkConnections(listener.id, headersTimeout, requestTimeout)
  }, this.connectionsCheckingInterval).unref()
}

/** @param {ListenServer} server @param {import('./listen-args').PrefixPlan} plan @param {ListenServerBase} Base */
function listenOnPrefixes (server, plan, Base) {
  const listener = server[kListener]
  listener.plan = {
    endpoints: plan.endpoints,
    prefixes: plan.prefixes.map((parsed) => ({ id: listener.prefixes.add(parsed), port: parsed.port, text: parsed.prefix })),
    isPlain: false,
    fd: plan.fd
  }
  listener.givenPort = 0
  const { host, port, ipv6Only } = plan.endpoints[0]
  // A worker of node:cluster joins as any process; the primary has no part in it.
  const options = { ...plan.options, port, exclusive: true }
  if (host !== undefined) options.host = host
  if (ipv6Only !== undefined) options.ipv6Only = ipv6Only
  Base.prototype.listen.call(server, options, plan.callback)
}

// listen(port, host) as a prefix: everything at its address.
/** @param {ListenServer} server @param {string | null} address @param {number} port @param {number | undefined} flags @returns {import('./endpoints').Plan} */
function planForPort (server, address, port, flags) {
  const host = address && !isWildcard(address) ? address : undefined
  const text = `${schemeOf(server)}://${host === undefined ? '*' : host.includes(':') ? `[${host.split('%')[0]}]` : host}:${port}/`
  const endpoint = { host: address || undefined, port, ipv6Only: (/** @type {number} */ (flags) & kBindIpv6Only) !== 0, reusePort: (/** @type {number} */ (flags) & kBindReusePort) !== 0 }
  return { endpoints: [endpoint], prefixes: [{ id: 0, port, text }], isPlain: true }
}

// listen(0): nobody can reserve what the system chooses.
/** @param {import('./endpoints').Plan} plan */
function isAnyPort ({ isPlain, prefixes: [{ port }] }) {
  return isPlain && port === 0
}

// Who listens on a port gets what nobody else has registered there: that needs the right to its prefix. Prefixes
// that listen() was given have been checked.
/** @param {import('./endpoints').Plan} plan @param {import('./listen-args').SharingOptions} sharing @returns {Error | null} */
function refusalOf (plan, sharing) {
  if (!plan.isPlain || isAnyPort(plan)) return null
  const [{ host = '::', port }] = plan.endpoints
  try {
    const refusal = findRefusal(plan.prefixes[0].text, applicationOf(sharing))
    return refusal && Object.assign(refusal, { address: host, port })
  } catch (error) {
    return /** @type {Error} */ (error)
  }
}

// The same prefix, once the port is known.
/** @param {import('./endpoints').Plan} plan @param {ListenHandle} handle */
function impliedBy ({ prefixes: [{ text }] }, handle) {
  return readPrefix(text.replace(/:0\/$/, `:${addressOf(handle).port}/`))
}

// Of a server that was given a port, not a prefix.
/** @param {ListenServer} server */
function schemeOf (server) {
  const { isSecure, isTlsPort } = server[kListener]
  return isSecure || isTlsPort ? 'https' : 'http'
}

/** @param {ListenServer} server @returns {Listener} */
function requireListener (server) {
  if (handleOf(server)) return server[kListener]
  throw Object.assign(new Error('Server is not running.'), { code: 'ERR_SERVER_NOT_RUNNING' })
}

/** @param {string} where @param {unknown[]} args that no function of ours takes */
function refuseOptions (where, args) {
  for (const options of args) if (typeof options === 'object' && options !== null) refuseUnknown(where, options, [])
}

// A server that listens as Node's does has a prefix too: everything at its address.
/** @param {ListenServer} server @returns {import('../prefixes/url-prefix').UrlPrefix[]} */
function prefixesOf (server) {
  const { prefixes } = server[kListener]
  if (!prefixes.isImplied || prefixes.implied !== null) return prefixes.held()
  const { host = '*', port } = ownEndpoint(server)
  return [readPrefix(`${schemeOf(server)}://${host.includes(':') ? `[${host}]` : host}:${port}/`)]
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

module.exports = { Server, attach, createServer, isOurs, methodsOf, onConnection, watchSettings }
