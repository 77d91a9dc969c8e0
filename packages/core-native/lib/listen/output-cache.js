'use strict'

// The JavaScript side of a server's output cache, which answers requests before they reach JavaScript. On the engine the lanes store
// responses, by the rules that createServer() was given. With HTTP.SYS the kernel stores the responses, and cannot list them.

const http = require('node:http')
const R = require('../records/records')
const { loadBinding } = require('../backend/binding')
const { describeEntry } = require('../backend/cache-entry')
const { CacheOffError, CapabilityError } = require('../base/errors')
const { refuseUnknown } = require('../options/option-names')
const { setPolicy } = require('../http/cache-policy')
const { theEngine } = require('./listener')
const { urlError } = require('./url-error')
const { isHeadSent } = require('../node-private/response')
const { kLane, kListener } = require('../http/symbols')
const { systemError } = require('../base/system-error')
const { outOfRange, readInteger, readString, wrongChoice, wrongType } = require('../base/validate')

const kMostSeconds = 2 ** 32 - 1
/** Default of the `limit` of entries(): the number of entries listed. */
const kListed = 1000
const kListedMost = 2 ** 31 - 1
/** @type {Record<string, number>} */
const kPolicies = { none: R.kCacheNothing, userInvalidates: R.kCacheUserInvalidates, timeToLive: R.kCacheTimeToLive }

/** @import { EngineResponse, EngineSocket, ListenServer } from '../../types/internal' */

/** @param {string} what */
function requireCache (what) {
  const { capabilities } = loadBinding()
  if (!capabilities.caches) throw new CapabilityError(what, 'caches', capabilities.name)
}

/** @param {string} what @throws ERR_HTTPSYS_CAPABILITY where the operating system has the cache */
function requireOwnCache (what) {
  const { capabilities } = loadBinding()
  if (!capabilities.cacheRules) throw new CapabilityError(what, 'cacheRules', capabilities.name, 'Windows shows it:  netsh http show cachestate')
}

/** @param {string} name @param {unknown} url @throws ERR_INVALID_ARG_TYPE, or ERR_INVALID_ARG_VALUE for a string that is no URL */
function requireUrl (name, url) {
  if (!isUrl(readString(name, url))) throw Object.assign(new TypeError(`${JSON.stringify(url)} is no URL such as http://*:8080/news/`), { code: 'ERR_INVALID_ARG_VALUE' })
}

