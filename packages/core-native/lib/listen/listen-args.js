'use strict'

// Reads the arguments of listen(): URL prefixes, or Node's own kinds of addresses.

const cluster = /** @type {import('node:cluster').Cluster} */ (/** @type {unknown} */ (require('node:cluster'))) // Cast as in node-internals.js.
const os = require('node:os')
const { whoAmI } = require('../prefixes/reservations')
const { namesGiven, withInherited } = require('../options/given-options')
const { nearest } = require('../base/nearest')
const { ListenArgsError, OptionError } = require('../base/errors')
const { kCloseOptions, kHintOf, kPrefixListenOptions, kQueueOptions, refuseIgnored } = require('../options/option-names')
const table = require('../options/table')
const { kAdapterTls, kTlsOptions, splitOptions } = require('../options/tls-options')
const { kLoopback4, kLoopback6 } = require('../prefixes/places')
const { keyOf, parseUrlPrefix } = require('../prefixes/url-prefix')
const { Way } = require('../prefixes/prefixes')
const { isOptions, isPort, mappedForm, prefixForm, refuseAddress, refuseHost } = require('./listen-forms')
const { standIn } = require('../options/stand-in')
const { impliedQueue, isImpliedQueue } = require('./implied-queue')
const { outOfRange, readBoolean } = require('../base/validate')

/** @import { ListenHandle } from '../../types/node-internals' */
/** @import { GivenTlsOptions } from '../options/tls-options' */
/** @import { Bind, UrlPrefix } from '../prefixes/url-prefix' */
/**
 * @typedef {import('../../types').PrefixListenOptions & { [kAdapterTls]?: GivenTlsOptions }} GivenOptions of listen(), as the user gave them; checked below
 *
 * @typedef {object} Endpoint one socket to listen on
 * @property {string} [host] an IP address; absent = every address, IPv6 and IPv4
 * @property {number} port
 * @property {boolean} [ipv6Only]
 * @property {boolean} [reusePort] SO_REUSEPORT: other programs bind the same address, and the kernel distributes connections
 * @property {ListenHandle} [given] a bound handle that listen() was given for the endpoint
 *
 * @typedef {object} SharingOptions
 * @property {string} queueName '' = a queue of its own
 * @property {string} queueMode
 * @property {boolean} exclusive no other server may be on its ports
 * @property {boolean} isImplied the queue has an implied name: that of a cluster's workers, or of a process whose port HTTPSYS_LISTEN maps
 * @property {number} restartMs how long requests wait for a successor when the server closes
 *
 * @typedef {object} NodePlan
 * @property {'node'} kind
 * @property {unknown[]} args for net.Server.listen()
 * @property {GivenTlsOptions | null} tls TLS options that an adapter was given, null = none
 * @property {SharingOptions} sharing
 *
 * @typedef {object} PrefixPlan
 * @property {'prefixes'} kind
 * @property {Endpoint[]} endpoints at least one
 * @property {UrlPrefix[]} prefixes each once, in the order given
 * @property {import('node:net').ListenOptions} options without port and host
 * @property {number} [fd] a bound socket of one of the ports
 * @property {import('../options/stand-in').Mapping} [mapping] the entry of HTTPSYS_LISTEN that replaced the program's port by the prefixes
 * @property {boolean} [isKnownToPrimary] mapped in a worker of node:cluster: the primary expects a message that the worker listens
 * @property {(number | undefined)[]} [ways] for each prefix, bits of Way (how its requests look); undefined = the default of createServer()
 * @property {GivenTlsOptions | null} tls options of TLS, null = none was given
 * @property {SharingOptions} sharing
 * @property {(() => void) | undefined} callback
 */

// Options that listen() accepts beside a prefix, Node's and ours. Options that name a place (kPlaces) are refused.
const kOptions = ['backlog', 'signal', 'exclusive', 'ipv6Only', 'fd', 'stripPrefix', ...kPrefixListenOptions, ...kQueueOptions]
const kQueueModes = table.queue.queueMode.choices
const kQueueNameMax = 255
const kPlaces = ['port', 'path', 'handle', '_handle']

/**
 * @param {unknown[]} args
 * @param {object} [server]
 * @param {boolean} [server.isSecure] an https.Server
 * @param {(port: number) => import('../options/stand-in').Mapping | undefined} [server.learned] as mappedForm() takes it
 * @returns {NodePlan | PrefixPlan}
 * @throws ERR_HTTPSYS_PREFIX_SYNTAX, ERR_HTTPSYS_OPTION, ERR_HTTPSYS_LISTEN_ARGS
 */
function classifyListen (args, { isSecure = false, learned } = {}) {
  const form = prefixForm(args) ?? mappedForm(args, learned)
  if (form !== null) return planOf(form)
  const [first] = args
  refuseAddress(first)
  refuseIgnoredByListen(args, isSecure)
  const options = /** @type {GivenOptions} */ (isOptions(first) ? first : {})
  const { exclusive } = options
  return { kind: 'node', args, tls: options[kAdapterTls] ?? null, sharing: readSharing(isPort(options) ? options : { exclusive }, { isPort: true }) }
}

