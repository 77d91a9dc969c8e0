'use strict'

// The TLS settings of one server. A tls.Server of Node's (the server itself, or one that never listens) holds the
// options and makes contexts from them; the lanes' settings are derived from it whenever it changes.

const { Buffer } = require('node:buffer')
const { createHash } = require('node:crypto')
const tls = require('node:tls')
const { loadBinding } = require('../backend/binding')
const { TlsUnavailableError } = require('../base/errors')
const { handshakeTimeoutOf, sniCallbackOf } = require('../node-private/node-internals')
const {
  alpnProtocolsOf, certificatesOf, chooseAlpn, choosesAlpn, clientCheckOf, contextOptions, contextOptionsOf, externalOf, handleIn, keepContext,
  sessionIdContextOf, sharedContextOf, ticketKeysOf
} = require('../node-private/tls')
const { watchDirectory } = require('./certificate-directory')
const { trustedBy } = require('./certificate-sources')
const { rememberError } = require('./failure')
const { kTrustOptions } = require('../options/tls-options')

const { Server: StockServer } = tls

/** @import { ContextHandle, PrivateTlsServer } from '../../types/node-internals' */
/** @import { Sources, Trust } from './certificate-sources' */
/** @typedef {tls.SecureContext} SecureContext */
/** @typedef {SecureContext | ContextHandle} ChosenContext result of SNICallback, or argument of addContext(): a SecureContext, or the handle in it */

// ALPN protocols h2 and http/1.1, each preceded by its length (RFC 7301, section 3.1).
const kHttp2First = Buffer.from('\x02h2\x08http/1.1', 'latin1')
const kHandshakeMsMax = 0xffffffff

/** The lanes' copies of contexts, by Node's context; separate copies for servers that log TLS secrets ('keylog'). */
const kCopies = {
  quiet: /** @type {WeakMap<object, unknown>} */ (new WeakMap()),
  logging: /** @type {WeakMap<object, unknown>} */ (new WeakMap())
}

/** Events of a tls.Server. While one has listeners, the lanes' handshakes wait for these, or report secrets ('keylog'). */
const kTlsEvents = ['newSession', 'resumeSession', 'OCSPRequest', 'keylog']

/**
 * @typedef {object} Hello the parts of a ClientHello that concern the application
 * @property {string} servername '' = none
 * @property {string[]} protocols that the client speaks
 * @property {Buffer} sessionId
 * @property {boolean} hasTicket
 * @property {boolean} wantsStatus
 */

class ServerTls {
  /** Handle of the native settings; null: they have changed, and must be made anew. @type {unknown} */
  #handle = null
  /** Context for the lanes only: Node's own code uses and changes the server's context. @type {SecureContext | null} */
  #context = null
  #ticketKeys
  /** Names of the events in kTlsEvents that had listeners when #context was made. */
  #heard = ''
  /** Hosts from the options, folders and bindings. @type {Sources['hosts']} */
  #sources = []
  /** The server's kTrustOptions when the contexts of #sources were made. @type {Trust} */
  #trust = {}
  /**
   * Contexts of the hosts in #sources. Hosts added by addContext() (#hosts) take precedence.
   *
   * @type {{ pattern: string, context: ChosenContext }[]}
   */
  #givenHosts = []
  /** @type {{ pattern: string, context: ChosenContext }[]} */
  #hosts = []
  /** @type {() => void} */
  #stopWatching = () => {}

  /** @param {PrivateTlsServer} owner @param {boolean} offersHttp2 @param {import('node:http').Server} server that emits events */
  constructor (owner, offersHttp2, server) {
    this.owner = owner
    this.server = server
    /** Whether the lanes ask clients for certificates, by the settings of the last handle. */
    this.asksForCertificate = false
    this.offersHttp2 = offersHttp2
    /** True if the application has called setSecureContext(): folders and bindings no longer replace the context. */
    this.hasOwnContext = false
    this.#ticketKeys = ticketKeysFor(owner)
  }

