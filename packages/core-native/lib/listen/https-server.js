'use strict'

// https.Server on the engine: Node's constructor reads the options, its methods keep them; handshakes and
// records are the lanes'.

const https = require('node:https')
const { ServerTls } = require('../tls/server-tls')
const { findCertificates } = require('../tls/certificate-sources')
const { refuseBehind, refuseIgnored, refuseIgnoredByServer, refuseMisplaced } = require('../options/option-names')
const { CreatedTls } = require('../tls/listen-tls')
const { kSourceOptions, refuseUnsupported } = require('../options/tls-options')
const { loadBinding } = require('../backend/binding')
const { connectionListener } = require('../node/node-internals')
const { contextsOf } = require('../node/tls')
const { attach, isOurs, methodsOf, onConnection, watchSettings } = require('./server')
const { Server: StockUrlServer } = require('./stock-https-server')
const { kListener } = require('../http/symbols')

const { Server: StockServer } = https

class Methods extends methodsOf(StockServer) {
  /** @param {any} options */
  setSecureContext (options) {
    const listener = /** @type {any} */ (this)[kListener]
    // Node's constructor calls it with all that createServer() was given.
    if (listener === undefined) return super.setSecureContext(options)
    refuseIgnored('setSecureContext()', options, [])
    listener.tls.attempt(() => {
      super.setSecureContext(options)
      listener.tls.contextChanged()
      listener.tlsChanged()
    })
    listener.tls.hasOwnContext = true
  }

  /** @param {string} servername @param {any} context */
  addContext (servername, context) {
    const { [kListener]: listener } = /** @type {any} */ (this)
    const contexts = contextsOf(/** @type {import('../../types/node-internals').PrivateTlsServer} */ (/** @type {unknown} */ (this)))
    const { length } = contexts
    refuseIgnored('addContext()', context, [])
    try {
      listener.tls.attempt(() => {
        super.addContext(servername, context)
        // The last one is [pattern, handle of a context of Node's].
        listener.tls.addHost(servername, contexts[contexts.length - 1][1])
        listener.tlsChanged()
      })
    } catch (error) {
      contexts.length = length
      throw error
    }
  }

  /** @param {Buffer} keys */
  setTicketKeys (keys) {
    super.setTicketKeys(keys)
    const listener = /** @type {any} */ (this)[kListener]
    listener.tls.setTicketKeys(keys)
    listener.tlsChanged()
  }

  // Whoever asks wants to give them to others: from now on sessions are sealed with these.
  getTicketKeys () {
    const keys = super.getTicketKeys()
    const listener = /** @type {any} */ (this)[kListener]
    listener.tls.setTicketKeys(keys)
    listener.tlsChanged()
    return keys
  }
}

/**
 * @param {any} [options] those of https.createServer, and of http.createServer's ours
 * @param {any} [requestListener]
 */
function Server (options, requestListener) {
  if (!(this instanceof Server)) return new (/** @type {any} */ (Server))(options, requestListener)
  refuseIgnoredByServer(options, kSourceOptions)
  if (typeof options === 'function') refuseBehind('createServer() behind the listener', [requestListener])
  // Where the system has the certificates, a server with keys of its own is Node's.
  if (!loadBinding().capabilities.listensOnSockets) {
    refuseMisplaced('https.createServer() beside HTTP.SYS, where it is Node\'s,', options, kSourceOptions)
    return new StockUrlServer(options, requestListener)
  }
  let sources = null
  const created = new CreatedTls(options)
  if (typeof options === 'object' && options !== null) {
    refuseUnsupported(options)
    if (kSourceOptions.some((name) => options[name] !== undefined)) {
      sources = findCertificates(options, [])
      options = sources.options
    }
  }
  watchSettings(this)
  Reflect.apply(StockServer, this, [options, requestListener])
  const self = /** @type {any} */ (this)
  attach(self, options)
  self[kListener].isSecure = true
  self[kListener].created = created
  self[kListener].tls = new ServerTls(self, self[kListener].offersHttp2(options ?? {}), self)
  if (sources !== null) self[kListener].useSources(sources)
  const [stockListener] = self.listeners('connection')
  self.removeListener('connection', stockListener)
  self.prependListener('connection', (/** @type {any} */ socket) => {
    if (!isOurs(socket)) stockListener.call(self, socket)
  })
  self.removeListener('secureConnection', connectionListener)
  self.prependListener('secureConnection', onConnection)
}
Server.prototype = Methods.prototype
Object.defineProperty(Server.prototype, 'constructor', { value: Server, writable: true, configurable: true })
Object.setPrototypeOf(Server, StockServer)

/** @param {any} [options] @param {any} [requestListener] @returns {https.Server} */
function createServer (options, requestListener) {
  return new (/** @type {any} */ (Server))(options, requestListener)
}

module.exports = { Server, createServer }
