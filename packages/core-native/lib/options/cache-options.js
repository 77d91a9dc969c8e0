'use strict'

// Reads the option `cache` of createServer(), or environment variables for servers without it. docs/cache.md explains the names.

const { validateHeaderName } = require('node:http')
const { CapabilityError, variableMustBe, OptionError } = require('../base/errors')
const { wrongType, wrongValue } = require('../base/validate')
const { refuseUnknown } = require('./option-names')
const { takeGroup } = require('./read-options')
const table = require('./table')

/**
 * Settings of the output cache of one server, by the names of the options.
 *
 * @typedef {Omit<import('./read-options').Taken<typeof table.cache>, 'status' | 'compress' | 'harmlessFields' | 'prefixes'> & {
 *   status: boolean | 'debug',
 *   compress: number,
 *   harmlessFields: string[],
 *   prefixes: string[]
 * }} CacheSettings `compress`: bits of kCodings, the codings in which stored answers are compressed. `harmlessFields`: in lower case.
 * `prefixes`: canonical; empty = all prefixes of the server
 */

/** Values of the option `rules`. The engine's cache has both rule sets, HTTP.SYS only the second. */
const kRules = table.cache.rules.choices
const kDurationMax = table.cache.duration.most

/** Default of `maxEntryBytes` with the rules of HTTP.SYS: the default of its parameter UriMaxUriBytes. */
const kHttpSysEntryBytes = 256 * 1024

/** @type {import('./read-options').Table} */
const kEntries = table.cache
const kNames = Object.keys(kEntries)
/** Options refused with HTTP.SYS, where Windows decides about them. */
const kOwnNames = kNames.filter((name) => kEntries[name].needs === 'cacheRules')

/** Content codings by bit number (src/semantics/content_coding.h), the preferred one first. */
const kCodings = ['br', 'zstd', 'gzip']

/** Request fields refused in `harmlessFields`: credentials, and fields with which a request never reaches the cache. */
const kNeverHarmless = [
  'authorization', 'cookie', 'expect', 'proxy-authorization', 'transfer-encoding', 'upgrade', 'x-http-method', 'x-http-method-override',
  'x-method-override', 'x-original-uri', 'x-original-url', 'x-rewrite-url'
]

/** @param {unknown} value @param {number} duration */
function readHarmlessFields (value, duration) {
  if (value === undefined) return []
  if (!Array.isArray(value)) throw wrongType('options.cache.harmlessFields', 'an instance of Array', value)
  // harmlessFields concerns only responses that are stored for the default lifetime.
  if (duration === 0) throw new OptionError('cache without "duration"', 'harmlessFields')
  return value.map((name) => {
    if (typeof name !== 'string') throw wrongType('options.cache.harmlessFields', 'a list of strings', name)
    validateHeaderName(name)
    if (kNeverHarmless.includes(name.toLowerCase())) throw wrongValue('options.cache.harmlessFields', 'names of fields that an answer may ignore', name)
    return name.toLowerCase()
  })
}

/** @param {unknown} value @param {(text: string) => string} canonical @returns {string[]} */
function readPrefixes (value, canonical) {
  if (value === undefined) return []
  if (!Array.isArray(value)) throw wrongType('options.cache.prefixes', 'an instance of Array', value)
  if (value.length === 0) throw wrongValue('options.cache.prefixes', 'a list of at least one URL prefix', value)
  return value.map((text) => {
    if (typeof text !== 'string') throw wrongType('options.cache.prefixes', 'a list of strings', text)
    return canonical(text)
  })
}

/** @param {unknown} value @returns {boolean | 'debug'} */
function readStatus (value = false) {
  if (typeof value !== 'boolean' && value !== 'debug') throw wrongValue('options.cache.status', "true, false or 'debug'", value)
  return value
}

/**
 * @param {unknown} value true: all codings whose encoders the running Node has
 * @param {Place['capabilities']} capabilities
 * @returns {number} bits of kCodings
 */
function readCompress (value, capabilities) {
  if (value === undefined || value === false) return 0
  if (value !== true && !Array.isArray(value)) throw wrongType('options.cache.compress', 'of type boolean or an instance of Array', value)
  if (value !== true && value.length === 0) throw wrongValue('options.cache.compress', `a list of at least one of: '${kCodings.join("', '")}'`, value)
  const list = value === true ? kCodings : value
  for (const name of list) {
    if (typeof name !== 'string') throw wrongType('options.cache.compress', 'a list of strings', name)
    if (!kCodings.includes(name)) throw wrongValue('options.cache.compress', `a list of '${kCodings.join("', '")}'`, name)
  }
  if (!capabilities.cacheRules) return 0 // refuseIncapable() refuses the option.
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
  if (typeof given !== 'object' || given === null || Array.isArray(given)) throw wrongType('options.cache', 'of type boolean or an instance of Object', chosen)
  const { rules } = takeGroup({ rules: table.cache.rules }, { rules: given.rules }, 'cache')
  refuseUnknown(`cache with the rules "${rules}"`, given, kNames.filter((name) => [undefined, rules].includes(kEntries[name].rules)))
  const { compress, harmlessFields, prefixes, status, ...others } = takeGroup(table.cache, given, 'cache')
  const isHttpSys = rules === 'httpsys'
  const duration = given.duration === undefined && isHttpSys ? durationOf(env) ?? 0 : others.duration
  const settings = {
    ...others,
    duration,
    maxEntryBytes: given.maxEntryBytes === undefined && isHttpSys ? kHttpSysEntryBytes : others.maxEntryBytes,
    status: readStatus(status),
    compress: readCompress(compress, capabilities),
    harmlessFields: readHarmlessFields(harmlessFields, duration),
    prefixes: readPrefixes(prefixes, canonical)
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
function refuseIncapable ({ rules, duration }, given, capabilities) {
  if (!capabilities.caches) throw new CapabilityError('createServer({ cache })', 'caches', capabilities.name)
  if (capabilities.cacheRules) return
  if (rules === 'rfc9111') throw new CapabilityError("createServer({ cache: { rules: 'rfc9111' } })", 'cacheRules', capabilities.name, 'its kernel knows none of these rules')
  if (duration > 0) {
    throw new CapabilityError('createServer({ cache: { duration } })', 'cacheRules', capabilities.name,
      'its kernel would answer requests with cookies, too, from what it keeps. Set the time on each response')
  }
  for (const name of kOwnNames) {
    if (given[name] !== undefined && given[name] !== false) throw new CapabilityError(`createServer({ cache: { ${name} } })`, 'cacheRules', capabilities.name, 'Windows decides')
  }
}

/**
 * Converts the settings to the form that the lanes read.
 *
 * @param {CacheSettings | null} settings null: no cache
 * @returns {import('../../types/binding').CacheConfig}
 */
function cacheConfig (settings) {
  if (settings === null) return kNoCache
  const { rules, stale, status, cacheBytes, portCacheBytes, ...others } = settings
  return {
    ...others,
    rules: rules === 'rfc9111' ? 2 : 1,
    staleWhileRevalidate: stale.whileRevalidate,
    staleIfError: stale.ifError,
    status: status !== false,
    saysWhy: status === 'debug'
  }
}

const kNoCache = {
  ...cacheConfig({ ...takeGroup(table.cache, {}, 'cache'), status: false, compress: 0, harmlessFields: [], prefixes: [] }),
  rules: 0
}

module.exports = { cacheConfig, takeCache }
