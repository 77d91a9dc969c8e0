'use strict'

// Options of TLS: those of Node's https.createServer, and ours beside them.

const { TlsOptionError } = require('../base/errors')
const { withInherited } = require('./given-options')

/** @typedef {import('node:tls').TlsOptions & import('../../types').CertificateOptions} GivenTlsOptions what a user has given: whether it is that, Node and tls/certificate-sources.js find out */

/** Options of tls.createSecureContext(): Node reads and checks them. */
const kContextOptions = [
  'ALPNProtocols', 'ALPNCallback', 'SNICallback', 'allowPartialTrustChain', 'ca', 'cert', 'ciphers', 'clientCertEngine', 'crl',
  'dhparam', 'ecdhCurve', 'handshakeTimeout', 'honorCipherOrder', 'key', 'maxVersion', 'minVersion', 'passphrase', 'pfx',
  'privateKeyEngine', 'privateKeyIdentifier', 'rejectUnauthorized', 'requestCert', 'secureOptions', 'secureProtocol',
  'sessionIdContext', 'sessionTimeout', 'sigalgs', 'ticketKeys'
]

/** Node's that lanes do not have: they would be ignored in silence otherwise. @type {Record<string, string>} */
const kUnsupported = {
  enableTrace: 'run openssl s_client -trace against the server',
  pskCallback: 'use certificates',
  pskIdentityHint: 'use certificates'
}

/** Ours: where certificates come from. */
const kSourceOptions = /** @type {const} */ (['certificates', 'certificateDirectory', 'devCert'])

/** In the options of createServer() and of listen() on a port: those of TLS that an adapter was given (tls/listen-tls.js). */
const kAdapterTls = Symbol('httpsys.adapterTls')

/** Options that are a certificate or its key, as text or bytes. */
const kPairOptions = /** @type {const} */ (['cert', 'key', 'pfx'])

/** Options that bring certificates. */
const kCertificateOptions = /** @type {const} */ ([...kPairOptions, 'passphrase', 'SNICallback', 'privateKeyEngine', 'privateKeyIdentifier', ...kSourceOptions])

/** Options that the context of one host may have: its certificate and whom it trusts. Versions and ciphers are those of the server, as on Node. */
const kHostOptions = [
  'allowPartialTrustChain', 'ca', 'cert', 'clientCertEngine', 'crl', 'key', 'passphrase', 'pfx', 'privateKeyEngine', 'privateKeyIdentifier'
]

/** Options that say whose client certificates are good. */
const kTrustOptions = /** @type {const} */ (['allowPartialTrustChain', 'ca', 'crl'])

const kTlsOptions = [...kContextOptions, ...kSourceOptions, ...Object.keys(kUnsupported)]

/**
 * @param {object} options
 * @throws ERR_HTTPSYS_TLS_OPTION
 */
function refuseUnsupported (options) {
  for (const [name, instead] of Object.entries(kUnsupported)) {
    const { [name]: value } = /** @type {Record<string, unknown>} */ (options)
    if (value !== undefined && value !== false) throw new TlsOptionError(name, instead)
  }
}

/**
 * Whether an option of a certificate says nothing. Node takes an empty text or list for none, and a server that has none fails
 * every handshake.
 *
 * @param {unknown} value of `cert`, `key` or `pfx`
 * @returns {boolean}
 */
function isBlank (value) {
  if (Array.isArray(value)) return value.every(isBlank)
  return !value || (ArrayBuffer.isView(value) && value.byteLength === 0)
}

/**
 * Names, in words for an error, the part of a certificate and its key that options leave out.
 *
 * @param {import('node:tls').SecureContextOptions} options
 * @returns {string | null} null: nothing
 */
function missingOf ({ cert, key, pfx, privateKeyIdentifier }) {
  if (!isBlank(pfx)) return null
  const hasKey = !isBlank(key) || !isBlank(privateKeyIdentifier)
  if (isBlank(cert)) return hasKey ? 'there is a "key" and no "cert"' : 'there is neither a "cert" with its "key" nor a "pfx"'
  return hasKey ? null : 'there is a "cert" and no "key"'
}

/**
 * @param {object} options
 * @returns {{ tls: GivenTlsOptions | null, others: Record<string, unknown> }} null when none of them is one of TLS
 */
function splitOptions (options) {
  /** @type {Record<string, unknown>} */
  const tls = {}
  /** @type {Record<string, unknown>} */
  const others = {}
  for (const [name, value] of Object.entries(withInherited(options))) (kTlsOptions.includes(name) ? tls : others)[name] = value
  return { tls: Object.keys(tls).length === 0 ? null : tls, others }
}

module.exports = {
  isBlank, kAdapterTls, kCertificateOptions, kHostOptions, kPairOptions, kSourceOptions, kTlsOptions, kTrustOptions, missingOf, refuseUnsupported, splitOptions
}
