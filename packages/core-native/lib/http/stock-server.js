'use strict'

// HTTPSYS_BACKEND=node: node:http itself, which only learns to listen on URL prefixes. The reference
// to compare the engine with, and a way out where the addon cannot be built.

const http = require('node:http')
const https = require('node:https')
const { refuseIgnoredByServer } = require('../option-names')
const { findCertificates } = require('../tls/certificate-sources')
const { kSourceOptions } = require('../tls/options')
const { classifyListen, restartMs } = require('./listen-args')

const { Server: StockServer } = http
const { Server: StockHttpsServer } = https

/**
 * @param {any} Base http.Server or https.Server
 * @returns {any}
 */
function methodsOf (Base) {
  return class extends Base {
    /** @param {...any} args @returns {any} */
    listen (...args) {
      const plan = classifyListen(args, { isSecure: this instanceof StockHttpsServer })
      if (plan.kind === 'node') return super.listen(...plan.args)
      const isSecureServer = this instanceof StockHttpsServer
      const secure = plan.prefixes.filter(({ scheme }) => scheme === 'https')
      const sources = secure.length === 0 || (isSecureServer && plan.tls === null) ? null : findCertificates(plan.tls ?? {}, secure)
      if (isSecureServer && sources !== null) addHosts(/** @type {any} */ (this), sources.hosts).setSecureContext(sources.options)
      const [own, ...others] = plan.endpoints
      const isSecure = (/** @type {{ port: number }} */ { port }) => plan.prefixes.some((prefix) => prefix.port === port && prefix.scheme === 'https')
      const tls = sources ?? { options: this, hosts: [] }
      for (const endpoint of others) listenBeside(this, endpoint, isSecure(endpoint) ? tls : null)
      const { host, port, ipv6Only } = own
      const options = { ...plan.options, port }
      if (host !== undefined) options.host = host
      if (ipv6Only !== undefined) options.ipv6Only = ipv6Only
      if (isSecure(own) !== isSecureServer) translate(this, isSecure(own) ? tls : null)
      return super.listen(options, plan.callback)
    }

    /** @param {...any} args */
    close (...args) {
      if (typeof args[0] === 'object' && args[0] !== null) restartMs(args.shift())
      return super.close(...args)
    }
  }
}

// What this server accepts is spoken with in the other way.
/** @param {any} server @param {any} tls certificates, or null */
function translate (server, tls) {
  const listeners = server.listeners('connection')
  server.removeAllListeners('connection')
  const other = serverBeside(server, tls, (socket) => {
    if (server instanceof StockHttpsServer) server.emit('secureConnection', socket)
    else for (const listener of listeners) listener.call(server, socket)
  })
  server.on('connection', (/** @type {any} */ socket) => other.emit('connection', socket))
}

/** @param {any} server @param {import('../tls/certificate-sources').Sources['hosts']} hosts */
function addHosts (server, hosts) {
  for (const { pattern, options } of hosts) server.addContext(pattern, options)
  return server
}

/** @param {any} server @param {any} tls certificates, or null @param {(socket: any) => void} serve */
function serverBeside (server, tls, serve) {
  if (tls === null) {
    const beside = new StockServer()
    beside.removeAllListeners('connection')
    return beside.on('connection', serve)
  }
  const beside = addHosts(new StockHttpsServer(tls.options), tls.hosts)
  beside.removeAllListeners('secureConnection')
  beside.on('tlsClientError', (/** @type {any} */ error, /** @type {any} */ socket) => server.emit('tlsClientError', error, socket))
  return beside.on('secureConnection', (/** @type {any} */ socket) => {
    serve(socket)
    if (!(server instanceof StockHttpsServer)) server.emit('secureConnection', socket)
  })
}

// A further address: its connections are this server's.
/** @param {any} server @param {{ host?: string, port: number, ipv6Only?: boolean }} endpoint @param {any} tls */
function listenBeside (server, endpoint, tls) {
  server.once('listening', () => {
    const event = server instanceof StockHttpsServer ? 'secureConnection' : 'connection'
    const beside = serverBeside(server, tls, (socket) => server.emit(event, socket))
    beside.on('error', (/** @type {any} */ error) => server.emit('error', error))
    beside.listen(endpoint)
    server.once('close', () => beside.close())
  })
}

/**
 * @param {any} Base
 * @returns {any}
 */
function derive (Base) {
  /** @this {any} @param {any} [options] @param {any} [requestListener] */
  function Server (options, requestListener) {
    if (!(this instanceof Server)) return new (/** @type {any} */ (Server))(options, requestListener)
    refuseIgnoredByServer(options, Base === StockHttpsServer ? kSourceOptions : [])
    Reflect.apply(Base, this, [options, requestListener])
  }
  Server.prototype = methodsOf(Base).prototype
  Object.defineProperty(Server.prototype, 'constructor', { value: Server, writable: true, configurable: true })
  Object.setPrototypeOf(Server, Base)
  return Server
}

const Server = derive(StockServer)

/** @param {any} [options] @param {any} [requestListener] @returns {http.Server} */
function createServer (options, requestListener) {
  return new Server(options, requestListener)
}

module.exports = { Server, createServer, derive }
