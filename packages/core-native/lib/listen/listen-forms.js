'use strict'

// Recognizes URL prefixes in the arguments of listen(): in our own forms, and in Node's forms where a program's configured port or path
// is a prefix.

const net = require('node:net')
const { hasHandle } = require('../node-private/server')
const { ListenArgsError, PrefixSyntaxError } = require('../base/errors')
const { standIn } = require('../options/stand-in')
const { withInherited } = require('../options/given-options')
const { isAddressLike, prefixLike } = require('../prefixes/url-prefix')

/**
 * Unchecked prefixes from the arguments of listen(), and the arguments after them.
 *
 * @typedef {object} PrefixForm
 * @property {unknown[]} texts
 * @property {unknown[]} rest options, a host, a callback
 * @property {import('../options/stand-in').Mapping} [mapping] the entry of HTTPSYS_LISTEN that replaced a port by the prefixes
 * @property {boolean} [isExclusive] with a mapping: the program wants the port for itself
 */

/** @param {unknown} value @returns {value is string} */
function isPrefixText (value) {
  return typeof value === 'string' && value.includes('://')
}

/** @param {unknown} first argument of listen() @returns {first is Record<string, unknown>} */
function isOptions (first) {
  return typeof first === 'object' && first !== null && !hasHandle(first)
}

/** @param {{ path?: unknown, fd?: unknown }} options of listen() @returns {boolean} whether Node listens on their port, not a path or descriptor */
function isPort (options) {
  const { path, fd } = options
  return !(typeof fd === 'number' && fd >= 0) && ('port' in options || path === undefined)
}

/**
 * @param {unknown[]} args of listen()
 * @returns {PrefixForm | null} null: the arguments name no prefix
 * @throws ERR_HTTPSYS_LISTEN_ARGS
 */
function prefixForm ([first, ...others]) {
  if (isPrefixText(first)) return { texts: [first], rest: others }
  if (Array.isArray(first)) return { texts: first, rest: others }
  if (!isOptions(first)) return null
  const { prefix, prefixes, ...options } = withInherited(first)
  if (prefix !== undefined && prefixes !== undefined) throw new ListenArgsError('"prefix" and "prefixes" exclude each other')
  if (prefixes !== undefined && !Array.isArray(prefixes)) throw new ListenArgsError('"prefixes" must be an array')
  if (prefixes !== undefined) return { texts: prefixes, rest: [options, ...others] }
  if (prefix !== undefined) return { texts: [prefix].flat(), rest: [options, ...others] }
  // Programs often pass the variable PORT, which may be a prefix.
  const { port, path, ...how } = options
  if (isPrefixText(port)) return { texts: [port], rest: [{ ...how, path }, ...others] }
  if (isPrefixText(path) && (port === undefined || port === null)) return { texts: [path], rest: [how, ...others] }
  return null
}

/**
 * Returns the prefixes to which HTTPSYS_LISTEN maps the port that a program passes to listen().
 *
 * @param {unknown[]} args of listen()
 * @param {(port: number) => import('../options/stand-in').Mapping | undefined} [learned] finds the mapping behind a port read from address()
 * @returns {PrefixForm | null}
 */
function mappedForm ([first, ...others], learned) {
  const { mappings } = standIn
  if (!standIn.isRegistered || mappings === null) return null
  const options = isOptions(first) ? first : {}
  const port = first === options ? isPort(options) ? options.port : undefined : first
  if (typeof port !== 'number' && (typeof port !== 'string' || port.trim() === '')) return null
  const mapping = mappings.get(Number(port)) ?? learned?.(Number(port))
  if (mapping === undefined) return null
  const { signal, backlog = others.find((arg) => typeof arg === 'number'), exclusive } = options
  const callback = others.at(-1)
  return {
    texts: mapping.prefixes,
    rest: [{ ...mapping.options, signal, backlog }, ...typeof callback === 'function' ? [callback] : []],
    mapping,
    isExclusive: Boolean(exclusive)
  }
}

/**
 * Refuses a relative name of a Unix socket that looks like an address, unless it begins with ./: it was probably meant as a prefix.
 *
 * @param {unknown} first argument of listen()
 * @throws ERR_HTTPSYS_PREFIX_SYNTAX
 */
function refuseAddress (first) {
  const path = isOptions(first) && !isPort(first) ? first.path : first
  if (typeof path !== 'string' || Number(path) >= 0) return
  if (!isAddressLike(path)) return
  throw new PrefixSyntaxError(path, `listen() would make a Unix socket of that name, which is "./${path}" if it is wanted`, prefixLike(path))
}

/**
 * Refuses a `host` that differs from the prefix's. An unspecified address is accepted, and so is "localhost" beside "*" or "+", because
 * programs add these by default.
 *
 * @param {import('../prefixes/url-prefix').UrlPrefix[]} prefixes
 * @param {unknown} host
 * @throws ERR_HTTPSYS_LISTEN_ARGS
 */
function refuseHost ([{ scheme, host: own, port, path }], host) {
  const isUnsaid = host === '' || host === '0.0.0.0' || host === '::'
  const isSame = host === own || `[${host}]` === own || (host === 'localhost' && (own === '*' || own === '+'))
  if (isUnsaid || isSame) return
  const name = typeof host !== 'string' ? null : net.isIPv6(host) ? `[${host}]` : host
  throw new ListenArgsError(`the host is part of the prefix, and ${JSON.stringify(host)} is another one` +
    (name === null ? '' : `; write "${scheme}://${name}:${port}${path}"`) +
    '. For Fastify: fastify({ serverFactory: (handler) => http.createServer(handler) }), then app.ready(() => app.server.listen(prefix))')
}

module.exports = { isOptions, isPort, mappedForm, prefixForm, refuseAddress, refuseHost }