/** @param {string} text @returns {boolean} whether it has a scheme and a host; the host may be "*" or "+" */
function isUrl (text) {
  const [, port = '1'] = /^https?:\/\/(?:\[[^\]/?#]+\]|[^:/?#[\]]+)(?::([1-9]\d{0,4}))?(?:[/?]|$)/i.exec(text) ?? [null, '65536']
  return Number(port) <= 65535
}

/** @param {unknown} given of setCachePolicy() @throws ERR_INVALID_ARG_TYPE */
function requirePolicy (given) {
  if (typeof given !== 'object' || given === null) throw wrongType('policy', 'an object such as { policy: \'timeToLive\', seconds: 60 }', given)
  const { seconds = 0 } = /** @type {{ seconds?: unknown }} */ (given)
  if (typeof seconds !== 'number') throw wrongType('policy.seconds', 'of type number', seconds)
}

/**
 * Sets the cache policy of one response. The lane receives it together with the response's head.
 *
 * @param {EngineResponse} res whose head has not been sent
 * @param {{ policy: 'none' | 'userInvalidates' | 'timeToLive', seconds?: number }} given
 */
function setCachePolicy (res, given) {
  requireCache('setCachePolicy()')
  requirePolicy(given)
  refuseUnknown('setCachePolicy()', given, ['policy', 'seconds'])
  const { policy, seconds = 0 } = given
  if (!Object.hasOwn(kPolicies, policy)) throw wrongChoice('policy.policy', Object.keys(kPolicies), policy)
  readInteger('policy.seconds', seconds, policy === 'timeToLive' ? 1 : 0, kMostSeconds)
  if (isHeadSent(res)) {
    throw Object.assign(new Error('Cannot set a cache policy after headers are sent to the client'), { code: 'ERR_HTTP_HEADERS_SENT' })
  }
  // A response that waits for earlier ones of its connection has no socket yet, but its request has.
  const socket = /** @type {import('../../types/internal').EngineSocket | undefined} */ (res.socket ?? res.req?.socket)
  if (!(res instanceof http.ServerResponse)) throw wrongType('res', 'a response of a server of @httpsys/core-native', res)
  if (socket?.[kLane] === undefined) throw new CapabilityError('setCachePolicy() for a response of Node\'s own code', 'caches', 'node')
  if (socket.server[kListener].cache === null && loadBinding().capabilities.cacheRules) throw new CacheOffError('setCachePolicy()')
  setPolicy(res, socket, { policy: kPolicies[policy], seconds })
}

/**
 * @param {ListenServer} server
 * @param {string} what the function, for messages
 * @returns {number} by which the engine knows the server
 * @throws ERR_SERVER_NOT_RUNNING, ERR_HTTPSYS_CACHE_OFF
 */
function idOf (server, what) {
  const listener = server[kListener]
  if (listener !== undefined && listener.cache === null && loadBinding().capabilities.cacheRules) {
    throw new CacheOffError(what)
  }
  if (listener === undefined || listener.id === 0) throw Object.assign(new Error('Server is not running.'), { code: 'ERR_SERVER_NOT_RUNNING' })
  return listener.id
}

/** @param {ListenServer} server @param {string} what @param {string} url @param {boolean} isRecursive @returns {number} removed entries; 0 on Windows */
function drop (server, what, url, isRecursive) {
  const result = theEngine().native.flushCache(idOf(server, what), url, isRecursive)
  if (!loadBinding().capabilities.cacheRules) {
    if (result !== 0) throw urlError(result, url, { syscall: 'flush' })
    return 0
  }
  if (result < 0) throw Object.assign(systemError(result, 'flush'), { prefix: url })
  return result
}

/**
 * Removes the entries for a URL of the server from its output cache.
 *
 * @param {ListenServer} server
 * @param {string} url a prefix of the server, or something below one
 * @param {{ recursive?: boolean }} [options]
 */
function flushCache (server, url, options = {}) {
  requireCache('flushCache()')
  requireUrl('url', url)
  refuseUnknown('flushCache()', options, ['recursive'])
  drop(server, 'flushCache()', url, options.recursive === true)
}

/** Class of the object `server.cache`. */
class ServerCache {
  /** @type {ListenServer} */
  #server

  /** @param {ListenServer} server */
  constructor (server) {
    this.#server = server
  }

  /** @param {{ prefix?: string, limit?: number }} [options] */
  entries (options = {}) {
    requireOwnCache('server.cache.entries()')
    refuseUnknown('server.cache.entries()', options, ['prefix', 'limit'])
    const { prefix, limit = kListed } = options
    if (prefix !== undefined) requireUrl('options.prefix', prefix)
    if (!Number.isInteger(limit) || limit < 1 || limit > kListedMost) throw outOfRange('options.limit', `an integer >= 1 && <= ${kListedMost}`, limit)
    return theEngine().native.cacheEntries(idOf(this.#server, 'server.cache.entries()'), prefix ?? '', limit).map(describeEntry)
  }

  stats () {
    requireOwnCache('server.cache.stats()')
    return theEngine().native.cacheStatistics(idOf(this.#server, 'server.cache.stats()'))
  }

  /** @param {string} [prefix] @param {{ recursive?: boolean }} [options] */
  flush (prefix, options = {}) {
    refuseUnknown('server.cache.flush()', options, ['recursive'])
    if (prefix === undefined) return this.#flushAll()
    requireUrl('prefix', prefix)
    return drop(this.#server, 'server.cache.flush()', prefix, options.recursive === true)
  }

  #flushAll () {
    if (loadBinding().capabilities.cacheRules) return drop(this.#server, 'server.cache.flush()', '', true)
    for (const { prefix } of this.#server[kListener].prefixes.held()) drop(this.#server, 'server.cache.flush()', prefix, true)
    return 0
  }
}

module.exports = { ServerCache, flushCache, setCachePolicy }
