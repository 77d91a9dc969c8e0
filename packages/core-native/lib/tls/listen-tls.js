'use strict'

// Combines the TLS options for listen(): its own options, the options of createServer() or createAdapter(), and certificates bound to host and port.

const net = require('node:net')
const { TlsCertificateError } = require('../base/errors')
const { contextOptions } = require('../node-private/tls')
const { parseUrlPrefix } = require('../prefixes/url-prefix')
const { findCertificates, refuseHalf } = require('./certificate-sources')
const { isBlank, kAdapterTls, kCertificateOptions, kPairOptions, missingOf, splitOptions } = require('../options/tls-options')

/** @import { GivenTlsOptions } from '../options/tls-options' */
/** @import { UrlPrefix } from '../prefixes/url-prefix' */

const kCertificateFields = /** @type {const} */ ([...kPairOptions, 'privateKeyIdentifier'])

/** TLS options of createServer() or createAdapter(). */
class CreatedTls {
  /** @param {unknown} options of createServer() */
  constructor (options) {
    const given = /** @type {{ [kAdapterTls]?: unknown }} */ (typeof options === 'object' && options !== null ? options : {})
    // Copy own properties only, because Node's constructor ignores inherited ones.
    this.options = splitOptions({ ...given }).tls ?? {}
    /** True for an adapter with TLS: without a certificate listen() must fail, whereas a server of Node would listen and refuse each handshake. */
    this.isAdapter = given[kAdapterTls] !== undefined
  }

  get hasCertificate () {
    return bringsCertificate(this.options)
  }

  /** @param {object} server @returns {boolean} whether createServer() or setSecureContext() was given a certificate with its key */
  isCertified (server) {
    const context = contextOptions(/** @type {import('../../types/node-internals').PrivateTlsServer} */ (server),
      kCertificateFields)
    return this.hasCertificate || missingOf(context) === null
  }

  /**
   * Merges in the options of listen(), which take precedence. If they name a certificate, all certificate options of createServer() are dropped.
   *
   * @param {GivenTlsOptions} given
   * @returns {GivenTlsOptions}
   */
  with (given) {
    const created = { ...this.options }
    if (namesCertificate(given)) for (const name of kCertificateOptions) delete created[name]
    // Node accepts only one of ALPNCallback and ALPNProtocols.
    if (given.ALPNCallback !== undefined) delete created.ALPNProtocols
    if (given.ALPNProtocols !== undefined) delete created.ALPNCallback
    return { ...created, ...given }
  }
}

/** @param {GivenTlsOptions} options */
function namesCertificate (options) {
  const pairs = /** @type {readonly string[]} */ (kPairOptions)
  return kCertificateOptions.some((name) => pairs.includes(name)
    ? !isBlank(options[name])
    : options[name] !== undefined && options[name] !== false)
}

/** @param {GivenTlsOptions} options @returns {boolean} whether a server with only these options has a certificate */
function bringsCertificate (options) {
  const { SNICallback, certificates, certificateDirectory, devCert } = options
  return missingOf(options) === null || SNICallback !== undefined || !isBlank(certificates) ||
    !isBlank(certificateDirectory) || devCert === true
}

/**
 * Finds the certificates for an adapter that listens with TLS on a port.
 *
 * @param {GivenTlsOptions} options
 * @param {unknown[]} args of listen()
 * @returns {import('./certificate-sources').Sources}
 * @throws ERR_HTTPSYS_TLS_CERTIFICATE, ERR_HTTPSYS_SSLCERT
 */
function certificatesForPort (options, args) {
  const prefix = impliedPrefix(args)
  const sources = findCertificates(options, prefix === null ? [] : [prefix])
  if (prefix === null) {
    refuseHalf(options, placeOf(args))
    if (!bringsCertificate(options)) throw new TlsCertificateError(placeOf(args), 'none was given')
  }
  return sources
}

// Names, for an error, the place of a server to which no certificate can be bound (a Unix socket, or port 0).
/** @param {unknown[]} args */
function placeOf ([first]) {
  const path = typeof first === 'object' && first !== null ? /** @type {{ path?: unknown }} */ (first).path : first
  return typeof path === 'string' ? path : 'https://*:0/'
}

// Returns the prefix equivalent to listen(port, host); null: there is no port to which a certificate could be bound.
/** @param {unknown[]} args @returns {UrlPrefix | null} */
function impliedPrefix ([first, second]) {
  const { port, host } = /** @type {{ port?: unknown, host?: string }} */ (typeof first === 'object' && first !== null ? first : { port: first, host: typeof second === 'string' ? second : undefined })
  if (!(Number(port) > 0)) return null
  const name = host === undefined || host === '::' || host === '0.0.0.0' ? '*' : net.isIPv6(host) ? `[${host.split('%')[0]}]` : host
  try {
    return parseUrlPrefix(`https://${name}:${Number(port)}/`)
  } catch {
    return null // An invalid host: Node's listen() reports it.
  }
}

module.exports = { CreatedTls, certificatesForPort, impliedPrefix }
