'use strict'

// Listener: the engine's state of one server. theEngine(): the engine of this JavaScript environment.

const http = require('node:http')
const https = require('node:https')
const { AsyncResource } = require('node:async_hooks')
const { getSystemErrorName } = require('node:util')
const { setImmediate } = require('node:timers')
const { Engine } = require('../backend/engine')
const { loadBinding } = require('../backend/binding')
const { CapabilityError, Http2UnavailableError, TlsTermsError } = require('../base/errors')
const { cacheConfig, takeCache } = require('../options/cache-options')
const { seconds, takeHttpSys } = require('../options/http-sys-options')
const { passedOptions, takeEngineOptions, takeHttp2 } = require('../options/server-options')
const { server: kEntries } = require('../options/table')
const { findCertificates } = require('../tls/certificate-sources')
const { LiveBindings } = require('../tls/live-bindings')
const { explained } = require('../tls/explain-pem')
const { CreatedTls, certificatesForPort, impliedPrefix } = require('../tls/listen-tls')
const { useRuntimeDirectory } = require('../backend/runtime-directory')
const { refuseUnsupported } = require('../options/tls-options')
const { ServerTls } = require('../tls/server-tls')
const { servers, onRecord, onThrown } = require('../http/connection')
const { headerPairsMax } = require('../http/exchange')
const { Alignment } = require('../http/alignment')
const { idleTimeoutOf } = require('../http/idle-time')
const { EngineIncomingMessage } = require('../http/incoming')
const { copyTlsSettings, refusesManyHeaders } = require('../node-private/node-internals')
const { connectionOptionsOf, connectionsOf, emitCloseIfDrained, handleOf, requiresHost } = require('../node-private/server')
const { EngineServerResponse } = require('../http/outgoing')
const { unwatch } = require('./live-reservations')
const { Prefixes, Way } = require('../prefixes/prefixes')
const { parseUrlPrefix } = require('../prefixes/url-prefix')
const { reportRefusals, wantsRefusalLines } = require('./refusals')
const { introduce, onRegistered, release, withdraw } = require('./registrations')
const { SocketsBeside } = require('./sockets-beside')
const { StaticMounts } = require('./static-mounts')
const { served } = require('../http/served')
const { refusedOption } = require('../tls/system-certificate')
const { systemErrorText } = require('../base/system-error')

/** @typedef {import('../../types').EngineServerOptions & http.ServerOptions} ServerOptions as the user gave them; checked where they are read */
/** @import { AnySocket, EngineListener, EngineServer, ListenHttpsServer, ListenServer } from '../../types/internal' */
/** @import { ListenHandle, PrivateTlsServer } from '../../types/node-internals' */
/** @import { GivenTlsOptions } from '../options/tls-options' */
/** @import { Sources } from '../tls/certificate-sources' */
/** @typedef {(socket: AnySocket & import('node:net').Socket) => void} ConnectionListener */

/**
 * Replaces our defaults by the defaults of HTTP.SYS's request queue, for options that the application has not set.
 *
 * @param {Listener} listener @param {ServerOptions} options
 */
function leaveToKernel ({ own, kernel }, options) {
  if (options.http503Verbosity === undefined) own.http503Verbosity = kEntries.http503Verbosity.httpSysDefault
  if (options.queueLimit === undefined) own.queueLimit = kEntries.queueLimit.httpSysDefault
  if (options.queueTimeout !== undefined && kernel.requestQueue === 0) kernel.requestQueue = seconds(own.queueTimeout)
  if (options.minSendRate !== undefined && kernel.minSendRate === 0) kernel.minSendRate = own.minSendRate || kNoSendRate
  if (kernel.maxBandwidth === 0) kernel.maxBandwidth = own.maxBandwidth
}

/** Value of HTTP.SYS's minimum send rate that turns it off. */
const kNoSendRate = 2 ** 32 - 1
/** Time (ms) over which minSendRate is averaged: a client that pauses for a while, in a tunnel say, keeps its connection. */
const kSendRateMs = 60_000

/** Upper limit of timeouts passed to the lanes: 32 bits of milliseconds, 49 days. */
const kMsMax = 2 ** 32 - 1