  /** Runs a change of settings. If it throws, restores all settings. @param {() => void} change */
  attempt (change) {
    const restore = keepContext(this.owner)
    const own = /** @type {const} */ ([this.#context, this.#handle, this.#heard, this.#sources,
      this.#trust, this.#givenHosts, this.#hosts])
    try {
      change()
    } catch (error) {
      restore();
      [this.#context, this.#handle, this.#heard, this.#sources, this.#trust, this.#givenHosts, this.#hosts] = own
      throw error
    }
  }

  /** Must be called when certificates or other settings have changed, so that the next handle has them. */
  contextChanged () {
    this.#context = null
    this.#handle = null
    const trust = contextOptions(this.owner, kTrustOptions)
    if (kTrustOptions.some((name) => trust[name] !== this.#trust[name])) this.setHosts(this.#sources)
  }

  /** Must be called when the owner, a tls.Server of Node's, got other settings than it was created with. @param {boolean} offersHttp2 */
  settingsChanged (offersHttp2) {
    this.offersHttp2 = offersHttp2
    this.#ticketKeys = ticketKeysFor(this.owner)
    this.contextChanged()
  }

  /**
   * Sets the default certificate, for hosts without one of their own, from a folder or a binding.
   *
   * @param {import('node:tls').SecureContextOptions} options
   */
  follow (options) {
    if (this.hasOwnContext) return
    StockServer.prototype.setSecureContext.call(this.owner, options)
    this.contextChanged()
  }

  /** @param {Buffer} keys */
  setTicketKeys (keys) {
    this.#ticketKeys = makeTicketKeys(keys)
    this.#handle = null
  }

  /** @param {string} pattern @param {ChosenContext} context */
  addHost (pattern, context) {
    hostOf(context)
    this.#hosts = [...this.#hosts, { pattern, context }]
    this.#handle = null
  }

  get hasHosts () {
    return this.#givenHosts.length + this.#hosts.length > 0
  }

  /** @param {Sources['hosts']} hosts */
  setHosts (hosts) {
    const trust = contextOptions(this.owner, kTrustOptions)
    this.#sources = hosts
    this.#trust = trust
    this.#givenHosts = hosts.map(({ pattern, options }) =>
      ({ pattern, context: tls.createSecureContext(trustedBy(trust, options)) }))
    this.#handle = null
  }

  /** Watches a folder of certificates and applies its changes. @param {Sources} sources @param {() => void} changed */
  watch ({ options, named, directory }, changed) {
    this.#stopWatching()
    if (directory === null) return
    this.#stopWatching = watchDirectory(directory, (pairs) => {
      const fresh = [...pairs].filter(([pattern]) => pattern !== 'default').map(([pattern, pair]) => ({ pattern, options: pair }))
      this.attempt(() => {
        this.setHosts([...fresh, ...named])
        if (pairs.has('default')) this.follow({ ...options, ...pairs.get('default') })
        changed()
      })
    })
  }

  stopWatching () {
    this.#stopWatching()
    this.#stopWatching = () => {}
  }

  get handle () {
    const { owner, server } = this
    const heard = kTlsEvents.filter((event) => server.listenerCount(event) > 0).join(' ')
    if (this.#handle !== null && heard === this.#heard) return this.#handle
    // Lanes still use the old context, so other listeners need a new one.
    if (heard !== this.#heard) this.#context = null
    this.#heard = heard
    const logsKeys = heard.includes('keylog')
    this.#context ??= tls.createSecureContext(contextOptionsOf(owner))
    const timeout = handshakeTimeoutOf(owner)
    const clientCheck = clientCheckOf(owner)
    const handle = loadBinding().createTlsContext({
      context: requireExternal(this.#context),
      hosts: [...this.#givenHosts, ...this.#hosts].map(({ pattern, context }) =>
        ({ pattern, host: hostOf(context, logsKeys) })),
      ticketKeys: this.#ticketKeys,
      options: {
        sessionIdContext: contextIdOf(owner),
        alpn: this.offersHttp2 ? kHttp2First : alpnProtocolsOf(owner) ?? Buffer.alloc(0),
        asksHost: typeof sniCallbackOf(owner) === 'function',
        asksAlpn: choosesAlpn(owner),
        asksSession: heard.includes('resumeSession'),
        asksStatus: heard.includes('OCSPRequest'),
        tellsSessions: heard.includes('Session'),
        logsKeys,
        ...clientCheck,
        handshakeTimeout: Math.min(timeout, kHandshakeMsMax)
      }
    })
    if (handle === undefined) throw new TlsUnavailableError('its context could not be made')
    this.asksForCertificate = Boolean(clientCheck.requestCert)
    return (this.#handle = handle)
  }

  /**
   * Asks the application's callbacks about a ClientHello, in Node's order: session, certificate, its OCSP status, protocol.
   *
   * @param {import('node:http').Server} server
   * @param {Hello} hello
   * @param {(answer: import('../../types/binding').HelloAnswer) => void} answer
   */
  ask (server, hello, answer) {
    const refuse = (/** @type {Error} */ error) => answer({ isRefused: true, reason: rememberError(error) })
    findSession(server, hello, refuse, (session) => this.#chooseContext(hello, refuse, (context) => {
      this.#findStatus(server, hello, context, refuse, (status) => {
        try {
          const host = context === undefined ? undefined : hostOf(context, this.#heard.includes('keylog'))
          answer({ host, session, status, alpn: this.#chooseProtocol(hello) })
        } catch (error) {
          refuse(/** @type {Error} */ (error))
        }
      })
    }))
  }

  /** @param {Hello} hello @param {(error: Error) => void} refuse @param {(context?: ChosenContext) => void} next */
  #chooseContext ({ servername }, refuse, next) {
    const choose = sniCallbackOf(this.owner)
    if (typeof choose !== 'function' || servername === '') return next(undefined)
    choose.call(this.owner, servername, once((error, context) => error ? refuse(error) : next(context || undefined)))
  }

  /** @param {import('node:http').Server} server @param {Hello} hello @param {ChosenContext | undefined} context @param {(error: Error) => void} refuse @param {(status?: Buffer) => void} next */
  #findStatus (server, { servername, wantsStatus }, context, refuse, next) {
    if (!wantsStatus || server.listenerCount('OCSPRequest') === 0) return next()
    const fits = (/** @type {{ pattern: string }} */ { pattern }) => matchesHost(pattern, servername)
    const added = servername === '' ? undefined : [...this.#givenHosts, ...this.#hosts].findLast(fits)?.context
    const chosen = context ?? added ?? sharedContextOf(this.owner)
    const { certificate, issuer } = certificatesOf(handleIn(chosen))
    server.emit('OCSPRequest', certificate, issuer,
      once((error, response) => error ? refuse(error) : next(response || undefined)))
  }

  /** @param {Hello} hello @returns {string | undefined} undefined = none of the offered protocols */
  #chooseProtocol ({ servername, protocols }) {
    const { owner } = this
    if (!choosesAlpn(owner) || protocols.length === 0) return undefined
    const alpn = chooseAlpn(owner, { servername: /** @type {string} */ (servername || false), protocols }) // Node passes false if the client has sent no name.
    if (alpn !== undefined && !protocols.includes(alpn)) throw invalidProtocol(alpn, protocols)
    return alpn
  }
}

/**
 * Returns the application's sessionIdContext, '' if it is Node's default. Node derives the default from the command line, but processes of a port
 * may be different programs; sessions are bound to certificates and trust in any case.
 *
 * @param {PrivateTlsServer} owner
 * @returns {string}
 */
function contextIdOf (owner) {
  const sessionIdContext = sessionIdContextOf(owner)
  const chosenByNode = createHash('sha1').update(process.argv.join(' ')).digest('hex').slice(0, 32)
  return sessionIdContext === chosenByNode ? '' : String(sessionIdContext ?? '')
}

// Asks the application for the session of a ClientHello, unless the client has sent a ticket, which contains its session.
/** @param {import('node:http').Server} server @param {Hello} hello @param {(error: Error) => void} refuse @param {(session?: Buffer) => void} next */
function findSession (server, { sessionId, hasTicket }, refuse, next) {
  if (sessionId.length === 0 || hasTicket) return next()
  const answer = once((error, session) => error ? refuse(error) : next(session || undefined))
  if (!server.emit('resumeSession', sessionId, answer)) next()
}

/** @template R @param {(error: Error | null | undefined, result?: R) => void} callback @returns {(error: Error | null | undefined, result?: R) => void} */
function once (callback) {
  let isCalled = false
  return (error, result) => {
    if (isCalled) return
    isCalled = true
    callback(error, result)
  }
}

// Compares a host with a pattern as the I/O thread does: `*` stands for one label or a part of it.
/** @param {string} pattern @param {string} host */
function matchesHost (pattern, host) {
  const source = pattern.replace(/[.+?^${}()|[\]\\]/g, '\\$&').replaceAll('*', '[^.]*')
  return new RegExp(`^${source}$`, 'i').test(host)
}

/** Returns the lanes' copy of a context. @param {ChosenContext} context @param {boolean} [logsKeys] */
function hostOf (context, logsKeys = false) {
  const handle = handleIn(context)
  const copies = logsKeys ? kCopies.logging : kCopies.quiet
  let host = typeof handle === 'object' && handle !== null ? copies.get(handle) : undefined
  if (host !== undefined) return host
  host = loadBinding().copyTlsHost(externalOf(handle), logsKeys)
  if (host === undefined) throw Object.assign(new Error('Invalid SNI context'), { code: 'ERR_TLS_INVALID_CONTEXT' })
  copies.set(handle, host)
  return host
}

/** @param {SecureContext} context */
function requireExternal (context) {
  const external = externalOf(handleIn(context))
  if (external === undefined) throw new TlsUnavailableError('this Node.js does not give its contexts away')
  return external
}

/** @param {NodeJS.ArrayBufferView} keys */
function makeTicketKeys (keys) {
  return loadBinding().createTicketKeys(Buffer.from(keys.buffer, keys.byteOffset, keys.byteLength))
}

/** @param {PrivateTlsServer} owner with the keys that it was created with, if any */
function ticketKeysFor (owner) {
  const keys = ticketKeysOf(owner)
  return keys === undefined ? undefined : makeTicketKeys(keys)
}

/** @param {string} alpn @param {string[]} protocols */
function invalidProtocol (alpn, protocols) {
  return Object.assign(
    new TypeError(`ALPN callback returned a value (${alpn}) that did not match any of the client's offered protocols (${protocols.join(', ')})`),
    { code: 'ERR_TLS_ALPN_CALLBACK_INVALID_RESULT' })
}

module.exports = { ServerTls }
