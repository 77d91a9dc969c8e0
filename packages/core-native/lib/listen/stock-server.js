'use strict'

// The http.Server and https.Server for HTTPSYS_BACKEND=node: Node's own classes, extended only by listening on URL prefixes. They are the
// reference for comparisons with the engine, and a fallback if the addon cannot be built. Stock Node has no output cache.

const http = require('node:http')
const https = require('node:https')
const { CapabilityError } = require('../base/errors')
const { kServedByNode } = require('../http/symbols')
const { refuseBehind, refuseIgnoredByServer } = require('../options/option-names')
const { findCertificates, trustedBy } = require('../tls/certificate-sources')
const { CreatedTls, certificatesForPort } = require('../tls/listen-tls')
const { kSourceOptions, kTrustOptions } = require('../options/tls-options')
const { applicationOf, classifyListen, restartMs } = require('./listen-args')
const { failureOf, raisedAt } = require('./listen-error')
const { checkRegistration } = require('../prefixes/reservations')
const { copyTlsSettings } = require('../node-private/node-internals')
const { nodeProcess } = require('../node-private/node-process')
const { contextOptions } = require('../node-private/tls')

const { Server: StockServer } = http
const { Server: StockHttpsServer } = https

/** TLS options of createServer(), by server. @type {WeakMap<object, CreatedTls>} */
const created = new WeakMap()

/** @typedef {https.Server & import('../../types/node-internals').PrivateTlsServer} SecureServer */
/** @import { ListenOptions, Socket } from 'node:net' */
/** @import { Sources } from '../tls/certificate-sources' */
/** @typedef {Pick<Sources, 'options' | 'hosts'>} Certificates */
/** @typedef {import('../../types').HttpsServerOptions & http.ServerOptions} ServerOptions as the user gave them; each option is checked where it is read */
/** @typedef {new (options?: ServerOptions | http.RequestListener, requestListener?: http.RequestListener) => http.Server} ServerClass of http or of https */

/** @param {ServerClass} Base */
function methodsOf (Base) {
  return class extends Base {
    /** @param {...unknown} args */
    listen (...args) {
      const isSecureServer = this instanceof StockHttpsServer
      const plan = classifyListen(args, { isSecure: isSecureServer })
      const given = /** @type {CreatedTls} */ (created.get(this))
      const hasCertificate = isSecureServer && given.isCertified(this)
      const origin = new Error()
      if (plan.kind === 'node') {
        if (plan.tls !== null || (given.isAdapter && !hasCertificate)) {
          const failure = failureOf(() => useTls(this, certificatesForPort(given.with(plan.tls ?? {}), plan.args)))
          if (failure !== null) return emitLater(this, failure, origin, plan.args.at(-1))
        }
        return super.listen(...(/** @type {[options?: ListenOptions, callback?: () => void]} */ (plan.args)))
      }
      if (plan.fd !== undefined) throw new CapabilityError('listen({ prefix, fd })', 'listensOnSockets', 'node')
      const secure = plan.prefixes.filter(({ scheme }) => scheme === 'https')
      const isKept = secure.length === 0 || (hasCertificate && plan.tls === null)
      /** @type {Sources | null} */
      let sources = null
      const failure = failureOf(() => {
        const who = applicationOf(plan.sharing)
        for (const { prefix } of plan.prefixes) checkRegistration(prefix, who)
        if (!isKept) sources = findCertificates(given.with(plan.tls ?? {}), secure)
      })
      if (failure !== null) return emitLater(this, failure, origin, plan.callback)
      if (isSecureServer && sources !== null) useTls(this, sources)
      const [own, ...others] = plan.endpoints
      const isSecure = (/** @type {{ port: number }} */ { port }) => plan.prefixes.some((prefix) => prefix.port === port && prefix.scheme === 'https')
      const tls = sources ?? { options: /** @type {SecureServer} */ (/** @type {http.Server} */ (this)), hosts: [] }
      for (const endpoint of others) listenBeside(this, endpoint, isSecure(endpoint) ? tls : null)
      const { host, port, ipv6Only } = own
      const options = { ...plan.options, port }
      if (host !== undefined) options.host = host
      if (ipv6Only !== undefined) options.ipv6Only = ipv6Only
      if (isSecure(own) !== isSecureServer) translate(this, isSecure(own) ? tls : null)
      return super.listen(options, plan.callback)
    }

    /** Always null: Node's own code has no output cache. */
    get cache () {
      return null
    }

    set cache (value) {
      Object.defineProperty(this, 'cache', { value, writable: true, enumerable: true, configurable: true })
    }

    /** @returns {never} */
    serveFiles () {
      throw filesError()
    }

    async removeFiles () {
      throw filesError()
    }

    /** @param {...unknown} args */
    close (...args) {
      if (typeof args[0] === 'object' && args[0] !== null) restartMs(/** @type {object} */ (args.shift()))
      refuseBehind('close() behind its first argument', args)
      return super.close(...(/** @type {[callback?: (error?: Error) => void]} */ (args)))
    }
  }
}

function filesError () {
  return new CapabilityError('Serving a folder', 'servesFiles', 'node')
}

/**
 * Emits the error of a listen() in the next tick.
 *
 * @template {http.Server} T
 * @param {T} server
 * @param {Error} failure
 * @param {Error} origin
 * @param {unknown} callback runs if a later listen() succeeds
 * @returns {T}
 */
