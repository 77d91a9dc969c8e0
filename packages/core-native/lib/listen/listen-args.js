'use strict'

// Reads the arguments of listen(), which ask for Node's own kinds of addresses, or for URL prefixes.

const cluster = /** @type {import('node:cluster').Cluster} */ (/** @type {unknown} */ (require('node:cluster'))) // As in node-internals.js.
const os = require('node:os')
const { hasHandle } = require('../node-private/server')
const { checkRegistration, whoAmI } = require('../prefixes/reservations')
const { namesGiven, withInherited } = require('../options/given-options')
const { nearest } = require('../base/nearest')
const { ListenArgsError, OptionError, PrefixSyntaxError } = require('../base/errors')
const { kCloseOptions, kPlaceOf, kQueueOptions, refuseIgnored } = require('../options/option-names')
const { kAdapterTls, kTlsOptions, splitOptions } = require('../options/tls-options')
const { kLoopback4, kLoopback6 } = require('../prefixes/places')
const { parseUrlPrefix } = require('../prefixes/url-prefix')
const { keyOf } = require('../prefixes/prefixes')
const { standIn } = require('../options/stand-in')

/**
 * @typedef {import('../../types/node-internals').ListenHandle} ListenHandle
 * @typedef {import('../options/tls-options').GivenTlsOptions} GivenTlsOptions
 * @typedef {import('../prefixes/url-prefix').UrlPrefix} UrlPrefix
 *
 * @typedef {import('../../types').PrefixListenOptions & { [kAdapterTls]?: GivenTlsOptions }} GivenOptions of listen(): whether it is that, is found out below
 *
 * @typedef {object} Endpoint one socket to listen on
 * @property {string} [host] an IP address; absent = every address, IPv6 and IPv4
 * @property {number} port
 * @property {boolean} [ipv6Only]
 * @property {boolean} [reusePort] others bind it, too, and the kernel shares out
 * @property {ListenHandle} [given] a bound handle that listen() was given for it
 *
 * @typedef {object} SharingOptions
 * @property {string} queueName '' = a queue of its own
 * @property {string} queueMode
 * @property {boolean} exclusive nobody else on its ports
 * @property {boolean} isImplied the queue is one of a cluster's workers
 * @property {number} restartMs how long requests wait for its successor when it closes
 *
 * @typedef {object} NodePlan
 * @property {'node'} kind
 * @property {unknown[]} args for net.Server.listen()
 * @property {GivenTlsOptions | null} tls options of TLS that an adapter was given, null = none
 * @property {SharingOptions} sharing
 *
 * @typedef {object} PrefixPlan
 * @property {'prefixes'} kind
 * @property {Endpoint[]} endpoints at least one
 * @property {UrlPrefix[]} prefixes each once, in the order given
 * @property {import('node:net').ListenOptions} options without port and host
 * @property {number} [fd] a bound socket of one of the ports
 * @property {GivenTlsOptions | null} tls options of TLS, null = none was given
 * @property {SharingOptions} sharing
 * @property {(() => void) | undefined} callback
 */

// Options of listen() with prefixes that say how, not where: Node's, and ours.
const kOptions = ['backlog', 'signal', 'exclusive', 'ipv6Only', 'fd', ...kQueueOptions]
const kQueueModes = ['create', 'createOrAttach', 'attach']
const kQueueNameMax = 255
// How long requests wait for a successor: as long as a process may need to start, and far below what clients and proxies wait.
const kRestartMsDefault = 10_000
const kRestartMsMax = 300_000
const kPlaces = ['port', 'host', 'path', 'handle', '_handle']

/**
 * @param {unknown[]} args
 * @param {{ isSecure?: boolean }} [server] an https.Server
 * @returns {NodePlan | PrefixPlan}
 * @throws ERR_HTTPSYS_PREFIX_SYNTAX, ERR_HTTPSYS_OPTION, ERR_HTTPSYS_LISTEN_ARGS
 */
