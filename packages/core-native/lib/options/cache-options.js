'use strict'

// Reads the option `cache` of createServer(), or environment variables for servers without it. docs/cache.md explains the names.

const { validateHeaderName } = require('node:http')
const { CapabilityError, variableMustBe, OptionError } = require('../base/errors')
const { nearest } = require('../base/nearest')
const { namesGiven } = require('./given-options')

/**
 * Settings of the output cache of one server.
 *
 * @typedef {object} CacheSettings
 * @property {boolean} isRfc9111 false: the rules of HTTP.SYS
 * @property {number} bytes maximum size of the process's cache
 * @property {number} portBytes maximum size of the caches of all processes of a port together; 0 = the default
 * @property {number} entryBytesMax
 * @property {number} duration default lifetime in seconds; 0 = none, only responses that set a lifetime are stored
 * @property {number} whileRevalidate seconds
 * @property {number} ifError seconds
 * @property {number} refreshMs time limit for JavaScript's answer to a request that the cache itself makes
 * @property {number} coalesceMs maximum time for which a request waits for the answer to another one
 * @property {boolean} heuristics
 * @property {boolean} ignoreReload
 * @property {boolean} status whether answers have Cache-Status
 * @property {boolean} saysWhy whether Cache-Status says why a response was not stored
 * @property {number} codings bits of kCodings: the content codings in which stored answers are compressed
 * @property {string[]} harmlessFields in lower case
 * @property {string[]} prefixes canonical; empty = all prefixes of the server
 */

/** Values of the option `rules`; the first is the default. The engine's cache has both rule sets, HTTP.SYS only the second. */
const kRules = ['rfc9111', 'httpsys']

const kMiB = 1024 * 1024
/** Bounds and default of `cacheBytes`. The cache's memory is 1 to 1024 chunks of 4 MiB (src/cache/arena_layout.h). */
const kBytesMin = 4 * kMiB
const kBytesMax = 4096 * kMiB
const kBytesDefault = 32 * kMiB
/** Upper bound of `portCacheBytes`, for the most members that a port can have: 1024. */
const kPortBytesMax = 1024 * kBytesMax
/** Upper bound, and default with rfc9111, of `maxEntryBytes`: half a segment of the cache's memory. */
const kEntryBytesMax = kMiB
/** Default of `maxEntryBytes` with the rules of HTTP.SYS: the default of its parameter UriMaxUriBytes. */
const kHttpSysEntryBytes = 256 * 1024
/** Upper bound of the times of `stale`, in seconds: the largest lifetime that RFC 9111, section 1.2.2, asks a cache to know. */
const kSecondsMax = 2 ** 31
/** Upper bound of `duration`, in seconds: HTTP.SYS has 32 bits for it. */
const kDurationMax = 2 ** 32 - 1

/** Default of `refreshTimeout`: as long as proxies usually wait for the servers behind them. */
const kRefreshMsDefault = 60_000
/** Default of `coalesceTimeout`, like nginx' proxy_cache_lock_timeout: after that, each waiting request goes to JavaScript. */
const kCoalesceMsDefault = 5_000
/** Upper bound of both timeouts: the longest time of a Node timer. */
const kTimeoutMsMax = 2 ** 31 - 1

/** Options refused with HTTP.SYS, where Windows decides about them. */
const kOwnNames = ['cacheBytes', 'portCacheBytes', 'maxEntryBytes', 'status', 'prefixes', 'compress', 'refreshTimeout', 'coalesceTimeout']
const kCommonNames = ['rules', ...kOwnNames]
/** Options that only the named rule set uses; refused with the other one, which would ignore them. @type {Record<string, string[]>} */
const kNamesOf = { rfc9111: ['stale', 'heuristics', 'ignoreReload'], httpsys: ['duration', 'harmlessFields'] }
const kNames = [...kCommonNames, ...kNamesOf.rfc9111, ...kNamesOf.httpsys]

/** Content codings by bit number (src/semantics/content_coding.h), the preferred one first. */
const kCodings = ['br', 'zstd', 'gzip']

/** Request fields refused in `harmlessFields`: credentials, and fields with which a request never reaches the cache. */
const kNeverHarmless = [
  'authorization', 'cookie', 'expect', 'proxy-authorization', 'transfer-encoding', 'upgrade', 'x-http-method', 'x-http-method-override',
  'x-method-override', 'x-original-uri', 'x-original-url', 'x-rewrite-url'
]