function emitLater (server, failure, origin, callback) {
  if (typeof callback === 'function') server.once('listening', /** @type {() => void} */ (callback))
  nodeProcess.nextTick(() => server.emit('error', raisedAt(failure, origin)))
  return server
}

/** @param {http.Server} server @param {Sources} sources */
function useTls (server, sources) {
  if (!(server instanceof StockHttpsServer)) return translate(server, sources)
  copyTlsSettings(new StockHttpsServer(sources.options), server)
  server.setSecureContext(sources.options)
  addHosts(server, sources.hosts)
}

// Makes this server speak TLS on the connections that it accepts, or (tls null) plain HTTP, whatever its class.
/** @param {http.Server} server @param {Certificates | null} tls */
function translate (server, tls) {
  const listeners = server.listeners('connection')
  server.removeAllListeners('connection')
  const other = serverBeside(server, tls, (socket) => {
    if (server instanceof StockHttpsServer) server.emit('secureConnection', socket)
    else for (const listener of listeners) listener.call(server, socket)
  })
  server.on('connection', (/** @type {Socket} */ socket) => other.emit('connection', socket))
}

/** @param {https.Server} server @param {Sources['hosts']} hosts */
function addHosts (server, hosts) {
  const trust = contextOptions(/** @type {SecureServer} */ (server), kTrustOptions)
  for (const { pattern, options } of hosts) server.addContext(pattern, trustedBy(trust, options))
  return server
}

/** @param {http.Server} server @param {Certificates | null} tls @param {(socket: Socket) => void} serve @returns {http.Server} */
function serverBeside (server, tls, serve) {
  if (tls === null) {
    const beside = new StockServer()
    beside.removeAllListeners('connection')
    return beside.on('connection', serve)
  }
  const beside = addHosts(new StockHttpsServer(tls.options), tls.hosts)
  beside.removeAllListeners('secureConnection')
  beside.on('tlsClientError', (/** @type {Error} */ error, /** @type {Socket} */ socket) => server.emit('tlsClientError', error, socket))
  return beside.on('secureConnection', (/** @type {Socket} */ socket) => {
    serve(socket)
    if (!(server instanceof StockHttpsServer)) server.emit('secureConnection', socket)
  })
}

// Listens on a further address with a second server, which passes its connections to this one.
/** @param {http.Server} server @param {{ host?: string, port: number, ipv6Only?: boolean }} endpoint @param {Certificates | null} tls */
function listenBeside (server, endpoint, tls) {
  server.once('listening', () => {
    const event = server instanceof StockHttpsServer ? 'secureConnection' : 'connection'
    const beside = serverBeside(server, tls, (socket) => server.emit(event, socket))
    beside.on('error', (/** @type {Error} */ error) => server.emit('error', error))
    beside.listen(endpoint)
    server.once('close', () => beside.close())
  })
}

/** @param {ServerClass} Base @returns {ServerClass} */
function derive (Base) {
  /** @constructor @this {http.Server} @param {ServerOptions | http.RequestListener} [options] @param {http.RequestListener} [requestListener] */
  function Server (options, requestListener) {
    if (!(this instanceof Server)) return new Server(options, requestListener)
    const isSecure = Base === StockHttpsServer
    refuseIgnoredByServer(options, isSecure ? kSourceOptions : [])
    if (typeof options === 'function') refuseBehind('createServer() behind the listener', [requestListener])
    created.set(this, new CreatedTls(options))
    const isGiven = isSecure && typeof options === 'object' && options !== null && kSourceOptions.some((name) => options[name] !== undefined)
    const sources = isGiven ? findCertificates(options, []) : null
    Reflect.apply(Base, this, [sources?.options ?? options, requestListener])
    if (sources !== null) addHosts(/** @type {https.Server} */ (/** @type {http.Server} */ (this)), sources.hosts)
  }
  Server.prototype = methodsOf(Base).prototype
  Object.defineProperty(Server.prototype, kServedByNode, { value: true })
  Object.defineProperty(Server.prototype, 'constructor', { value: Server, writable: true, configurable: true })
  Object.setPrototypeOf(Server, Base)
  return /** @type {ServerClass} */ (/** @type {unknown} */ (Server)) // TypeScript does not see the methods of the replaced prototype.
}

const Server = derive(/** @type {ServerClass} */ (StockServer))

const HttpsServer = derive(/** @type {ServerClass} */ (StockHttpsServer))

/** @param {ServerOptions | http.RequestListener} [options] @param {http.RequestListener} [requestListener] @returns {http.Server} */
function createServer (options, requestListener) {
  return new Server(options, requestListener)
}

/** @param {ServerOptions | http.RequestListener} [options] @param {http.RequestListener} [requestListener] @returns {https.Server} */
function createHttpsServer (options, requestListener) {
  return /** @type {https.Server} */ (new HttpsServer(options, requestListener))
}

/** @returns {never} */
function setCachePolicy () {
  throw new CapabilityError('setCachePolicy()', 'caches', 'node')
}

/** @returns {never} */
function flushCache () {
  throw new CapabilityError('flushCache()', 'caches', 'node')
}

module.exports = { Server, createServer, flushCache, https: { Server: HttpsServer, createServer: createHttpsServer }, setCachePolicy }
