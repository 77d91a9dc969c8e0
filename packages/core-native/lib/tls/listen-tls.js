'use strict'

// The options of TLS that listen() finds: its own, those of createServer() and createAdapter(), and what is bound to host and port.

const net = require('node:net')
const { TlsCertificateError } = require('../base/errors')
const { contextOptions } = require('../node-private/tls')
const { parseUrlPrefix } = require('../prefixes/url-prefix')
const { findCertificates, refuseHalf } = require('./certificate-sources')
const { isBlank, kAdapterTls, kCertificateOptions, kPairOptions, missingOf, splitOptions } = require('../options/tls-options')

/** @typedef {import('../options/tls-options').GivenTlsOptions} GivenTlsOptions */
/** @typedef {import('../prefixes/url-prefix').UrlPrefix} UrlPrefix */

const kCertificateFields = /** @type {const} */ ([...kPairOptions, 'privateKeyIdentifier'])

/** The options of TLS that a server was created with. */
class CreatedTls {
  /** @param {unknown} options of createServer() */
  constructor (options) {
    const given = /** @type {{ [kAdapterTls]?: unknown }} */ (typeof options === 'object' && options !== null ? options : {})
    // Node's constructor takes own properties alone.
    this.options = splitOptions({ ...given }).tls ?? {}
    /** An adapter is asked for HTTPS: without any certificate it does not listen, where Node would refuse each handshake. */
    this.isAdapter = given[kAdapterTls] !== undefined
  }

  get hasCertificate () {
    return bringsCertificate(this.options)
  }

  /** @param {object} server @returns {boolean} whether createServer() or setSecureContext() was given a certificate with its key */
  isCertified (server) {
    const context = contextOptions(/** @type {import('../../types/node-internals').PrivateTlsServer} */ (server), kCertificateFields)
    return this.hasCertificate || missingOf(context) === null
  }

  /**
   * With those of listen(), which count more. Who names a certificate in listen() means no other.
   *
   * @param {GivenTlsOptions} given
   * @returns {GivenTlsOptions}
   */
  with (given) {
    const created = { ...this.options }
    if (namesCertificate(given)) for (const name of kCertificateOptions) delete created[name]
    // Node takes one of them.
    if (given.ALPNCallback !== undefined) delete created.ALPNProtocols
    if (given.ALPNProtocols !== undefined) delete created.ALPNCallback
    return { ...created, ...given }
  }
}

/** @param {GivenTlsOptions} options */
function namesCertificate (options) {
  const pairs = /** @type {readonly string[]} */ (kPairOptions)
  return kCertificateOptions.some((name) => pairs.includes(name) ? !isBlank(options[name]) : options[name] !== undefined && options[name] !== false)
}

/** @param {GivenTlsOptions} options @returns {boolean} whether a server with these alone has a certificate to show */
function bringsCertificate (options) {
  const { SNICallback, certificates, certificateDirectory, devCert } = options
  return missingOf(options) === null || SNICallback !== undefined || !isBlank(certificates) || !isBlank(certificateDirectory) || devCert === true
}

/**
 * The certificates for a port that an adapter is to listen on with TLS.
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

// Names the place of a server that nothing can be bound to, for an error.
/** @param {unknown[]} args */
function placeOf ([first]) {
  const path = typeof first === 'object' && first !== null ? /** @type {{ path?: unknown }} */ (first).path : first
  return typeof path === 'string' ? path : 'https://*:0/'
}

// The prefix that listen(port, host) stands for; null: no port that something could be bound to.
/** @param {unknown[]} args @returns {UrlPrefix | null} */
function impliedPrefix ([first, second]) {
  const { port, host } = /** @type {{ port?: unknown, host?: string }} */ (typeof first === 'object' && first !== null ? first : { port: first, host: typeof second === 'string' ? second : undefined })
  if (!(Number(port) > 0)) return null
  const name = host === undefined || host === '::' || host === '0.0.0.0' ? '*' : net.isIPv6(host) ? `[${host.split('%')[0]}]` : host
  try {
    return parseUrlPrefix(`https://${name}:${Number(port)}/`)
  } catch {
    return null // Node says what is wrong with it.
  }
}

module.exports = { CreatedTls, certificatesForPort, impliedPrefix }
