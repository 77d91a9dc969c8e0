'use strict'

// Listener, which is what the engine knows of one server, and the engine itself.

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
const { kVerbosities, takeEngineOptions, takeHttp2 } = require('../options/server-options')
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

/** @typedef {import('../../types').EngineServerOptions & http.ServerOptions} ServerOptions what a user has given: whether it is that, is found out where it is taken */
/** @typedef {import('../../types/internal').EngineListener} EngineListener */
/** @typedef {import('../../types/internal').EngineServer} EngineServer */
/** @typedef {import('../../types/internal').ListenHttpsServer} ListenHttpsServer */
/** @typedef {import('../../types/internal').ListenServer} ListenServer */
/** @typedef {import('../../types/node-internals').ListenHandle} ListenHandle */
/** @typedef {import('../../types/node-internals').PrivateTlsServer} PrivateTlsServer */
/** @typedef {import('../options/tls-options').GivenTlsOptions} GivenTlsOptions */
/** @typedef {(socket: import('../../types/internal').AnySocket & import('node:net').Socket) => void} ConnectionListener */

/**
 * Leaves properties of HTTP.SYS's request queue at Windows' defaults unless the application asks for others.
 *
 * @param {Listener} listener @param {ServerOptions} options
 */
function leaveToKernel ({ own, kernel }, options) {
  if (options.http503Verbosity === undefined) own.http503Verbosity = 'basic'
  if (options.queueLimit === undefined) own.queueLimit = kKernelQueueLimit
  if (options.queueTimeout !== undefined && kernel.queue === 0) kernel.queue = seconds(own.queueTimeout)
  if (options.minSendRate !== undefined && kernel.sendRateMin === 0) kernel.sendRateMin = own.minSendRate || kNoSendRate
  if (kernel.maxBandwidth === 0) kernel.maxBandwidth = own.maxBandwidth
}

/** Options whose connections the lanes count. */
const kOnSockets = /** @type {const} */ (['maxConnectionsPerAddress', 'maxConnectionsPerPrefix'])
/** Requests, the default of HTTP.SYS. */
const kKernelQueueLimit = 1000
/** To HTTP.SYS: none. */
const kNoSendRate = 2 ** 32 - 1
/** Over so long minSendRate is averaged, ms: a client that stands still in a tunnel is not cut off. */
const kSendRateMs = 60_000

/** Most milliseconds that 32 bits hold: 49 days. */
const kMsMax = 2 ** 32 - 1

// `register` replaces it.
const { Server: StockHttpsServer } = https

// Methods by id, as the lanes name them. Node's parser knows QUERY before http.METHODS lists it.
const kMethods = http.METHODS.includes('QUERY') ? http.METHODS : [...http.METHODS, 'QUERY']

// How long a server that leaves a shared port waits for the I/O threads; they need microseconds.
const kLeaveMs = 100
const kLeaveAttempts = 20

/** Backends that have not run where they are meant to: docs/windows.md. */
const kExperimental = ['http.sys']

/** @type {Engine | null} */
let engine = null

/** How long connections may be idle that only the lanes answer, whatever keepAliveTimeout was set to, ms. @param {ListenServer} server */
const idleMsOf = (server) => Math.max(0, Math.min(Math.ceil(idleTimeoutOf(server)) || 0, kMsMax))

/** @param {EngineServer} server @returns {number} */
function headerLinesMax (server) {
  const pairs = headerPairsMax(server)
  return refusesManyHeaders && pairs > 0 ? pairs >>> 1 : Infinity
}

// Warns that others cannot take over a socket: the server serves, too, but only as long as this process does.
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
    // To whom it shares ports with; the operating system knows by itself.
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