/**
 * Refuses options that Node's own forms of listen() would ignore: ours that have no effect there, and TLS options after the first
 * argument, where Node reads no options. Below `register` TLS options are accepted: the program was written for node:http.
 *
 * @param {unknown[]} args
 * @param {boolean} isSecure
 */
function refuseIgnoredByListen ([first, ...others], isSecure) {
  if (isOptions(first)) {
    if (isPort(first)) refuseIgnored('listen({ port })', first, kQueueOptions)
    else refuseIgnored('listen() without a port', first, [])
  }
  for (const options of others) {
    if (typeof options !== 'object' || options === null) continue
    refuseIgnored('listen(port, …)', options, [])
    const given = /** @type {Record<string, unknown>} */ (options)
    const ofTls = standIn.isRegistered || isSecure
      ? undefined
      : namesGiven(options).find((name) => kTlsOptions.includes(name) && given[name] !== undefined)
    if (ofTls !== undefined) throw new OptionError('listen(port, …) of a server without TLS', ofTls, undefined, 'it belongs to https.createServer()')
  }
}

// Reads the queue of a server. Workers of a node:cluster share an implied queue; with listen(port) they share a named queue, too, even
// without queueMode. With `exclusive` a worker's server has a queue of its own, as on Node. Servers of a process that HTTPSYS_LISTEN maps
// share an implied queue, too: on stock Node they may listen on several addresses of one port.
/** @param {Pick<GivenOptions, 'queueName' | 'queueMode' | 'exclusive'>} options @param {{ isPort?: boolean, isShared?: boolean }} [form] @returns {SharingOptions} */
function readSharing ({ queueName, queueMode, exclusive }, { isPort = false, isShared = cluster.isWorker } = {}) {
  if (queueName !== undefined && (typeof queueName !== 'string' || queueName === '' || queueName.length > kQueueNameMax || isImpliedQueue(queueName))) {
    throw new ListenArgsError(`"queueName" must be a string of 1 to ${kQueueNameMax} characters that does not begin with "httpsys:"`)
  }
  if (queueMode !== undefined && !kQueueModes.includes(queueMode)) {
    throw new ListenArgsError(`"queueMode" must be one of '${kQueueModes.join("', '")}'`)
  }
  if (queueMode !== undefined && queueMode !== 'create' && queueName === undefined) {
    throw new ListenArgsError(`"queueMode" '${queueMode}' needs a "queueName"`)
  }
  const isImplied = isShared && queueName === undefined && !exclusive
  const mode = isPort && cluster.isWorker && queueName !== undefined ? 'createOrAttach' : 'create'
  return {
    queueName: isImplied ? impliedQueue() : queueName ?? '',
    queueMode: isImplied ? 'createOrAttach' : queueMode ?? mode,
    exclusive: Boolean(exclusive),
    isImplied,
    restartMs: 0
  }
}

/** Describes a server for the check of reservations. @param {SharingOptions} sharing */
function applicationOf ({ queueName, isImplied }) {
  return whoAmI({ queueName: isImplied ? undefined : queueName })
}

/**
 * Reads from the options of close() how long requests wait for a successor of the server.
 *
 * @param {import('../../types').CloseOptions} options as the user gave them
 * @returns {number} milliseconds
 * @throws ERR_HTTPSYS_OPTION, ERR_INVALID_ARG_TYPE, ERR_OUT_OF_RANGE
 */
function restartMs (options) {
  refuseIgnored('close()', options, kCloseOptions)
  const { restart, waitMs } = options
  if (standIn.isRegistered && typeof restart !== 'boolean') return 0
  if (restart === undefined && waitMs !== undefined) throw new OptionError('close() without "restart"', 'waitMs')
  if (restart === undefined || !readBoolean('options.restart', restart)) return 0
  const { default: byDefault, least, most } = table.close.waitMs
  if (waitMs === undefined) return byDefault
  if (!Number.isInteger(waitMs) || waitMs < least || waitMs > most) throw outOfRange('options.waitMs', `an integer >= ${least} && <= ${most}`, waitMs)
  return waitMs
}

/**
 * @param {import('./listen-forms').PrefixForm} form
 * @returns {PrefixPlan}
 * @throws ERR_HTTPSYS_PREFIX_SYNTAX, ERR_HTTPSYS_OPTION, ERR_HTTPSYS_LISTEN_ARGS, ERR_INVALID_ARG_TYPE
 */
