'use strict'

// Finds the certificates of a server: in its options, in a folder, in the bindings of this user, or a certificate made
// for development.

const { OptionError, TlsCertificateError } = require('../base/errors')
const { nearest } = require('../base/nearest')
const { parseUrlPrefix } = require('../prefixes/url-prefix')
const { bindingsFor } = require('./bindings')
const { readDirectory } = require('./certificate-directory')
const { devCertificate } = require('./dev-certificate')
const { isBlank, kHostOptions, kPairOptions, kTlsOptions, kTrustOptions, missingOf } = require('../options/tls-options')

/** @import { SecureContextOptions, TlsOptions } from 'node:tls' */
/** @import { GivenTlsOptions } from '../options/tls-options' */
/** @import { UrlPrefix } from '../prefixes/url-prefix' */
/**
 * @typedef {Pick<SecureContextOptions, typeof kTrustOptions[number]>} Trust
 *
 * @typedef {object} Sources
 * @property {TlsOptions} options for a tls.Server of Node's
 * @property {{ pattern: string, options: SecureContextOptions }[]} hosts for addContext(), in this order, with trustedBy()
 * @property {Sources['hosts']} named the part of `hosts` that does not come from the folder
 * @property {string | null} directory the folder, to be watched for changes
 * @property {GivenTlsOptions} given the options without bound certificates
 * @property {UrlPrefix[] | null} bound prefixes whose bindings were used; null: the certificates come from elsewhere
 */

/**
 * @param {GivenTlsOptions} given TLS options, Node's and ours
 * @param {UrlPrefix[]} prefixes the https prefixes; empty: the server listens on ports
 * @returns {Sources}
 * @throws ERR_HTTPSYS_TLS_CERTIFICATE, ERR_HTTPSYS_SSLCERT, ERR_INVALID_ARG_TYPE
 */
function findCertificates (given, prefixes) {
  const { certificates = [], certificateDirectory = null, devCert = false, ...options } = given
  if (typeof devCert !== 'boolean') throw typeError('devCert', 'of type boolean')
  if (certificateDirectory !== null && typeof certificateDirectory !== 'string') throw typeError('certificateDirectory', 'of type string')
  if (!Array.isArray(certificates)) throw typeError('certificates', 'an array of { host, key, cert, … }')
  for (const name of kPairOptions) if (isBlank(options[name])) delete options[name]
  const own = kPairOptions.find((name) => options[name] !== undefined)
  if (devCert && own !== undefined) throw new OptionError(`a server with a "${own}" of its own`, 'devCert')
  /** @type {Sources['hosts']} */
  const hosts = []
  /** @type {Sources['hosts']} */
  const named = []
  if (certificateDirectory !== null) {
    for (const [pattern, pair] of readDirectory(certificateDirectory)) {
      if (pattern === 'default') Object.assign(options, pair)
      else hosts.push({ pattern, options: pair })
    }
  }
  for (const entry of certificates) {
    if (typeof entry !== 'object' || entry === null) throw typeError('certificates', 'an array of { host, key, cert, … }')
    const { host, prefix, ...own } = /** @type {SecureContextOptions & { host?: string, prefix?: string }} */ (entry)
    refuseForHost(Object.keys(own))
    const pattern = host ?? hostOf(prefix)
    const missing = missingOf(own)
    if (missing !== null) throw new TlsCertificateError(pattern, missing, true)
    named.push({ pattern, options: own })
  }
  hosts.push(...named)
  const hasOwn = options.cert !== undefined || options.pfx !== undefined || options.SNICallback !== undefined ||
    certificates.length > 0
  // A `default` certificate of the folder takes precedence over the one for development.
  if (devCert) Object.assign(options, options.cert === undefined ? devCertificate() : null)
  const usesBindings = !devCert && !hasOwn && certificateDirectory === null && prefixes.length > 0
  if (prefixes.length > 0) refuseHalf(options, prefixes[0].prefix)
  if (usesBindings) useBindings(options, hosts, prefixes)
  return { options, hosts, named, directory: certificateDirectory, given, bound: usesBindings ? prefixes : null }
}

/**
 * Refuses a certificate without its key, and a key without its certificate: every handshake would fail.
 *
 * @param {TlsOptions} options
 * @param {string} place that needs the certificate, for the error
 * @throws ERR_HTTPSYS_TLS_CERTIFICATE
 */
function refuseHalf (options, place) {
  const missing = missingOf(options)
  const isHalf = missing !== null && !(isBlank(options.cert) && isBlank(options.key))
  if (isHalf && options.SNICallback === undefined) throw new TlsCertificateError(place, missing)
}

/** @param {TlsOptions} options @param {Sources['hosts']} hosts @param {UrlPrefix[]} prefixes */
function useBindings (options, hosts, prefixes) {
  const bound = bindingsFor(prefixes)
  for (const { host, pair } of bound) {
    if (host === '*') Object.assign(options, pair)
    else hosts.push({ pattern: host, options: pair })
  }
  if (bound.length === 0) throw new TlsCertificateError(prefixes[0].prefix, 'none was given, and none is bound to its host and port')
}

/** Returns the host of the `prefix` of an element of `certificates`. @param {unknown} prefix */
function hostOf (prefix) {
  if (prefix === undefined) throw invalid('An element of "certificates" needs "host" or "prefix"')
  if (typeof prefix !== 'string') throw invalid('The "prefix" of an element of "certificates" must be a string, such as "https://shop.example:8443/"')
  return parseUrlPrefix(prefix).host
}

/**
 * Returns the options of one host's context. A host without options about trust in client certificates gets the server's `ca` and
 * `crl`: without any, Node would trust every authority of its built-in list.
 *
 * @param {Trust} server options of the server
 * @param {SecureContextOptions} options of the host
 * @returns {SecureContextOptions}
 */
function trustedBy (server, options) {
  if (kTrustOptions.some((name) => options[name] !== undefined)) return options
  return { ...options, ...Object.fromEntries(kTrustOptions.map((name) => [name, server[name]])) }
}

/** @param {string[]} names of an element of `certificates` @throws ERR_HTTPSYS_OPTION */
function refuseForHost (names) {
  for (const name of names) {
    if (kHostOptions.includes(name)) continue
    if (kTlsOptions.includes(name)) throw new OptionError('an element of "certificates"', name, undefined, 'it belongs to the server, for all of its hosts')
    throw new OptionError('an element of "certificates"', name, nearest(name, ['host', 'prefix', ...kHostOptions]))
  }
}

/** @param {string} name @param {string} expected */
function typeError (name, expected) {
  return invalid(`The "options.${name}" property must be ${expected}`)
}

/** @param {string} message */
function invalid (message) {
  return Object.assign(new TypeError(message), { code: 'ERR_INVALID_ARG_TYPE' })
}

module.exports = { findCertificates, refuseHalf, trustedBy }