/** @param {string} name @param {string} type @param {unknown} value */
function wrongType (name, type, value) {
  return Object.assign(
    new TypeError(`The "options.cache${name}" property must be ${type}. Received ${value === null ? 'null' : `type ${typeof value}`}`),
    { code: 'ERR_INVALID_ARG_TYPE' })
}

/** @param {string} name @param {string} wanted @param {unknown} value */
function wrongValue (name, wanted, value) {
  return Object.assign(
    new TypeError(`The property 'options.cache${name}' must be ${wanted}. Received ${JSON.stringify(value)}`), { code: 'ERR_INVALID_ARG_VALUE' })
}

/** @param {unknown} value @param {string} name @param {number} byDefault @param {number} least @param {number} most */
function readInteger (value, name, byDefault, least, most) {
  if (value === undefined) return byDefault
  if (typeof value !== 'number') throw wrongType(name, 'of type number', value)
  if (!Number.isInteger(value) || value < least || value > most) {
    throw Object.assign(
      new RangeError(`The value of "options.cache${name}" is out of range. It must be an integer >= ${least} && <= ${most}. Received ${value}`),
      { code: 'ERR_OUT_OF_RANGE' })
  }
  return value
}

/** @param {unknown} value @param {string} name */
function readBoolean (value, name) {
  if (value === undefined) return false
  if (typeof value !== 'boolean') throw wrongType(name, 'of type boolean', value)
  return value
}

/** @param {Record<string, unknown>} given @param {string} where @param {string[]} known */
function refuseOthers (given, where, known) {
  for (const name of namesGiven(given)) {
    if (given[name] !== undefined && !known.includes(name)) throw new OptionError(where, name, nearest(name, known))
  }
}

/** @param {unknown} value */
function readStale (value) {
  if (value === undefined) return { whileRevalidate: 0, ifError: 0 }
  if (typeof value !== 'object' || value === null) throw wrongType('.stale', 'an instance of Object', value)
  const given = /** @type {Record<string, unknown>} */ (value)
  refuseOthers(given, 'cache.stale', ['whileRevalidate', 'ifError'])
  return {
    whileRevalidate: readInteger(given.whileRevalidate, '.stale.whileRevalidate', 0, 0, kSecondsMax),
    ifError: readInteger(given.ifError, '.stale.ifError', 0, 0, kSecondsMax)
  }
}

/** @param {unknown} value @param {number} duration */
function readHarmlessFields (value, duration) {
  if (value === undefined) return []
  if (!Array.isArray(value)) throw wrongType('.harmlessFields', 'an instance of Array', value)
  // harmlessFields concerns only responses that are stored for the default lifetime.
  if (duration === 0) throw new OptionError('cache without "duration"', 'harmlessFields')
  return value.map((name) => {
    if (typeof name !== 'string') throw wrongType('.harmlessFields', 'a list of strings', name)
    validateHeaderName(name)
    if (kNeverHarmless.includes(name.toLowerCase())) throw wrongValue('.harmlessFields', 'names of fields that an answer may ignore', name)
    return name.toLowerCase()
  })
}

/** @param {unknown} value @param {(text: string) => string} canonical @returns {string[]} */
function readPrefixes (value, canonical) {
  if (value === undefined) return []
  if (!Array.isArray(value)) throw wrongType('.prefixes', 'an instance of Array', value)
  if (value.length === 0) throw wrongValue('.prefixes', 'a list of at least one URL prefix', value)
  return value.map((text) => {
    if (typeof text !== 'string') throw wrongType('.prefixes', 'a list of strings', text)
    return canonical(text)
  })
}

/** @param {unknown} value @returns {{ status: boolean, saysWhy: boolean }} */
function readStatus (value) {
  if (value === undefined) return { status: false, saysWhy: false }
  if (typeof value !== 'boolean' && value !== 'debug') throw wrongValue('.status', "true, false or 'debug'", value)
  return { status: value !== false, saysWhy: value === 'debug' }
}

/**
 * @param {unknown} value true: all codings whose encoders the running Node has
 * @param {Place['capabilities']} capabilities
 * @returns {number} bits of kCodings
 */
