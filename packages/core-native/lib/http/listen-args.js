'use strict'

// What the arguments of listen() ask for: Node's own kinds of addresses, or URL prefixes.

const os = require('node:os')
const { nearest } = require('../nearest')
const { ListenArgsError, OptionError, PrefixSyntaxError, TlsUnavailableError } = require('../errors')
const { parseUrlPrefix } = require('../url-prefix')
const { keyOf } = require('./prefixes')

/**
 * @typedef {import('../url-prefix').UrlPrefix} UrlPrefix
 *
 * @typedef {object} Endpoint one socket to listen on
 * @property {string} [host] an IP address; absent = every address, IPv6 and IPv4
 * @property {number} port
 * @property {boolean} [ipv6Only]
 *
 * @typedef {object} NodePlan
 * @property {'node'} kind
 * @property {any[]} args for net.Server.listen()
 *
 * @typedef {object} PrefixPlan
 * @property {'prefixes'} kind
 * @property {Endpoint[]} endpoints at least one
 * @property {UrlPrefix[]} prefixes each once, in the order given
 * @property {import('node:net').ListenOptions} options without port and host
 * @property {((...args: any[]) => void) | undefined} callback
 */

// Node's options of listen() that say how, not where.
const kOptions = ['backlog', 'signal', 'exclusive', 'ipv6Only', 'reusePort']
const kPlaces = ['port', 'host', 'path', 'fd', 'handle', '_handle']
const kLoopback4 = '127.0.0.1'
const kLoopback6 = '::1'

/**
 * @param {any[]} args
 * @returns {NodePlan | PrefixPlan}
 * @throws ERR_HTTPSYS_PREFIX_SYNTAX, ERR_HTTPSYS_TLS_UNAVAILABLE, ERR_HTTPSYS_OPTION, ERR_HTTPSYS_LISTEN_ARGS
 */
function classifyListen (args) {
  const [first] = args
  if (typeof first === 'string') {
    return first.includes('://') ? planOf([first], args.slice(1)) : { kind: 'node', args }
  }
  if (Array.isArray(first)) return planOf(first, args.slice(1))
  if (typeof first !== 'object' || first === null || (first.prefix === undefined && first.prefixes === undefined)) {
    return { kind: 'node', args }
  }
  const { prefix, prefixes, ...options } = first
  if (prefix !== undefined && prefixes !== undefined) throw new ListenArgsError('"prefix" and "prefixes" exclude each other')
  if (prefixes !== undefined && !Array.isArray(prefixes)) throw new ListenArgsError('"prefixes" must be an array')
  return planOf(prefixes ?? [prefix].flat(), [options, ...args.slice(1)])
}

/**
 * @param {any[]} texts
 * @param {any[]} rest
 * @returns {PrefixPlan}
 */
function planOf (texts, rest) {
  const { options, callback } = readRest(rest)
  const parsed = distinct(texts.map(readPrefix))
  if (parsed.length === 0) throw new ListenArgsError('the list of prefixes is empty')
  const { ipv6Only, ...how } = options
  return {
    kind: 'prefixes',
    endpoints: endpointsOf(parsed, ipv6Only),
    prefixes: parsed,
    options: how,
    callback
  }
}

/** @param {any} text @returns {UrlPrefix} */
function readPrefix (text) {
  if (typeof text !== 'string') throw new ListenArgsError(`a URL prefix is a string, not ${text === null ? 'null' : `of type ${typeof text}`}`)
  if (!text.includes('://')) throw new PrefixSyntaxError(text, 'it must begin with "http://" or "https://", in lower case')
  const parsed = parseUrlPrefix(text)
  if (parsed.scheme === 'https') throw new TlsUnavailableError(parsed.prefix)
  return parsed
}

/** @param {any[]} rest what follows the prefixes: options, callback, both or neither */
function readRest (rest) {
  const given = rest.filter((arg) => arg !== undefined && arg !== null)
  const callback = typeof given.at(-1) === 'function' ? given.pop() : undefined
  const options = given.reduce((all, arg) => {
    if (typeof arg !== 'object') throw new ListenArgsError(`after a prefix come options and a callback, not ${String(arg)}`)
    return { ...all, ...arg }
  }, {})
  for (const name of Object.keys(options)) {
    if (kPlaces.includes(name)) throw new ListenArgsError(`"${name}" is already said by the prefix`)
    if (!kOptions.includes(name)) throw new OptionError('listen()', name, nearest(name, [...kOptions, 'prefix', 'prefixes']))
  }
  return { options, callback }
}

/** @param {UrlPrefix[]} parsed those that differ in more than case */
function distinct (parsed) {
  const seen = new Set()
  return parsed.filter((prefix) => !seen.has(keyOf(prefix)) && seen.add(keyOf(prefix)))
}

/**
 * One socket per port and address. A wildcard socket takes in the narrower addresses of its port, which
 * could not be bound beside it.
 *
 * @param {UrlPrefix[]} parsed
 * @param {boolean | undefined} ipv6Only
 * @returns {Endpoint[]}
 */
function endpointsOf (parsed, ipv6Only) {
  /** @type {Map<string, Endpoint>} */
  const endpoints = new Map()
  const wildcardPorts = new Set(parsed.filter(({ bind }) => bind.kind === 'wildcard').map(({ port }) => port))
  for (const { port, bind } of parsed) {
    for (const host of wildcardPorts.has(port) ? [undefined] : addressesOf(bind)) {
      const key = `${port} ${host}`
      if (endpoints.has(key)) continue
      const isIpv6Only = host === undefined && ipv6Only !== undefined
      endpoints.set(key, { ...(host !== undefined && { host }), port, ...(isIpv6Only && { ipv6Only }) })
    }
  }
  return [...endpoints.values()]
}

/** @param {import('../url-prefix').Bind} bind */
function addressesOf (bind) {
  if (bind.kind !== 'loopback') return [bind.host]
  return hasLoopback6() ? [kLoopback4, kLoopback6] : [kLoopback4]
}

function hasLoopback6 () {
  return Object.values(os.networkInterfaces()).flat().some((entry) => entry?.address === kLoopback6)
}

module.exports = { classifyListen, endpointsOf, readPrefix }