// The engine's knowledge of one server, for as long as the server exists.
class Listener {
  /** @param {ListenServer} server @param {ServerOptions} options */
  constructor (server, options) {
    this.server = server
    // Objects of the application's own classes are Node's to TypeScript; they get what ours have when it is needed.
    this.IncomingMessage = /** @type {EngineListener['IncomingMessage']} */ (/** @type {unknown} */ (options.IncomingMessage || EngineIncomingMessage))
    this.ServerResponse = /** @type {EngineListener['ServerResponse']} */ (/** @type {unknown} */ (options.ServerResponse || EngineServerResponse))
    /** Classes of its own are used as they are. @type {Alignment | null} */
    this.alignment = options.IncomingMessage || options.ServerResponse ? null : new Alignment(this)
    this.methods = kMethods
    /** Options of the next response. */
    this.responseOptions = { highWaterMark: 0, rejectNonStandardBodyWrites: false }
    this.own = takeEngineOptions(options)
    /** Whether minSendRate was given. Without it, clients at addresses where Node could listen, too, may take what time they like. */
    this.hasOwnSendRate = options.minSendRate !== undefined
    /** The same of queueTimeout: Node has none. */
    this.hasOwnQueueTimeout = options.queueTimeout !== undefined
    /** Tests shorten it. */
    this.sendRateMs = kSendRateMs
    this.http2 = takeHttp2(options.http2)
    this.kernel = takeHttpSys(options.httpSys)
    if (loadBinding().capabilities.kernelOptions) leaveToKernel(this, options)
    if (options.httpSys !== undefined && !loadBinding().capabilities.kernelOptions) {
      throw new CapabilityError('createServer({ httpSys })', 'kernelOptions', loadBinding().capabilities.name)
    }
    /** What is asked of its output cache; null: it has none. */
    this.cache = takeCache(options.cache, { capabilities: loadBinding().capabilities, canonical: (text) => parseUrlPrefix(text).prefix })
    /** `server.cache`, once it was asked for. @type {import('./output-cache').ServerCache | undefined} */
    this.cacheFace = undefined
    for (const name of kOnSockets) {
      if (this.own[name] !== 0 && !loadBinding().capabilities.listensOnSockets) {
        throw new CapabilityError(`createServer({ ${name} })`, 'listensOnSockets', loadBinding().capabilities.name)
      }
    }
    if (this.http2.isWanted === true && !loadBinding().hasHttp2) throw new Http2UnavailableError()
    this.prefixes = new Prefixes(this.own.stripPrefix ? Way.kStrips : 0)
    /** The folders whose files the lanes serve. */
    this.statics = new StaticMounts()
    /** Open connections in HTTP mode. @type {EngineListener['sockets']} */
    this.sockets = new Set()
    /** The server's end of the connection opened last. @type {import('../http/addresses').NearEnd | undefined} */
    this.near = undefined
    /** The listeners in the place of Node's for connections: a server without one of them is Node's. @type {[event: string, listener: ConnectionListener][]} */
    this.ownListeners = []
    /** The event of one of `ownListeners` that was removed. @type {string | undefined} */
    this.removedEvent = undefined
    this.id = 0
    this.listening = 0
    /**
     * Runs the end of the server, within the end of a connection that was begun elsewhere.
     * @type {(<T>(run: () => T) => T) | null}
     */
    this.endsIn = null
    /** Within server.close(). */
    this.isClosing = false
    /** From server.close() until the next listen() that succeeds: connections end with the answers that are due. */
    this.isClosed = false
    /** How often it has listened again after close(). */
    this.timesReopened = 0
    /** What the lanes were told last, ms. */
    this.idleMs = 0
    /** Once it is closed. Not where one of its own handlers has closed it: what that handler does next is as on Node. */
    this.endsIdle = true
    /**
     * Ports on which other processes, or workers, were when it was closed: idle connections without TLS move to them.
     *
     * @type {Set<number>}
     */
    this.successorPorts = new Set()
    /** listen(port) of a cluster's worker, which asks its primary. */
    this.asksPrimary = false
    /** A worker that its primary does not know to listen. */
    this.endsWithPrimary = false
    /**
     * Closed, and requests of connections that JavaScript has not heard of may still come. 'close' waits for them until the
     * next listen(), and then come in the context of the last connection's end.
     * @type {{ holdsClose: boolean, endsIn: Listener['endsIn'] } | null}
     */
    this.leaving = null
    /** The context of listen(), which requests inherit as on Node. There before the first connection. @type {AsyncResource} */
    this.resource = /** @type {AsyncResource} */ (/** @type {unknown} */ (null))
    /** Hooks have heard of its beginning, and not of its end. */
    this.isResourceOpen = false
    /** Whether it has been that of a listen(): a later one has a resource of its own. */
    this.isResourceUsed = false
    /** How it shares its ports. */
    this.sharing = { queueName: '', queueMode: 'create', exclusive: false, isImplied: false, restartMs: 0 }
    /** The call of listen(), whose stack its errors get. @type {Error | null} */
    this.origin = null
    /** Why that call will fail, as far as it is known before its host is looked up. @type {Error | null} */
    this.failure = null
    /** The places that listen() is to open, when it was given prefixes. @type {import('./endpoints').Plan | null} */
    this.plan = null
    /** From listen() until Node knows its host: `opening` is not set so far. */
    this.isLookingUp = false
    /** The listen() that other processes are being asked about. @type {object | null} */
    this.opening = null
    /** Ports on which it has registered prefixes. @type {Set<number>} */
    this.ports = new Set()
    /** Ports on which it wants to register prefixes, while other processes are being asked. @type {Map<number, number>} ports by token */
    this.asking = new Map()
    /** The port whose socket listen({ prefix, fd }) was given; 0: none. */
    this.givenPort = 0
    /** The sockets that the server listens on beside server._handle. */
    this.beside = new SocketsBeside()
    /** @type {NodeJS.Timeout | undefined} */
    this.checker = undefined
    /** An https.Server: what is given no scheme is TLS. */
    this.isSecure = false
    /** An http.Server that listens on a port with TLS, because it is an adapter's. */
    this.isTlsPort = false
    /** The bindings that its certificates come from. @type {LiveBindings | null} */
    this.bindings = null
    /** The options of TLS that createServer() was given. */
    this.created = new CreatedTls(options)
    /** @type {ServerTls | null} */
    this.tls = null
    /** Whether a handler has used one of the sockets. */
    this.hasStreams = false
  }