function readCompress (value, capabilities) {
  if (value === undefined || value === false) return 0
  if (value !== true && !Array.isArray(value)) throw wrongType('.compress', 'of type boolean or an instance of Array', value)
  if (value !== true && value.length === 0) throw wrongValue('.compress', `a list of at least one of: '${kCodings.join("', '")}'`, value)
  const list = value === true ? kCodings : value
  for (const name of list) {
    if (typeof name !== 'string') throw wrongType('.compress', 'a list of strings', name)
    if (!kCodings.includes(name)) throw wrongValue('.compress', `a list of '${kCodings.join("', '")}'`, name)
  }
  if (!capabilities.cacheRules) return 0 // refuseIncapable() refuses it.
  const wanted = kCodings.reduce((bits, name, bit) => list.includes(name) ? bits | 1 << bit : bits, 0)
  if (value === true) return wanted & capabilities.cacheCodings
  const missing = kCodings.filter((_, bit) => (wanted & ~capabilities.cacheCodings & 1 << bit) !== 0)
  if (missing.length > 0) {
    throw new CapabilityError(`createServer({ cache: { compress: ['${missing.join("', '")}'] } })`, 'cacheCodings', capabilities.name,
      `Node ${process.version} has no such encoder; true takes what it has`)
  }
  return wanted
}

/**
 * Reads HTTPSYS_CACHE_DURATION.
 *
 * @param {NodeJS.ProcessEnv} env
 * @returns {number | undefined} seconds; undefined = it is not set, or negative, which turns it off
 * @throws ERR_HTTPSYS_ENVIRONMENT
 */
function durationOf ({ HTTPSYS_CACHE_DURATION: text }) {
  if (!text || /^-\d+$/.test(text)) return undefined
  if (!/^\d{1,10}$/.test(text) || Number(text) > kDurationMax) {
    throw variableMustBe('HTTPSYS_CACHE_DURATION', text, `a whole number of seconds up to ${kDurationMax}`)
  }
  return Number(text)
}

/**
 * Reads from environment variables the `cache` of servers that are created without that option.
 *
 * @param {NodeJS.ProcessEnv} env
 * @returns {unknown} in the form of the option
 * @throws ERR_HTTPSYS_ENVIRONMENT
 */
function optionOf (env) {
  const { HTTPSYS_CACHE: rules } = env
  const duration = durationOf(env)
  if (!rules) return duration === undefined ? undefined : { rules: 'httpsys', duration }
  if (!kRules.includes(rules)) throw variableMustBe('HTTPSYS_CACHE', rules, `"${kRules.join('" or "')}"`)
  if (rules === 'rfc9111' && duration !== undefined) {
    throw variableMustBe('HTTPSYS_CACHE_DURATION', String(duration), 'unset where HTTPSYS_CACHE is "rfc9111", which has no such time')
  }
  return { rules }
}

/**
 * Backend and environment of a server that is being created.
 *
 * @typedef {object} Place
 * @property {Pick<import('../../types/binding').Capabilities, 'name' | 'caches' | 'cacheRules' | 'cacheCodings'>} capabilities
 * @property {(text: string) => string} canonical returns the canonical form of a URL prefix
 * @property {NodeJS.ProcessEnv} [env]
 */

/**
 * Reads and checks the option `cache`.
 *
 * @param {unknown} option undefined: environment variables decide
 * @param {Place} place
 * @returns {CacheSettings | null} null: the server has no cache
 * @throws ERR_INVALID_ARG_TYPE, ERR_INVALID_ARG_VALUE, ERR_OUT_OF_RANGE, ERR_HTTPSYS_OPTION, ERR_HTTPSYS_CAPABILITY, ERR_HTTPSYS_ENVIRONMENT,
 * ERR_HTTPSYS_PREFIX_SYNTAX
 */