function planOf ({ texts, rest, mapping, isExclusive = false }) {
  const places = distinct(texts.map((text, at) => ({ parsed: readPrefix(text), strips: mapping?.strips[at] === true })))
  const parsed = places.map((place) => place.parsed)
  if (parsed.length === 0) throw new ListenArgsError('the list of prefixes is empty')
  const { options, callback } = readRest(rest, parsed)
  const { tls, others } = splitOptions(options)
  if (tls !== null && parsed.every(({ scheme }) => scheme === 'http')) refusePlain(parsed[0], Object.keys(tls))
  const { ipv6Only, queueName, queueMode, exclusive, fd, stripPrefix, forwardedPrefix, ...how } =
    /** @type {GivenOptions} */ (others)
  if (fd !== undefined && !(Number.isInteger(fd) && fd >= 0)) throw new ListenArgsError('"fd" beside a prefix must be a number, 0 or above')
  if (fd !== undefined && ipv6Only !== undefined) throw new ListenArgsError('"fd" and "ipv6Only" exclude each other')
  const ways = readWays(places, { stripPrefix, forwardedPrefix }, mapping !== undefined)
  return {
    kind: 'prefixes',
    endpoints: endpointsOf(parsed, ipv6Only),
    prefixes: parsed,
    options: how,
    ...(fd !== undefined && { fd }),
    ...(mapping !== undefined && { mapping, isKnownToPrimary: cluster.isWorker && !isExclusive }),
    ...(ways.some((way) => way !== undefined) && { ways }),
    tls,
    sharing: readSharing({ queueName, queueMode, exclusive },
      { isShared: (cluster.isWorker || mapping !== undefined) && !isExclusive }),
    callback
  }
}

/** @param {UrlPrefix} prefix with http @param {string[]} names of options of TLS @returns {never} */
function refusePlain ({ host, port, path }, names) {
  throw new OptionError('listen() without an https:// prefix', names[0], undefined,
    `it needs an https prefix. Write "https://${host}:${port}${path}", or leave ${names.join(' and ')} out`)
}

/**
 * @param {{ strips: boolean }[]} places
 * @param {Pick<GivenOptions, 'stripPrefix' | 'forwardedPrefix'>} options
 * @param {boolean} isMapped by HTTPSYS_LISTEN: a program written for node:http sees requests as behind a proxy that strips the path
 * @returns {(number | undefined)[]} bits of Way of each; undefined: the default of createServer()
 */
function readWays (places, { stripPrefix, forwardedPrefix }, isMapped) {
  for (const [name, value] of Object.entries({ stripPrefix, forwardedPrefix })) {
    if (value !== undefined) readBoolean(`options.${name}`, value)
  }
  const isAny = stripPrefix === true || places.some(({ strips }) => strips)
  if (forwardedPrefix === true && !isAny) throw new OptionError('listen() without "stripPrefix: true"', 'forwardedPrefix')
  const stripping = Way.kStrips | (isMapped ? Way.kHides : 0) | (forwardedPrefix === true ? Way.kForwards : 0)
  return places.map(({ strips }) => strips || stripPrefix === true ? stripping : stripPrefix === false ? 0 : undefined)
}

/** @param {unknown} text @returns {UrlPrefix} */
function readPrefix (text) {
  if (typeof text !== 'string') throw new ListenArgsError(`a URL prefix is a string, not ${text === null ? 'null' : `of type ${typeof text}`}`)
  return parseUrlPrefix(text)
}

/** @param {unknown[]} rest the arguments after the prefixes: options, a host, a callback @param {UrlPrefix[]} parsed */
function readRest (rest, parsed) {
  const given = rest.filter((arg) => arg !== undefined && arg !== null)
  const callback = typeof given.at(-1) === 'function' ? /** @type {() => void} */ (given.pop()) : undefined
  /** @type {Record<string, unknown>} */
  const options = {}
  for (const arg of given) {
    // A program calls listen(port, host), and its port is configured to be a prefix.
    if (typeof arg === 'string') options.host = arg
    else if (typeof arg === 'object' && arg !== null) Object.assign(options, withInherited(arg))
    else throw new ListenArgsError(`after a prefix come options and a callback, not ${String(arg)}`)
  }
  for (const name of Object.keys(options)) {
    if (name === 'host' && (options.host ?? undefined) !== undefined) refuseHost(parsed, options.host)
    if (options[name] === undefined || name === 'host') {
      delete options[name]
      continue
    }
    if (kPlaces.includes(name)) throw new ListenArgsError(`"${name}" is already said by the prefix`)
    if (!kOptions.includes(name) && !kTlsOptions.includes(name)) {
      throw new OptionError('listen() with a prefix', name, nearest(name, [...kOptions, 'prefix', 'prefixes', ...kTlsOptions]), kHintOf.get(name))
    }
  }
  return { options, callback }
}

/** @template {{ parsed: UrlPrefix }} T @param {T[]} places @returns {T[]} without equivalent prefixes (same key) */
function distinct (places) {
  const seen = new Set()
  return places.filter(({ parsed }) => !seen.has(keyOf(parsed)) && seen.add(keyOf(parsed)))
}

/**
 * Returns one socket to bind per port and address. A wildcard socket replaces all narrower addresses of its port, which
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

/** @param {Bind} bind */
function addressesOf (bind) {
  if (bind.kind !== 'loopback') return [bind.host]
  return hasLoopback6() ? [kLoopback4, kLoopback6] : [kLoopback4]
}

/** @param {string} address */
function isWildcard (address) {
  return address === '::' || address === '0.0.0.0'
}

function hasLoopback6 () {
  return Object.values(os.networkInterfaces()).flat().some((entry) => entry?.address === kLoopback6)
}

module.exports = { applicationOf, classifyListen, endpointsOf, isWildcard, kQueueModes, planOf, readPrefix, restartMs }
