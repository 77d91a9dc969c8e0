'use strict'

// https.Server on the engine. Node's constructor and methods check and store the options; the lanes do handshakes
// and encryption.

const https = require('node:https')
const { ServerTls } = require('../tls/server-tls')
const { findCertificates } = require('../tls/certificate-sources')
const { refuseBehind, refuseIgnored, refuseIgnoredByServer, refuseMisplaced } = require('../options/option-names')
const { explained } = require('../tls/explain-pem')
const { CreatedTls } = require('../tls/listen-tls')
const { kSourceOptions, refuseUnsupported } = require('../options/tls-options')
const { loadBinding } = require('../backend/binding')
const { connectionListener } = require('../node-private/node-internals')
const { contextsOf } = require('../node-private/tls')
const { attach, isOurs, methodsOf, onConnection, replaceListener, watchSettings } = require('./server')
const { https: { Server: StockUrlServer } } = require('./stock-server')
const { kListener } = require('../http/symbols')

const { Server: StockServer } = https

/** @import { ListenHttpsServer, ListenHttpsServerBase, ListenServerBase } from '../../types/internal' */
/** @import { RequestListener } from 'node:http' */
/** @typedef {import('../../types').HttpsServerOptions} HttpsServerOptions as the user gave them; each option is checked where it is read */

// Cast: for TypeScript https.Server does not extend http.Server. methodsOf() does not change the methods of tls.Server.
const Base = /** @type {ListenServerBase} */ (/** @type {unknown} */ (StockServer))

class Methods extends /** @type {ListenHttpsServerBase} */ (/** @type {unknown} */ (methodsOf(Base))) {
  /** @param {import('node:tls').SecureContextOptions} options */
  setSecureContext (options) {
    const { [kListener]: listener } = this
    // Called by Node's constructor, with the options of createServer(): the listener does not exist yet.
    if (listener === undefined) return super.setSecureContext(options)
    refuseIgnored('setSecureContext()', options, [])
    listener.tls.attempt(() => {
      super.setSecureContext(options)
      listener.tls.contextChanged()
      listener.tlsChanged()
    })
    listener.tls.hasOwnContext = true
  }

  /** @param {string} servername @param {import('node:tls').SecureContextOptions} context */
  addContext (servername, context) {
    const { [kListener]: listener } = this
    const contexts = contextsOf(this)
    const { length } = contexts
    refuseIgnored('addContext()', context, [])
    try {
      listener.tls.attempt(() => {
        super.addContext(servername, context)
        // Node has appended [pattern, its native context] to `contexts`.
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
    const { [kListener]: listener } = this
    listener.tls.setTicketKeys(keys)
    listener.tlsChanged()
  }

  // Returns Node's ticket keys, and makes the lanes use them from now on: the caller probably gives them to other servers.
  getTicketKeys () {
    const keys = super.getTicketKeys()
    const { [kListener]: listener } = this
    listener.tls.setTicketKeys(keys)
    listener.tlsChanged()
    return keys
  }
}

/**
 * @constructor
 * @this {ListenHttpsServer}
 * @param {HttpsServerOptions | RequestListener} [options] of Node's https.createServer(), and our own of createServer()
 * @param {RequestListener} [requestListener]
 */
function Server (options, requestListener) {
  if (!(this instanceof Server)) return new Server(options, requestListener)
  refuseIgnoredByServer(options, kSourceOptions)
  if (typeof options === 'function') refuseBehind('createServer() behind the listener', [requestListener])
  // HTTP.SYS takes certificates only from Windows, so Node's own code serves an https.Server with certificates of its own.
  if (!loadBinding().capabilities.listensOnSockets) {
    refuseMisplaced('https.createServer() beside HTTP.SYS, where it is Node\'s,', options, kSourceOptions)
    return new StockUrlServer(options, requestListener)
  }
  let sources = null
  const created = new CreatedTls(options)
  if (typeof options === 'object' && options !== null) {
    refuseUnsupported(options)
    const given = options
    if (kSourceOptions.some((name) => given[name] !== undefined)) {
      sources = findCertificates(given, [])
      options = /** @type {HttpsServerOptions} */ (sources.options)
    }
  }
  watchSettings(this)
  explained(options ?? {}, () => Reflect.apply(StockServer, this, [options, requestListener]))
  attach(this, options)
  this[kListener].isSecure = true
  this[kListener].created = created
  this[kListener].tls = new ServerTls(this, this[kListener].offersHttp2(
    /** @type {HttpsServerOptions} */ (options ?? {})), this)
  if (sources !== null) this[kListener].useSources(sources)
  const [stockListener] = /** @type {((socket: import('node:net').Socket) => void)[]} */ (this.listeners('connection'))
  replaceListener(this, 'connection', stockListener, (socket) => {
    if (!isOurs(socket)) stockListener.call(this, socket)
  })
  replaceListener(this, 'secureConnection', connectionListener, onConnection)
}
Server.prototype = Methods.prototype
Object.defineProperty(Server.prototype, 'constructor', { value: Server, writable: true, configurable: true })
Object.setPrototypeOf(Server, StockServer)

/** @param {HttpsServerOptions | RequestListener} [options] @param {RequestListener} [requestListener] @returns {https.Server} */
function createServer (options, requestListener) {
  return /** @type {https.Server & Server} */ (new Server(options, requestListener))
}

module.exports = { Server, createServer }