function classifyListen (args, { isSecure = false } = {}) {
  const [first] = args
  if (typeof first === 'string' && first.includes('://')) return planOf([first], args.slice(1))
  if (Array.isArray(first)) return planOf(first, args.slice(1))
  const given = /** @type {GivenOptions} */ (first)
  if (typeof first !== 'object' || first === null || hasHandle(first) || (given.prefix === undefined && given.prefixes === undefined)) {
    refuseIgnoredByListen(args, isSecure)
    const options = typeof first === 'object' && first !== null && !hasHandle(first) ? given : {}
    const { exclusive } = options
    return { kind: 'node', args, tls: options[kAdapterTls] ?? null, sharing: readSharing(isPort(options) ? options : { exclusive }, true) }
  }
  const { prefix, prefixes, ...options } = withInherited(given)
  if (prefix !== undefined && prefixes !== undefined) throw new ListenArgsError('"prefix" and "prefixes" exclude each other')
  if (prefixes !== undefined && !Array.isArray(prefixes)) throw new ListenArgsError('"prefixes" must be an array')
  return planOf(prefixes ?? [prefix].flat(), [options, ...args.slice(1)])
}

/** @param {{ path?: unknown, fd?: unknown }} options of listen() @returns {boolean} whether Node takes them for a port, not for a path or a descriptor */
function isPort (options) {
  const { path, fd } = options
  return !(typeof fd === 'number' && fd >= 0) && ('port' in options || path === undefined)
}

/**
 * Refuses what Node's own forms of listen() would ignore: names of ours that have no effect there, and options of TLS where Node looks
 * at no options at all. A program that knows node:http alone (`register`) gives both as to Node.
 *
 * @param {unknown[]} args
 * @param {boolean} isSecure
 */
function refuseIgnoredByListen ([first, ...others], isSecure) {
  if (typeof first === 'object' && first !== null && !hasHandle(first)) {
    if (isPort(first)) refuseIgnored('listen({ port })', first, kQueueOptions)
    else refuseIgnored('listen() without a port', first, [])
  }
  for (const options of others) {
    if (typeof options !== 'object' || options === null) continue
    refuseIgnored('listen(port, …)', options, [])
    const ofTls = standIn.isRegistered || isSecure ? undefined : namesGiven(options).find((name) => kTlsOptions.includes(name) && /** @type {Record<string, unknown>} */ (options)[name] !== undefined)
    if (ofTls !== undefined) throw new OptionError('listen(port, …) of a server without TLS', ofTls, undefined, 'https.createServer()')
  }
}

// Workers of one node:cluster application are one queue without being told. On a port they are that whatever its name;
// with `exclusive` what one listens on is its own, as on Node.
/** @param {Pick<GivenOptions, 'queueName' | 'queueMode' | 'exclusive'>} options @param {boolean} [isPort] listen(port) @returns {SharingOptions} */
function readSharing ({ queueName, queueMode, exclusive }, isPort = false) {
  if (queueName !== undefined && (typeof queueName !== 'string' || queueName === '' || queueName.length > kQueueNameMax)) {
    throw new ListenArgsError(`"queueName" must be a string of 1 to ${kQueueNameMax} characters`)
  }
  if (queueMode !== undefined && !kQueueModes.includes(queueMode)) {
    throw new ListenArgsError(`"queueMode" must be one of '${kQueueModes.join("', '")}'`)
  }
  if (queueMode !== undefined && queueMode !== 'create' && queueName === undefined) {
    throw new ListenArgsError(`"queueMode" '${queueMode}' needs a "queueName"`)
  }
  const isWorker = cluster.isWorker && queueName === undefined && !exclusive
  const mode = isPort && cluster.isWorker && queueName !== undefined ? 'createOrAttach' : 'create'
  return {
    queueName: isWorker ? `cluster ${process.ppid}` : queueName ?? '',
    queueMode: isWorker ? 'createOrAttach' : queueMode ?? mode,
    exclusive: Boolean(exclusive),
    isImplied: isWorker,
    restartMs: 0
  }
}

/**
 * Names a server as reservations know it.
 *
 * @param {SharingOptions} sharing
 */
function applicationOf ({ queueName, isImplied }) {
  return whoAmI({ queueName: isImplied ? undefined : queueName })
}

/**
 * How long requests are to wait for the successor of a server that closes.
 *
 * @param {import('../../types').CloseOptions} options of close(), as they were given
 * @returns {number} milliseconds
 * @throws ERR_HTTPSYS_OPTION, ERR_INVALID_ARG_TYPE, ERR_OUT_OF_RANGE
 */