// Node's own class, read here because `register` replaces https.Server.
const { Server: StockHttpsServer } = https

// Methods by id, as the lanes name them. Node's parser knows QUERY before http.METHODS lists it.
const kMethods = http.METHODS.includes('QUERY') ? http.METHODS : [...http.METHODS, 'QUERY']

// Maximum time (ms), per attempt, that a closing server waits for the I/O threads, which usually need microseconds.
const kLeaveMs = 100
const kLeaveAttempts = 20

/** Backends that cause an ExperimentalWarning, because they were not tested on their real system: docs/windows.md. */
const kExperimental = ['http.sys']

/** @type {Engine | null} */
let engine = null

/** Idle timeout (ms, 32 bits) of connections that the lanes answer without JavaScript. @param {ListenServer} server */
const idleMsOf = (server) => Math.max(0, Math.min(Math.ceil(idleTimeoutOf(server)) || 0, kMsMax))

/** @param {EngineServer} server @returns {number} */
function headerLinesMax (server) {
  const pairs = headerPairsMax(server)
  return refusesManyHeaders && pairs > 0 ? pairs >>> 1 : Infinity
}

// Warns that other processes cannot take over a listening socket when this process ends. The server itself works.
/** @param {ListenHandle} handle @param {number} error */
function warnOfUnshared (handle, error) {
  const { address, port } = addressOf(handle)
  const code = getSystemErrorName(error)
  const cause = code === 'ENOSPC'
    ? 'a port shares 64 listening sockets at most. Listen on fewer addresses, or on all of them ("*" as the host of a prefix)'
    : `${systemErrorText(error)} (${code})`
  process.emitWarning(`The listening socket ${address}:${port} is not shared with other processes of the port, so that connections to this ` +
    `address end with this process: ${cause}`, { code: 'HTTPSYS_SOCKET_UNSHARED' })
}

function theEngine () {
  if (engine === null) {
    const binding = loadBinding()
    const { capabilities } = binding
    const wantsLines = wantsRefusalLines()
    useRuntimeDirectory(binding)
    engine = new Engine({
      record: onRecord,
      thrown: onThrown,
      registered: onRegistered
    }, kMethods)
    if (kExperimental.includes(capabilities.name)) {
      process.emitWarning(`The backend ${capabilities.name} is experimental`, 'ExperimentalWarning')
    }
    reportRefusals(binding, wantsLines)
    // Name this program to the members of shared ports. HTTP.SYS finds the name by itself.
    if (capabilities.listensOnSockets) introduce(engine)
  }
  return engine
}

/** @param {Pick<ListenHandle, 'getsockname'>} handle @returns {{ address?: string, port?: number }} */
function addressOf (handle) {
  const address = {}
  handle.getsockname?.(address)
  return address
}