function takeCache (option, { capabilities, canonical, env = process.env }) {
  const chosen = option === undefined ? optionOf(env) : option
  if (chosen === undefined || chosen === false) return null
  const given = /** @type {Record<string, unknown>} */ (chosen === true ? {} : chosen)
  if (typeof given !== 'object' || given === null || Array.isArray(given)) throw wrongType('', 'of type boolean or an instance of Object', chosen)
  refuseOthers(given, 'cache', kNames)
  const { rules = kRules[0], compress } = given
  if (!kRules.includes(/** @type {string} */ (rules))) throw wrongValue('.rules', `one of: '${kRules.join("', '")}'`, rules)
  const isRfc9111 = rules === 'rfc9111'
  refuseOthers(given, `cache with the rules "${rules}"`, [...kCommonNames, ...kNamesOf[/** @type {string} */ (rules)]])
  const duration = isRfc9111 ? 0 : readInteger(given.duration, '.duration', durationOf(env) ?? 0, 0, kDurationMax)
  const settings = {
    isRfc9111,
    duration,
    bytes: readInteger(given.cacheBytes, '.cacheBytes', kBytesDefault, kBytesMin, kBytesMax),
    portBytes: readInteger(given.portCacheBytes, '.portCacheBytes', 0, kBytesMin, kPortBytesMax),
    entryBytesMax: readInteger(given.maxEntryBytes, '.maxEntryBytes', isRfc9111 ? kEntryBytesMax : kHttpSysEntryBytes, 1, kEntryBytesMax),
    ...readStale(given.stale),
    refreshMs: readInteger(given.refreshTimeout, '.refreshTimeout', kRefreshMsDefault, 1, kTimeoutMsMax),
    coalesceMs: readInteger(given.coalesceTimeout, '.coalesceTimeout', kCoalesceMsDefault, 0, kTimeoutMsMax),
    heuristics: readBoolean(given.heuristics, '.heuristics'),
    ignoreReload: readBoolean(given.ignoreReload, '.ignoreReload'),
    ...readStatus(given.status),
    codings: readCompress(compress, capabilities),
    harmlessFields: readHarmlessFields(given.harmlessFields, duration),
    prefixes: readPrefixes(given.prefixes, canonical)
  }
  refuseIncapable(settings, given, capabilities)
  return settings
}

/**
 * Refuses settings that the backend cannot follow.
 *
 * @param {CacheSettings} settings
 * @param {Record<string, unknown>} given
 * @param {Place['capabilities']} capabilities
 */
function refuseIncapable ({ isRfc9111, duration }, given, capabilities) {
  if (!capabilities.caches) throw new CapabilityError('createServer({ cache })', 'caches', capabilities.name)
  if (capabilities.cacheRules) return
  if (isRfc9111) throw new CapabilityError("createServer({ cache: { rules: 'rfc9111' } })", 'cacheRules', capabilities.name, 'its kernel knows none of these rules')
  if (duration > 0) {
    throw new CapabilityError('createServer({ cache: { duration } })', 'cacheRules', capabilities.name,
      'its kernel would answer requests with cookies, too, from what it keeps. Set the time on each response')
  }
  for (const name of kOwnNames) {
    if (given[name] !== undefined && given[name] !== false) throw new CapabilityError(`createServer({ cache: { ${name} } })`, 'cacheRules', capabilities.name, 'Windows decides')
  }
}

/** Bits of ServerConfig.cacheFlags (types/binding.d.ts). */
const Flag = { heuristics: 1, ignoreReload: 2, status: 4, saysWhy: 8 }
const kRulesOff = 0
const kRulesHttpSys = 1
const kRulesRfc9111 = 2

/**
 * Converts the settings to the form that the lanes read.
 *
 * @param {CacheSettings | null} settings
 * @returns {import('../../types/binding').CacheConfig}
 */
function cacheConfig (settings) {
  if (settings === null) return kNoCache
  const { heuristics, ignoreReload, status, saysWhy } = settings
  return {
    cacheRules: settings.isRfc9111 ? kRulesRfc9111 : kRulesHttpSys,
    cacheDefaultSeconds: settings.duration,
    cacheEntryBytesMax: settings.entryBytesMax,
    cacheStaleWhileRevalidate: settings.whileRevalidate,
    cacheStaleIfError: settings.ifError,
    cacheRefreshMs: settings.refreshMs,
    cacheCoalesceMs: settings.coalesceMs,
    cacheFlags: (heuristics ? Flag.heuristics : 0) | (ignoreReload ? Flag.ignoreReload : 0) | (status ? Flag.status : 0) | (saysWhy ? Flag.saysWhy : 0),
    cacheCodings: settings.codings,
    cacheHarmlessFields: settings.harmlessFields,
    cachePrefixes: settings.prefixes
  }
}

/** @type {import('../../types/binding').CacheConfig} */
const kNoCache = {
  cacheRules: kRulesOff,
  cacheDefaultSeconds: 0,
  cacheEntryBytesMax: 0,
  cacheStaleWhileRevalidate: 0,
  cacheStaleIfError: 0,
  cacheRefreshMs: 0,
  cacheCoalesceMs: 0,
  cacheFlags: 0,
  cacheCodings: 0,
  cacheHarmlessFields: [],
  cachePrefixes: []
}

module.exports = { cacheConfig, takeCache }
