'use strict'

// Functions for the undocumented members of tls.Server and of its contexts. A tls.Server keeps its options as properties;
// kContextFields has the names of setSecureContext().

const tls = require('node:tls')
const { InternalsError } = require('../base/errors')
const { checkLate, kTlsSettings } = require('./private-members')

/** @import { ContextHandle, PrivateTlsServer } from '../../types/node-internals' */
/** @import { SecureContext, SecureContextOptions } from 'node:tls' */

/** Property of a tls.Server with the context made by setSecureContext(). */
const kSharedContext = '_sharedCreds'

/** Properties that setSecureContext() sets on a tls.Server. */
const kContextFields = [
  'pfx', 'key', 'passphrase', 'cert', 'clientCertEngine', 'ca', 'ciphers', 'sigalgs', 'ecdhCurve', 'dhparam', 'minVersion',
  'maxVersion', 'secureProtocol', 'secureOptions', 'honorCipherOrder', 'crl', 'sessionIdContext', 'sessionTimeout', 'ticketKeys',
  'privateKeyIdentifier', 'privateKeyEngine'
]
/** Options of a context that no version's setSecureContext() sets on the server; an application may set them there. */
const kOtherContextFields = ['allowPartialTrustChain']

checkLate([
  ['_contexts', tls.Server, 'tls.Server'],
  [kSharedContext, tls.Server.prototype.setSecureContext, 'tls.Server'],
  ['_secureEstablished', tls.TLSSocket, 'tls.TLSSocket'],
  ['_tlsError', tls.TLSSocket, 'tls.TLSSocket'],
  ...kTlsSettings.map((name) => /** @type {import('./private-members').LateMember} */ ([name, tls.Server, 'tls.Server'])),
  ...kContextFields.map((name) => /** @type {import('./private-members').LateMember} */ ([name, tls.Server.prototype.setSecureContext, 'tls.Server']))
])

module.exports = {
  /** @param {PrivateTlsServer} server @returns {SecureContext} the context of setSecureContext() */
  sharedContextOf (server) {
    const { _sharedCreds: context } = server
    if (context === undefined) throw new InternalsError('tls.Server#_sharedCreds')
    return context
  },

  /** @param {PrivateTlsServer} server @returns {PrivateTlsServer['_contexts']} the contexts added by addContext() */
  contextsOf (server) {
    const { _contexts: contexts } = server
    if (!Array.isArray(contexts)) throw new InternalsError('tls.Server#_contexts')
    return contexts
  },

  /** @param {PrivateTlsServer} server @returns {SecureContextOptions} the options of its setSecureContext() */
  contextOptionsOf (server) {
    return Object.fromEntries(
      [...kContextFields, ...kOtherContextFields].map((name) => [name, Reflect.get(server, name)])
    )
  },

  /** @param {PrivateTlsServer} server @returns {() => void} restores the server's present context and its options, after a failed setSecureContext() */
  keepContext (server) {
    const kept = [...kContextFields, ...kOtherContextFields, kSharedContext].map((name) =>
      /** @type {const} */ ([name, Reflect.get(server, name)]))
    return () => { for (const [name, value] of kept) Reflect.set(server, name, value) }
  },

  /** @template {keyof SecureContextOptions} N @param {PrivateTlsServer} server @param {readonly N[]} names of kContextFields @returns {Pick<SecureContextOptions, N>} */
  contextOptions (server, names) {
    return /** @type {Pick<SecureContextOptions, N>} */ (Object.fromEntries(names.map((name) => [name, server[name]])))
  },

  /** @param {PrivateTlsServer} server @returns {NodeJS.ArrayBufferView | undefined} the keys of session tickets that it was created with */
  ticketKeysOf: (server) => server.ticketKeys,
  /** @param {PrivateTlsServer} server @returns {string | undefined} the id context, which binds sessions to this server */
  sessionIdContextOf: (server) => server.sessionIdContext,

  /** Reads whether a server asks clients for certificates, and whether it refuses untrusted ones. @param {PrivateTlsServer} server */
  clientCheckOf (server) {
    const { requestCert, rejectUnauthorized } = server
    return { requestCert: Boolean(requestCert), rejectUnauthorized: Boolean(rejectUnauthorized) }
  },

  /** @param {PrivateTlsServer} server @returns {Uint8Array | undefined} protocols for ALPN, each preceded by its length */
  alpnProtocolsOf: (server) => /** @type {Uint8Array | undefined} */ (server.ALPNProtocols),
  /** @param {PrivateTlsServer} server @returns {server is PrivateTlsServer & { ALPNCallback: NonNullable<PrivateTlsServer['ALPNCallback']> }} whether the application chooses the ALPN protocol by a callback */
  choosesAlpn: (server) => typeof server.ALPNCallback === 'function',
  /** @param {{ ALPNCallback: NonNullable<PrivateTlsServer['ALPNCallback']> }} server for which choosesAlpn() is true @param {{ servername: string, protocols: string[] }} hello @returns {string | undefined} undefined: none of the offered protocols */
  chooseAlpn: (server, hello) => server.ALPNCallback(hello),

  /** @param {unknown} context a SecureContext, the handle in it, or any value that an application passed instead @returns {ContextHandle} `context` itself if it has no handle */
  handleIn (context) {
    return /** @type {{ context?: ContextHandle } | null | undefined} */ (context)?.context ??
    /** @type {ContextHandle} */ (context)
  },

  /** @param {ContextHandle} handle */
  certificatesOf (handle) {
    return { certificate: handle.getCertificate(), issuer: handle.getIssuer() }
  },

  /**
   * Returns OpenSSL's context. The existence of `_external` and `getIssuer` is not checked when the package loads: both are members of a native
   * class that only a context reveals, and making a context initializes OpenSSL: 1 to 6 ms at each start, even without TLS. A TLS server
   * whose context has no `_external` fails with ERR_HTTPSYS_TLS_UNAVAILABLE.
   *
   * @param {{ _external?: unknown } | null | undefined} context the handle in a tls.SecureContext
   * @returns {unknown} undefined if there is none
   */
  externalOf: (context) => context?._external
}