// The engine's state of one server. It exists as long as the server.
class Listener {
  /** @param {ListenServer} server @param {ServerOptions} options */
  constructor (server, options) {
    this.server = server
    // Cast: subclasses of the application lack our symbol fields until the first request adds them.
    this.IncomingMessage = /** @type {EngineListener['IncomingMessage']} */ (
      /** @type {unknown} */ (options.IncomingMessage || EngineIncomingMessage))
    this.ServerResponse = /** @type {EngineListener['ServerResponse']} */ (
      /** @type {unknown} */ (options.ServerResponse || EngineServerResponse))
    /** Adapts prototypes to the application; null: the application gave its own classes, which are used as they are. @type {Alignment | null} */
    this.alignment = options.IncomingMessage || options.ServerResponse ? null : new Alignment(this)
    this.methods = kMethods
    /** Options object for the constructor of each response, reused. */
    this.responseOptions = { highWaterMark: 0, rejectNonStandardBodyWrites: false }
    this.own = takeEngineOptions(options)
    /** Names of our options that were given. Some others have their default only on servers with prefixes: Node has no such limits. */
    this.given = new Set(Object.keys(kEntries).filter((name) =>
      options[/** @type {keyof ServerOptions} */ (name)] !== undefined))
    /** Time (ms) over which minSendRate is averaged: kSendRateMs, or less in tests. */
    this.sendRateMs = kSendRateMs
    this.http2 = takeHttp2(options.http2)
    this.kernel = takeHttpSys(options.httpSys)
    if (loadBinding().capabilities.kernelOptions) leaveToKernel(this, options)
    if (options.httpSys !== undefined && !loadBinding().capabilities.kernelOptions) {
      throw new CapabilityError('createServer({ httpSys })', 'kernelOptions', loadBinding().capabilities.name)
    }
    /** Settings of the server's output cache; null: it has none. */
    this.cache = takeCache(options.cache, {
      capabilities: loadBinding().capabilities, canonical: (text) => parseUrlPrefix(text).prefix
    })
    /** The object `server.cache`, made when first read. @type {import('./output-cache').ServerCache | undefined} */
    this.cacheFace = undefined
    for (const [name, entry] of Object.entries(kEntries)) {
      const { capabilities } = loadBinding()
      if ('needs' in entry && this.own[/** @type {keyof typeof this.own} */ (name)] !== entry.default && !capabilities[/** @type {'listensOnSockets'} */ (entry.needs)]) {
        throw new CapabilityError(`createServer({ ${name} })`, entry.needs, capabilities.name)
      }
    }
    if (this.http2.isWanted === true && !loadBinding().hasHttp2) throw new Http2UnavailableError()
    this.prefixes = new Prefixes(this.own.stripPrefix ? Way.kStrips : 0)
    /** The folders whose files the lanes serve. */
    this.statics = new StaticMounts()
    /** Open connections in HTTP mode. @type {EngineListener['sockets']} */
    this.sockets = new Set()
    /** Local address of the latest connection, shared with later connections to the same address. @type {EngineListener['near']} */
    this.near = undefined
    /**
     * Our listeners that replace Node's for connections. If the application removes one, Node's own code serves the server.
     *
     * @type {[event: string, listener: ConnectionListener][]}
     */
    this.ownListeners = []
    /** Event of the first of `ownListeners` that is no longer registered; undefined: none is missing. @type {string | undefined} */
    this.removedEvent = undefined
    this.id = 0
    this.listening = 0
    /** Runs a function in the async context in which 'close' must be emitted; null: the current context. @type {EngineListener['endsIn']} */
    this.endsIn = null
    /** True while server.close() runs. */
    this.isClosing = false
    /** True from server.close() until a later listen() succeeds: connections end with their pending answers. */
    this.isClosed = false
    /** Number of successful listen() calls after a close(). */
    this.timesReopened = 0
    /** Idle timeout (ms) that configure() passed to the lanes last. */
    this.idleMs = 0
    /** Whether the lanes close idle connections once the server is closed. False if one of its own handlers called close(), as on Node. */
    this.endsIdle = true
    /**
     * Ports that the server shared with other members when it was closed: its idle connections without TLS move to these members.
     *
     * @type {Set<number>}
     */
    this.successorPorts = new Set()
    /** True if listen(port) runs in a cluster's worker, which asks its primary. */
    this.asksPrimary = false
    /** True in a worker whose primary did not open the socket: the server must be closed when the worker disconnects. */
    this.endsWithPrimary = false
    // `leaving` is set while a closed server may still get requests of connections that JavaScript does not know yet. `holdsClose`: 'close' waits for
    // them, at most until the next listen(). `endsIn` runs 'close' in the async context of the last connection's end.
    /** @type {EngineListener['leaving']} */
    this.leaving = null
    /** Async resource of listen(), whose context requests inherit as on Node. Set by open(), before the first connection. @type {AsyncResource} */
    this.resource = /** @type {AsyncResource} */ (/** @type {unknown} */ (null))
    /** True while async hooks have seen `resource` begin, but not end. */
    this.isResourceOpen = false
    /** True if a listen() has used `resource`: the next listen() makes a new one. */
    this.isResourceUsed = false
    /** The options of listen() and close() about sharing ports. */
    this.sharing = { queueName: '', queueMode: 'create', exclusive: false, isImplied: false, restartMs: 0 }
    /** Error object made in listen(), whose stack errors of that call get; null: none is under way. @type {Error | null} */
    this.origin = null
    /** Error of listen() that was found before the host look-up and is emitted after it. @type {Error | null} */
    this.failure = null
    /** The endpoints and prefixes of listen(prefix); null for listen(port). @type {import('./endpoints').Plan | null} */
    this.plan = null
    /** True from listen() until Node has looked up the host; `opening` is set after that. */
    this.isLookingUp = false
    /** Identity of the listen() whose sockets are being opened, perhaps while other processes are asked; null: none. @type {object | null} */
    this.opening = null
    /** Ports on which the server has registered prefixes. @type {Set<number>} */
    this.ports = new Set()
    /** Pending registrations, about which other processes are being asked. @type {Map<number, number>} ports by token */
    this.asking = new Map()
    /** Port of the socket that listen({ prefix, fd }) was given; 0: none was given. */
    this.givenPort = 0
    /** The sockets that the server listens on beside server._handle. */
    this.beside = new SocketsBeside()
    /** @type {NodeJS.Timeout | undefined} */
    this.checker = undefined
    /** True for an https.Server: on a port it speaks TLS. */
    this.isSecure = false
    /** True for an adapter's http.Server that speaks TLS on a port. */
    this.isTlsPort = false
    /** Watches the bindings from which the server's certificates come; null: they come from elsewhere. @type {LiveBindings | null} */
    this.bindings = null
    /** TLS options that createServer() was given. */
    this.created = new CreatedTls(options)
    /** @type {ServerTls | null} */
    this.tls = null
    /** True once application code has listened on one of the server's sockets. */
    this.hasStreams = false
  }