  // Connections that are accepted from now on have what changed. Throws when a prefix of another server is in the way.
  tlsChanged () {
    if (this.id === 0) return
    const { native } = theEngine()
    if (this.tls !== null && this.hasTls && loadBinding().capabilities.listensOnSockets) {
      const conflict = native.changeTerms(this.id, this.tls.handle)
      if (conflict !== undefined) throw new TlsTermsError(conflict.wanted, conflict.prefix, conflict.pid)
    }
    this.configure()
  }

  // A socket has listeners: they are to hear of a refused request.
  socketUsed () {
    if (this.hasStreams) return
    this.hasStreams = true
    if (this.id !== 0) this.configure()
  }

  // For prefixes that ask for TLS: with the options of listen(), and those that the server has.
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

  // For a port. Only adapters give options of TLS for one.
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

  // Whether the server has a certificate of its own. An https.Server may have got it by addContext() or setSecureContext(), too.
  // A certificate that is bound to prefixes does not count: each listen() looks it up for its own prefixes.
  get hasCertificate () {
    if (this.bindings !== null && !this.tls?.hasOwnContext) return false
    return this.created.isCertified(this.server) || (this.tls !== null && this.tls.hasHosts)
  }

  /** @param {GivenTlsOptions} options @param {() => import('../tls/certificate-sources').Sources} find */
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
      this.tls = new ServerTls(/** @type {https.Server & PrivateTlsServer} */ (reader), this.offersHttp2(options), this.server)
    }
    this.useSources(sources)
  }

  /** @param {import('../tls/certificate-sources').Sources} sources */
  useSources (sources) {
    const own = /** @type {ServerTls} */ (this.tls)
    own.setHosts(sources.hosts)
    own.watch(sources, () => this.tlsChanged())
    this.bindings?.stop()
    this.bindings = sources.bound === null ? null : this.#follow(sources, sources.bound)
  }

  /** @param {import('../tls/certificate-sources').Sources} sources @param {import('../prefixes/url-prefix').UrlPrefix[]} bound of a port: the prefix that stands for it */
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

  // Unless the application names protocols itself, or wants none of it.
  /** @param {GivenTlsOptions} options */
  offersHttp2 ({ ALPNProtocols, ALPNCallback }) {
    return ALPNProtocols === undefined && ALPNCallback === undefined && this.http2.isWanted !== false && loadBinding().hasHttp2
  }

  // Whether the server speaks TLS anywhere.
  get hasTls () {
    if (this.tls === null) return false
    return this.prefixes.isImplied ? this.isSecure || this.isTlsPort : this.prefixes.places.hasTls
  }

  /** @param {{ address?: string, port?: number }} socket no port: not TCP */
  isTls ({ address, port }) {
    return this.hasTls && port !== undefined && (this.prefixes.isImplied || this.prefixes.places.isTls(port, address))
  }

  // Settings that the lanes read. Called whenever one of them may have changed.
  configure () {
    const { server, own } = this
    this.idleMs = idleMsOf(server)
    theEngine().native.configure(this.id, {
      ...connectionOptionsOf(server),
      maxHeaderLines: headerLinesMax(server),
      maxRequestBodySize: own.maxRequestBodySizeCeiling || own.maxRequestBodySize,
      pipelinedRequestsMax: own.pipelinedRequestsMax,
      maxConnectionsPerAddress: own.maxConnectionsPerAddress,
      maxConnectionsPerPrefix: own.maxConnectionsPerPrefix,
      queueLimit: own.queueLimit,
      queueTimeout: this.hasOwnQueueTimeout || !this.prefixes.isImplied ? Math.min(own.queueTimeout, kMsMax) : 0,
      verbosity503: kVerbosities.indexOf(own.http503Verbosity),
      minSendRate: this.hasOwnSendRate || !this.prefixes.isImplied ? own.minSendRate : 0,
      sendRateMs: this.sendRateMs,
      maxBandwidth: own.maxBandwidth,
      strictUrl: own.strictUrl,
      serverHeader: own.serverHeader,
      endsIdle: this.endsIdle,
      isOpening: this.opening !== null,
      idleMs: this.idleMs,
      keepAliveMs: Math.max(0, Math.min(Math.floor(server.keepAliveTimeout) || 0, kMsMax)),
      maxRequestsPerSocket: Math.max(0, ~~(server.maxRequestsPerSocket ?? 0)),
      // An application that looks at connections may listen to their sockets' errors.
      wantsErrors: this.hasStreams || server.listenerCount('clientError') > 0 || server.listenerCount('connection') > 1 ||
        server.listenerCount('secureConnection') > (this.isSecure ? 1 : 0),
      hearsUpgrades: server.listenerCount('upgrade') > 0,
      hearsTimeouts: server.listenerCount('timeout') > 0,
      requiresHost: Boolean(requiresHost(server)),
      // Node's own listener only goes on to 'clientError'.
      wantsTlsErrors: server.listenerCount('clientError') > 0 || server.listenerCount('tlsClientError') > (this.isSecure ? 1 : 0),
      tls: this.hasTls ? /** @type {ServerTls} */ (this.tls).handle : null,
      listening: this.timesReopened,
      http2: this.http2.settings,
      ...cacheConfig(this.cache),
      kernel: {
        ...this.kernel,
        idle: seconds(server.keepAliveTimeout),
        header: seconds(server.headersTimeout),
        body: seconds(server.requestTimeout)
      },
      prefixes: this.prefixes.changes,
      statics: this.statics.changes(this.prefixes)
    })
    this.prefixes.told()
    this.statics.told()
    // The lanes take a server that is configured for one that listens; a closed one still ends its connections.
    if (this.isClosed && this.opening === null) this.#unlistenNative()
  }

  // keepAliveTimeout is a property that anybody may set at any time.
  lookAtIdleTime () {
    if (this.id !== 0 && this.idleMs !== idleMsOf(this.server)) this.configure()
  }

  #unlistenNative () {
    theEngine().native.unlisten(this.id)
    this.prefixes.forgotten()
    this.statics.forgotten()
  }

  // The id stays while connections of an earlier listen() may still name it.
  open () {
    const e = theEngine()
    if (!this.isResourceOpen) this.#renewResource()
    if (this.cache !== null) e.allowCacheBytes(this.cache.bytes, this.cache.portBytes)
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
    const key = native.listen(this.id, /** @type {number} */ (handle.fd), backlog, !isForeign && this.isTls(addressOf(handle)))
    if (key < 0) return key
    this.listening++
    served.servers++
    return key
  }

  // On a socket that the engine accepts on already.
  listenShared () {
    this.#useResource()
    this.listening++
    served.servers++
    return 0
  }

  // Other members of the port may have the socket, too, so that it outlives this process.
  /** @param {ListenHandle} handle @param {boolean} isLast of the port's sockets that this listen() opens */
  contribute (handle, isLast) {
    const { port } = addressOf(handle)
    if (port === undefined || !this.ports.has(port)) return
    const failed = theEngine().native.contribute(port, this.id, /** @type {number} */ (handle.fd), isLast)
    if (failed !== 0) warnOfUnshared(handle, failed)
  }

  /** @param {number} port @param {string[]} prefixes that are kept for somebody */
  reserve (port, prefixes) {
    theEngine().native.reserve(port, prefixes)
  }

  /** @param {number[]} ports @param {{ id: number }[]} prefixes @returns {Promise<unknown>} when others on the ports know */
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
    // First: somebody has to accept on it as long as others have it.
    if (port !== undefined && this.ports.has(port)) native.withdraw(port, /** @type {number} */ (handle.fd))
    native.stopListening(key)
  }

  // A listen() that has not listened so far never will.
  stopOpening () {
    if (this.opening === null) return
    this.opening = null
    this.unlisten()
    this.#stayClosed()
  }

  // A listen() has failed.
  listenFailed () {
    this.#stayClosed()
    this.forgetIfUnused()
  }

  // The lanes, which were configured for listen(), learn that a server that was closed before still is.
  #stayClosed () {
    if (this.isClosed && this.id !== 0) this.configure()
  }

  // Connections that JavaScript has not heard of yet are refused from here on.
  forgetIfUnused () {
    if (handleOf(this.server) || this.opening !== null) return
    // The files are not watched any more, also after a listen() that has failed.
    this.tls?.stopWatching()
    this.bindings?.stop()
    if (this.id === 0 || connectionsOf(this.server) > 0 || this.leaving !== null) return
    // Again: a setting changed since unlisten() has made the lanes remember the server.
    this.#unlistenNative()
    servers.delete(this.id)
    this.id = 0
    this.#endResource()
  }

  // Takes the async resource of this listen(). The one of an earlier listen() may still be open for its connections.
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

  // Whatever comes later still runs in it.
  #endResource () {
    if (!this.isResourceOpen) return
    this.isResourceOpen = false
    this.resource.emitDestroy()
  }

  unlisten () {
    unwatch(this)
    this.tls?.stopWatching()
    this.bindings?.stop()
    // First: the lanes know where requests go from here on. Also what was registered for a socket that could not listen,
    // and what others are being asked about.
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
    // The engine may accept for it already where others listen.
    if (this.listening === 0 && ports.size === 0) return
    const wasListening = this.listening !== 0
    this.listening = 0
    this.#unlistenNative()
    // Handshakes under way are waited for; lanes tell of them first.
    if ((isKnown.length > 0 || this.tls !== null) && wasListening) this.#leave(Promise.all(isKnown))
  }

  // Requests that lanes have taken for this server are on their way: who closes without dropping any
  // answers them. Behind the barrier nothing more comes; what there is, is read within the next turns.
  // When others know, too, nobody accepts for it any more.
  /** @param {Promise<unknown>} isKnown */
  #leave (isKnown) {
    const engine = theEngine()
    const leaving = this.leaving = { holdsClose: true, endsIn: /** @type {Listener['endsIn']} */ (null) }
    let attempts = 1
    let isThrough = engine.drain(kLeaveMs, 'handled')
    const look = () => {
      if (this.leaving !== leaving) return // The server listens again.
      // On an overloaded machine a lane may not have run at all.
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
