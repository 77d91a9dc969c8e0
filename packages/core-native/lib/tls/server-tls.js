'use strict'

// The TLS of one server. A tls.Server of Node's (the server itself, or one that never listens) holds the
// options and makes contexts of them; what lanes need is taken from there whenever it changes.

const { Buffer } = require('node:buffer')
const { createHash } = require('node:crypto')
const tls = require('node:tls')
const { loadBinding } = require('../binding')
const { TlsUnavailableError } = require('../errors')
const { handshakeTimeoutOf, sniCallbackOf } = require('../http/node-internals')
const { watchDirectory } = require('./certificate-directory')
const { rememberError } = require('./failure')

/** What setSecureContext() of Node's leaves on the server, and creates its context of. */
const kContextFields = [
  'pfx', 'key', 'passphrase', 'cert', 'clientCertEngine', 'ca', 'ciphers', 'sigalgs', 'ecdhCurve', 'dhparam', 'minVersion',
  'maxVersion', 'secureProtocol', 'secureOptions', 'honorCipherOrder', 'crl', 'allowPartialTrustChain', 'sessionIdContext',
  'sessionTimeout', 'ticketKeys', 'privateKeyIdentifier', 'privateKeyEngine'
]
// Each protocol after its length (RFC 7301, section 3.1).
const kHttp2First = Buffer.from('\x02h2\x08http/1.1', 'latin1')
const kHandshakeMsMax = 0xffffffff

/** Copies for lanes, by the context of Node's. @type {WeakMap<object, unknown>} */
const hosts = new WeakMap()

class ServerTls {
  /** Handle of the native settings; null = they have changed. @type {unknown} */
  #handle = null
  /** Made for lanes alone: Node's own code uses the server's, and changes it. @type {any} */
  #context = null
  #ticketKeys
  /** Of the options, and what a program has added: these count before the others. @type {{ pattern: string, context: any }[]} */
  #givenHosts = []
  /** @type {{ pattern: string, context: any }[]} */
  #hosts = []
  /** @type {() => void} */
  #stopWatching = () => {}

  /** @param {any} owner a tls.Server @param {boolean} offersHttp2 */
  constructor (owner, offersHttp2) {
    this.owner = owner
    this.offersHttp2 = offersHttp2
    const keys = owner.ticketKeys
    this.#ticketKeys = keys === undefined ? undefined : loadBinding().createTicketKeys(bytesOf(keys))
  }

  /** Other certificates or other settings: connections from now on have them. */
  contextChanged () {
    this.#context = null
    this.#handle = null
  }

  /** @param {Buffer} keys */
  setTicketKeys (keys) {
    this.#ticketKeys = loadBinding().createTicketKeys(bytesOf(keys))
    this.#handle = null
  }

  /** @param {string} pattern @param {any} context */
  addHost (pattern, context) {
    this.#hosts.push({ pattern, context: hostOf(context) })
    this.#handle = null
  }

  /** @param {import('./certificate-sources').Sources['hosts']} hosts */
  setHosts (hosts) {
    this.#givenHosts = hosts.map(({ pattern, options }) => ({ pattern, context: hostOf(tls.createSecureContext(options)) }))
    this.#handle = null
  }