  // Applies changed TLS settings to connections accepted from now on. Throws if another process's prefix for the same host has other terms.
  tlsChanged () {
    if (this.id === 0) return
    const { native } = theEngine()
    if (this.tls !== null && this.hasTls && loadBinding().capabilities.listensOnSockets) {
      const conflict = native.changeTerms(this.id, this.tls.handle)
      if (conflict !== undefined) throw new TlsTermsError(conflict.wanted, conflict.prefix, conflict.pid)
    }
    this.configure()
  }

  // Must be called when a socket gets listeners: from then on the lanes report refused requests to JavaScript.
  socketUsed () {
    if (this.hasStreams) return
    this.hasStreams = true
    if (this.id !== 0) this.configure()
  }

  // Finds the certificates for https prefixes, from the TLS options of listen() and createServer().
  /** @param {import('./listen-args').PrefixPlan} plan */
  prepareTls ({ prefixes, tls }) {
    this.isTlsPort = false
    const secure = prefixes.filter(({ scheme }) => scheme === 'https')
    if (secure.length === 0) return
    const { capabilities } = loadBinding()
    if (!capabilities.listensOnSockets) {
      if (!capabilities.systemCertificates) throw new CapabilityError(`listen('${secure[0].prefix}')`, 'systemCertificates', capabilities.name)
      if (tls !== null) throw refusedOption(secure[0], Object.keys(tls)[0])
      return
    }
    if (this.isSecure && tls === null && this.hasCertificate) return
    const options = this.created.with(tls ?? {})
    this.#useTls(options, () => findCertificates(options, secure))
  }

  // Finds the certificates for listen(port). Only adapters pass TLS options for a port.
  /** @param {import('./listen-args').NodePlan} plan */
  preparePortTls ({ args, tls }) {
    this.isTlsPort = false
    if (tls === null && !(this.created.isAdapter && !this.hasCertificate)) return
    if (!loadBinding().capabilities.listensOnSockets) {
      if (tls === null) return
      throw refusedOption(impliedPrefix(args) ?? { prefix: 'https://*/', scheme: 'https', host: '*', port: 443, path: '/', bind: { kind: 'wildcard' } }, Object.keys(tls)[0])
    }
    const options = this.created.with(tls ?? {})
    this.#useTls(options, () => certificatesForPort(options, args))
    this.isTlsPort = !this.isSecure
  }

  // Whether the server has a certificate of its own: from createServer(), or for an https.Server from addContext() or setSecureContext().
  // A certificate that is bound to prefixes does not count: each listen() looks it up for its own prefixes.
  get hasCertificate () {
    if (this.bindings !== null && !this.tls?.hasOwnContext) return false
    return this.created.isCertified(this.server) || (this.tls !== null && this.tls.hasHosts)
  }

