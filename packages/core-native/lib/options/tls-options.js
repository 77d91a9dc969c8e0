'use strict'

// Names and kinds of TLS options: the options of Node's https.createServer(), and our own.

const { TlsOptionError } = require('../base/errors')
const { withInherited } = require('./given-options')

/** @typedef {import('node:tls').TlsOptions & import('../../types').CertificateOptions} GivenTlsOptions unchecked, as the user gave them */

/** Options of tls.createSecureContext(): Node reads and checks them. */
const kContextOptions = [
  'ALPNProtocols', 'ALPNCallback', 'SNICallback', 'allowPartialTrustChain', 'ca', 'cert', 'ciphers', 'clientCertEngine', 'crl',
  'dhparam', 'ecdhCurve', 'handshakeTimeout', 'honorCipherOrder', 'key', 'maxVersion', 'minVersion', 'passphrase', 'pfx',
  'privateKeyEngine', 'privateKeyIdentifier', 'rejectUnauthorized', 'requestCert', 'secureOptions', 'secureProtocol',
  'sessionIdContext', 'sessionTimeout', 'sigalgs', 'ticketKeys'
]

/**
 * Options of Node's that the lanes do not support, each with advice: an error refuses them, so that none is ignored silently.
 *
 * @type {Record<string, string>}
 */
const kUnsupported = {
  enableTrace: 'run openssl s_client -trace against the server',
  pskCallback: 'use certificates',
  pskIdentityHint: 'use certificates'
}

/** Our own options: other sources of certificates. */
const kSourceOptions = /** @type {(keyof typeof import('./table').certificates)[]} */ (Object.keys(require('./table').certificates))

/** Key of an adapter's TLS options within the options of createServer(), and of listen() on a port (tls/listen-tls.js). */
const kAdapterTls = Symbol('httpsys.adapterTls')

/** Options whose value is a certificate or its key, as text or bytes. */
const kPairOptions = /** @type {const} */ (['cert', 'key', 'pfx'])

/** Options that give a server a certificate. */
const kCertificateOptions = /** @type {const} */ ([...kPairOptions, 'passphrase', 'SNICallback', 'privateKeyEngine', 'privateKeyIdentifier', ...kSourceOptions])

/** Options of a single host's context: its certificate, and its trust in client certificates. As on Node, versions and ciphers are the server's. */
const kHostOptions = [
  'allowPartialTrustChain', 'ca', 'cert', 'clientCertEngine', 'crl', 'key', 'passphrase', 'pfx', 'privateKeyEngine', 'privateKeyIdentifier'
]

/** Options that decide which client certificates are trusted. */
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
 * Whether a certificate option is empty. Node treats an empty text or list like an absent one, and a server without a certificate
 * fails every handshake.
 *
 * @param {unknown} value of `cert`, `key` or `pfx`
 * @returns {boolean}
 */
function isBlank (value) {
  if (Array.isArray(value)) return value.every(isBlank)
  return !value || (ArrayBuffer.isView(value) && value.byteLength === 0)
}

/**
 * Describes, for an error message, which part of a certificate with its key the options lack.
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
 * @returns {{ tls: GivenTlsOptions | null, others: Record<string, unknown> }} tls null: there are no TLS options
 */
function splitOptions (options) {
  /** @type {Record<string, unknown>} */
  const tls = {}
  /** @type {Record<string, unknown>} */
  const others = {}
  for (const [name, value] of Object.entries(withInherited(options))) {
    (kTlsOptions.includes(name) ? tls : others)[name] = value
  }
  return { tls: Object.keys(tls).length === 0 ? null : tls, others }
}

module.exports = {
  isBlank, kAdapterTls, kCertificateOptions, kHostOptions, kPairOptions, kSourceOptions, kTlsOptions, kTrustOptions, missingOf, refuseUnsupported, splitOptions
}