function restartMs (options) {
  refuseIgnored('close()', options, kCloseOptions)
  const { restart, waitMs } = options
  if (standIn.isRegistered && typeof restart !== 'boolean') return 0
  if (restart === undefined && waitMs !== undefined) throw new OptionError('close() without "restart"', 'waitMs')
  if (restart !== undefined && typeof restart !== 'boolean') {
    throw Object.assign(
      new TypeError(`The "options.restart" property must be of type boolean. Received ${restart === null ? 'null' : `type ${typeof restart}`}`),
      { code: 'ERR_INVALID_ARG_TYPE' })
  }
  if (restart !== true) return 0
  if (waitMs === undefined) return kRestartMsDefault
  if (!Number.isInteger(waitMs) || waitMs < 1 || waitMs > kRestartMsMax) {
    throw Object.assign(
      new RangeError(`The value of "options.waitMs" is out of range. It must be an integer >= 1 && <= ${kRestartMsMax}. Received ${String(waitMs)}`),
      { code: 'ERR_OUT_OF_RANGE' })
  }
  return waitMs
}

/**
 * @param {unknown[]} texts
 * @param {unknown[]} rest
 * @returns {PrefixPlan}
 */
function planOf (texts, rest) {
  const { options, callback } = readRest(rest)
  const parsed = distinct(texts.map(readPrefix))
  if (parsed.length === 0) throw new ListenArgsError('the list of prefixes is empty')
  const { tls, others } = splitOptions(options)
  if (tls !== null && parsed.every(({ scheme }) => scheme === 'http')) {
    throw new OptionError('listen() without an https:// prefix', Object.keys(tls)[0])
  }
  const { ipv6Only, queueName, queueMode, exclusive, fd, ...how } = /** @type {GivenOptions} */ (others)
  if (fd !== undefined && !(Number.isInteger(fd) && fd >= 0)) throw new ListenArgsError('"fd" beside a prefix must be a number, 0 or above')
  if (fd !== undefined && ipv6Only !== undefined) throw new ListenArgsError('"fd" and "ipv6Only" exclude each other')
  const sharing = readSharing({ queueName, queueMode, exclusive })
  const who = applicationOf(sharing)
  for (const { prefix } of parsed) checkRegistration(prefix, who)
  return {
    kind: 'prefixes',
    endpoints: endpointsOf(parsed, ipv6Only),
    prefixes: parsed,
    options: how,
    ...(fd !== undefined && { fd }),
    tls,
    sharing,
    callback
  }
}

/** @param {unknown} text @returns {UrlPrefix} */
function readPrefix (text) {
  if (typeof text !== 'string') throw new ListenArgsError(`a URL prefix is a string, not ${text === null ? 'null' : `of type ${typeof text}`}`)
  if (!text.includes('://')) throw new PrefixSyntaxError(text, 'it must begin with "http://" or "https://", in lower case')
  return parseUrlPrefix(text)
}

/** @param {unknown[]} rest what follows the prefixes: options, callback, both or neither */
function readRest (rest) {
  const given = rest.filter((arg) => arg !== undefined && arg !== null)
  const callback = typeof given.at(-1) === 'function' ? /** @type {() => void} */ (given.pop()) : undefined
  const options = given.reduce((/** @type {Record<string, unknown>} */ all, arg) => {
    if (typeof arg !== 'object') throw new ListenArgsError(`after a prefix come options and a callback, not ${String(arg)}`)
    return { ...all, ...withInherited(arg) }
  }, {})
  for (const name of Object.keys(options)) {
    if (options[name] === undefined) {
      delete options[name]
      continue
    }
    if (kPlaces.includes(name)) throw new ListenArgsError(`"${name}" is already said by the prefix`)
    if (!kOptions.includes(name) && !kTlsOptions.includes(name)) {
      throw new OptionError('listen() with a prefix', name, nearest(name, [...kOptions, 'prefix', 'prefixes', ...kTlsOptions]), kPlaceOf.get(name))
    }
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

/** @param {import('../prefixes/url-prefix').Bind} bind */
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

module.exports = { applicationOf, classifyListen, endpointsOf, isWildcard, kQueueModes, readPrefix, restartMs }