  /** @param {GivenTlsOptions} options @param {() => Sources} find */
  #useTls (options, find) {
    refuseUnsupported(options)
    const sources = find()
    const reader = explained(sources.options, () => new StockHttpsServer(sources.options))
    if (this.isSecure) {
      const own = /** @type {ServerTls} */ (this.tls)
      copyTlsSettings(reader, /** @type {ListenHttpsServer} */ (this.server))
      own.hasOwnContext = false
      own.follow(sources.options)
      own.settingsChanged(this.offersHttp2(options))
    } else {
      this.tls = new ServerTls(/** @type {https.Server & PrivateTlsServer} */ (reader),
        this.offersHttp2(options), this.server)
    }
    this.useSources(sources)
  }

  /** @param {Sources} sources */
  useSources (sources) {
    const own = /** @type {ServerTls} */ (this.tls)
    own.setHosts(sources.hosts)
    own.watch(sources, () => this.tlsChanged())
    this.bindings?.stop()
    this.bindings = sources.bound === null ? null : this.#follow(sources, sources.bound)
  }

  /**
   * @param {Sources} sources
   * @param {import('../prefixes/url-prefix').UrlPrefix[]} bound prefixes with bound certificates; for a port, its implied prefix
   */
  #follow (sources, bound) {
    const prefixes = () => {
      const own = this.prefixes.hosts().filter(({ scheme }) => scheme === 'https')
      return own.length > 0 ? own : bound
    }
    return new LiveBindings(sources, prefixes, ({ options, hosts }) => {
      const own = /** @type {ServerTls} */ (this.tls)
      own.attempt(() => {
        own.setHosts(hosts)
        own.follow(options)
        this.tlsChanged()
      })
    })
  }

  /** @param {import('../prefixes/url-prefix').UrlPrefix} parsed */
  requireTls (parsed) {
    if (parsed.scheme !== 'https' || this.tls !== null || loadBinding().capabilities.systemCertificates) return
    const options = this.created.with({})
    this.#useTls(options, () => findCertificates(options, [parsed]))
  }

  // Whether to offer h2 by ALPN: unless the application sets ALPNProtocols, ALPNCallback or `http2: false`.
  /** @param {GivenTlsOptions} options */
  offersHttp2 ({ ALPNProtocols, ALPNCallback }) {
    return ALPNProtocols === undefined && ALPNCallback === undefined && this.http2.isWanted !== false &&
      loadBinding().hasHttp2
  }

  // Whether the server speaks TLS on any of its ports.
  get hasTls () {
    if (this.tls === null) return false
    return this.prefixes.isImplied ? this.isSecure || this.isTlsPort : this.prefixes.places.hasTls
  }

  /** @param {{ address?: string, port?: number }} socket without port: not TCP */
  isTls ({ address, port }) {
    return this.hasTls && port !== undefined && (this.prefixes.isImplied || this.prefixes.places.isTls(port, address))
  }

  // Passes the server's settings to the lanes. Must be called whenever one of them may have changed.
  configure () {
    const { server, own } = this
    const statics = this.statics.changes(this.prefixes)
    this.idleMs = idleMsOf(server)
    theEngine().native.configure(this.id, {
      ...connectionOptionsOf(server),
      ...passedOptions(own, (name) => !this.prefixes.isImplied || this.given.has(name)),
      maxHeaderLines: headerLinesMax(server),
      maxRequestBodySize: own.maxRequestBodySizeCeiling || own.maxRequestBodySize,
      sendRateMs: this.sendRateMs,
      endsIdle: this.endsIdle,
      isOpening: this.opening !== null,
      idleMs: this.idleMs,
      keepAliveMs: Math.max(0, Math.min(Math.floor(server.keepAliveTimeout) || 0, kMsMax)),
      maxRequestsPerSocket: Math.max(0, ~~(server.maxRequestsPerSocket ?? 0)),
      // True also if the application listens for connections: it may then listen for errors of their sockets.
      wantsErrors: this.hasStreams || server.listenerCount('clientError') > 0 || server.listenerCount('connection') > 1 ||
        server.listenerCount('secureConnection') > (this.isSecure ? 1 : 0),
      hearsUpgrades: server.listenerCount('upgrade') > 0,
      hearsTimeouts: server.listenerCount('timeout') > 0,
      requiresHost: Boolean(requiresHost(server)),
      // Node's own listener of 'tlsClientError' only emits 'clientError', so it does not count.
      wantsTlsErrors: server.listenerCount('clientError') > 0 || server.listenerCount('tlsClientError') > (this.isSecure ? 1 : 0),
      tls: this.hasTls ? /** @type {ServerTls} */ (this.tls).handle : null,
      listening: this.timesReopened,
      http2: this.http2.settings,
      cache: cacheConfig(this.cache),
      kernel: {
        ...this.kernel,
        keepAliveTimeout: seconds(server.keepAliveTimeout),
        headersTimeout: seconds(server.headersTimeout),
        requestTimeout: seconds(server.requestTimeout)
      },
      prefixes: this.prefixes.changes,
      keepsStatics: statics === null,
      statics: statics ?? []
    })
    this.prefixes.told()
    this.statics.told()
    // configure() makes the lanes treat the server as listening. Undo that for a closed server that is still ending its connections.
    if (this.isClosed && this.opening === null) this.#unlistenNative()
  }

  // Passes a changed idle timeout to the lanes. Called at intervals, because the application may set keepAliveTimeout at any time.
  lookAtIdleTime () {
    if (this.id !== 0 && this.idleMs !== idleMsOf(this.server)) this.configure()
  }

  #unlistenNative () {
    theEngine().native.unlisten(this.id)
    this.prefixes.forgotten()
    this.statics.forgotten()
  }

  // Makes the server known to the engine. An id from an earlier listen() stays, because connections may still use it.
  open () {
    const e = theEngine()
    if (!this.isResourceOpen) this.#renewResource()
    if (this.cache !== null) e.allowCacheBytes(this.cache.cacheBytes, this.cache.portCacheBytes)
    if (this.id === 0) {
      this.id = e.nextServerId++
      servers.set(this.id, this.server)
    }
    this.configure()
    return e
  }

  /** @param {ListenHandle} handle @param {number} backlog @param {boolean} isForeign @returns {number} a key above 0, or a negative errno */
  listen (handle, backlog, isForeign) {
    this.#useResource()
    const { native } = this.open()
    const key = native.listen(this.id, /** @type {number} */ (handle.fd), backlog, !isForeign &&
      this.isTls(addressOf(handle)))
    if (key < 0) return key
    this.listening++
    served.servers++
    return key
  }

  // Starts to listen on a socket on which the engine accepts already.
  listenShared () {
    this.#useResource()
    this.listening++
    served.servers++
    return 0
  }

  // Gives the socket to the other members of the port too, so that it outlives this process.
  /** @param {ListenHandle} handle @param {boolean} isLast of the port's sockets that this listen() opens */
  contribute (handle, isLast) {
    const { port } = addressOf(handle)
    if (port === undefined || !this.ports.has(port)) return
    const failed = theEngine().native.contribute(port, this.id, /** @type {number} */ (handle.fd), isLast)
    if (failed !== 0) warnOfUnshared(handle, failed)
  }

  /** @param {number} port @param {string[]} prefixes with a reservation */
  reserve (port, prefixes) {
    theEngine().native.reserve(port, prefixes)
  }

  /** @param {number[]} ports @param {{ id: number }[]} prefixes @returns {Promise<unknown>} resolves when the other members of the ports know of it */
  unregister (ports, prefixes) {
    const ids = prefixes.map(({ id }) => id)
    const isKnown = ports.filter((port) => this.ports.has(port))
      .map((port) => release(theEngine(), this, port, ids, { stays: this.prefixes.hasLostOn(port) }))
    for (const port of ports) {
      if (!this.prefixes.places.hasPort(port)) this.ports.delete(port)
    }
    return Promise.all(isKnown)
  }

  /** @param {number} key of listen() @param {ListenHandle} handle */
  stopListening (key, handle) {
    this.listening--
    if (key <= 0) return
    const { port } = addressOf(handle)
    const { native } = theEngine()
    // Withdraw the socket before closing it: while other members have it, some member must accept on it.
    if (port !== undefined && this.ports.has(port)) native.withdraw(port, /** @type {number} */ (handle.fd))
    native.stopListening(key)
  }

  // Cancels a listen() that is still under way.
  stopOpening () {
    if (this.opening === null) return
    this.opening = null
    this.unlisten()
    this.#stayClosed()
  }

  // Must be called when a listen() has failed: the server is closed as before, and forgotten if it has no connections.
  listenFailed () {
    this.#stayClosed()
    this.forgetIfUnused()
  }

  // Must be called when a listen() has failed or was cancelled. If the server was closed before it, tells the lanes that it still is.
  #stayClosed () {
    if (this.isClosed && this.id !== 0) this.configure()
  }

  // Makes the engine forget a server that neither listens nor has connections. Connections that JavaScript does not know yet are then refused.
  forgetIfUnused () {
    if (handleOf(this.server) || this.opening !== null) return
    // Stop watching certificate files, also after a failed listen().
    this.tls?.stopWatching()
    this.bindings?.stop()
    if (this.id === 0 || connectionsOf(this.server) > 0 || this.leaving !== null) return
    // Tell the lanes once more to forget it: a setting changed since unlisten() would have made the server known to them again.
    this.#unlistenNative()
    servers.delete(this.id)
    this.id = 0
    this.#endResource()
  }

  // Takes an async resource for this listen(), a new one if an earlier listen() has used `resource`.
  #useResource () {
    if (!this.isResourceOpen || (this.listening === 0 && this.isResourceUsed)) this.#renewResource()
    this.isResourceUsed = true
  }

  #renewResource () {
    this.#endResource()
    this.isResourceUsed = false
    this.resource = new AsyncResource('HTTPSERVER', { requireManualDestroy: true })
    this.isResourceOpen = true
  }

  // Reports the end of `resource` to async hooks. Later events still run in its context.
  #endResource () {
    if (!this.isResourceOpen) return
    this.isResourceOpen = false
    this.resource.emitDestroy()
  }

  unlisten () {
    unwatch(this)
    this.tls?.stopWatching()
    this.bindings?.stop()
    // Release the ports first, so that the lanes know where requests go from here on. Includes ports whose socket could not listen, and
    // pending registrations.
    const ports = new Set([...this.ports, ...this.asking.values()])
    this.ports.clear()
    this.successorPorts.clear()
    const isKnown = [...ports].flatMap((port) => {
      const known = release(theEngine(), this, port, [], this.sharing)
      if (known === null) return []
      this.successorPorts.add(port)
      return [known]
    })
    withdraw(this)
    // If the server has ports, continue although it does not listen: the engine may have accepted for it on a shared port.
    if (this.listening === 0 && ports.size === 0) return
    const wasListening = this.listening !== 0
    this.listening = 0
    this.#unlistenNative()
    // Handshakes (TLS) delay 'close', too: the lanes must first report the ones under way.
    if ((isKnown.length > 0 || this.tls !== null) && wasListening) this.#leave(Promise.all(isKnown))
  }

  // Delays 'close' until the requests that lanes have taken for this server have reached JavaScript. After drain()
  // the lanes take no more; JavaScript reads the rest in the next turns of its event loop. When `isKnown`
  // resolves, no other member accepts for this server.
  /** @param {Promise<unknown>} isKnown */
  #leave (isKnown) {
    const engine = theEngine()
    const leaving = this.leaving = { holdsClose: true, endsIn: /** @type {EngineListener['endsIn']} */ (null) }
    let attempts = 1
    let isThrough = engine.drain(kLeaveMs, 'handled')
    const look = () => {
      if (this.leaving !== leaving) return // The server listens again.
      // Call drain() again if it timed out: on an overloaded machine a lane might not have run at all.
      if (!isThrough && ++attempts <= kLeaveAttempts) isThrough = engine.drain(kLeaveMs, 'handled')
      if ((!isThrough && attempts < kLeaveAttempts) || engine.native.hasUnread()) {
        setImmediate(look)
        return
      }
      this.leaving = null
      this.endsIn = leaving.endsIn
      if (leaving.holdsClose) emitCloseIfDrained(this.server)
      else this.forgetIfUnused()
      this.endsIn = null
    }
    isKnown.then(() => setImmediate(look))
  }
}

module.exports = { Listener, addressOf, theEngine }