  /**
   * Follows what happens in a folder of certificates.
   *
   * @param {import('./certificate-sources').Sources} sources
   * @param {() => void} changed
   */
  watch ({ options, hosts, directory }, changed) {
    this.#stopWatching()
    if (directory === null) return
    this.#stopWatching = watchDirectory(directory, (pairs) => {
      const fresh = [...pairs].filter(([pattern]) => pattern !== 'default').map(([pattern, pair]) => ({ pattern, options: pair }))
      const patterns = new Set(fresh.map(({ pattern }) => pattern))
      this.setHosts([...fresh, ...hosts.filter(({ pattern, options: { key } }) => key === undefined || !patterns.has(pattern))])
      if (pairs.has('default')) this.owner.setSecureContext({ ...options, ...pairs.get('default') })
      this.contextChanged()
      changed()
    })
  }

  stopWatching () {
    this.#stopWatching()
    this.#stopWatching = () => {}
  }

  get handle () {
    if (this.#handle !== null) return this.#handle
    const { owner } = this
    this.#context ??= tls.createSecureContext(Object.fromEntries(kContextFields.map((name) => [name, owner[name]])))
    const timeout = handshakeTimeoutOf(owner)
    const handle = loadBinding().createTlsContext({
      context: externalOf(this.#context),
      hosts: [...this.#givenHosts, ...this.#hosts],
      ticketKeys: this.#ticketKeys,
      sessionIdContext: contextIdOf(owner),
      alpn: this.offersHttp2 ? kHttp2First : owner.ALPNProtocols ?? Buffer.alloc(0),
      asksHost: typeof sniCallbackOf(owner) === 'function',
      asksAlpn: typeof owner.ALPNCallback === 'function',
      requestCert: owner.requestCert,
      rejectUnauthorized: owner.rejectUnauthorized,
      handshakeTimeout: Math.min(timeout, kHandshakeMsMax)
    })
    if (handle === undefined) throw new TlsUnavailableError('its context could not be made')
    return (this.#handle = handle)
  }

  /**
   * Asks the application what it makes of a ClientHello.
   *
   * @param {string} servername '' = none
   * @param {string[]} protocols that the client speaks
   * @param {(answer: import('../../types/binding').HelloAnswer) => void} answer
   */
  ask (servername, protocols, answer) {
    const { owner } = this
    const refuse = (/** @type {any} */ error) => answer({ isRefused: true, reason: rememberError(error) })
    const choose = sniCallbackOf(owner)
    const withHost = (/** @type {unknown} */ host) => {
      if (typeof owner.ALPNCallback !== 'function' || protocols.length === 0) return answer({ host })
      try {
        const alpn = owner.ALPNCallback({ servername: servername || false, protocols })
        if (alpn !== undefined && !protocols.includes(alpn)) return refuse(invalidProtocol(alpn, protocols))
        answer({ host, alpn })
      } catch (error) {
        refuse(error)
      }
    }
    if (typeof choose !== 'function' || servername === '') return withHost(undefined)
    let isCalled = false
    choose.call(owner, servername, (/** @type {any} */ error, /** @type {any} */ context) => {
      if (isCalled) return
      isCalled = true
      if (error) return refuse(error)
      if (!context) return withHost(undefined)
      try {
        withHost(hostOf(context))
      } catch (error) {
        refuse(error)
      }
    })
  }
}

/**
 * What an application has chosen. Node's own choice tells programs by their command line; the processes of a port are
 * several programs, and sessions are bound to certificates and trust in any case.
 *
 * @param {any} owner a tls.Server
 * @returns {string}
 */
function contextIdOf ({ sessionIdContext }) {
  const chosenByNode = createHash('sha1').update(process.argv.join(' ')).digest('hex').slice(0, 32)
  return sessionIdContext === chosenByNode ? '' : String(sessionIdContext ?? '')
}

/** @param {any} context what SNICallback gave: a SecureContext, or the handle in it */
function hostOf (context) {
  const handle = context?.context ?? context
  let host = typeof handle === 'object' && handle !== null ? hosts.get(handle) : undefined
  if (host !== undefined) return host
  host = loadBinding().copyTlsHost(handle?._external)
  if (host === undefined) throw invalidContext()
  hosts.set(handle, host)
  return host
}

/** @param {any} context */
function externalOf (context) {
  const external = context.context?._external
  if (external === undefined) throw new TlsUnavailableError('this Node.js does not give its contexts away')
  return external
}

/** @param {NodeJS.ArrayBufferView} keys @returns {Buffer} */
function bytesOf (keys) {
  return Buffer.from(keys.buffer, keys.byteOffset, keys.byteLength)
}

function invalidContext () {
  return Object.assign(new Error('Invalid SNI context'), { code: 'ERR_TLS_INVALID_CONTEXT' })
}

/** @param {string} alpn @param {string[]} protocols */
function invalidProtocol (alpn, protocols) {
  return Object.assign(
    new TypeError(`ALPN callback returned a value (${alpn}) that did not match any of the client's offered protocols (${protocols.join(', ')})`),
    { code: 'ERR_TLS_ALPN_CALLBACK_INVALID_RESULT' })
}

module.exports = { ServerTls }
