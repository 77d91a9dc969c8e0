'use strict'

// The response cache of the operating system's HTTP server: it answers with what it keeps, before JavaScript
// hears of a request.

const R = require('../records/records')
const { loadBinding } = require('../backend/binding')
const { CapabilityError } = require('../base/errors')
const { refuseUnknown } = require('../options/option-names')
const { theEngine } = require('./listener')
const { urlError } = require('./url-error')
const { kLane, kListener, kSlot } = require('../http/symbols')

const kMostSeconds = 2 ** 32 - 1
/** @type {Record<string, number>} */
const kPolicies = { none: R.kCacheNothing, userInvalidates: R.kCacheUserInvalidates, timeToLive: R.kCacheTimeToLive }

/** @param {string} what */
function requireCache (what) {
  const { capabilities } = loadBinding()
  if (!capabilities.caches) throw new CapabilityError(what, 'caches', capabilities.name)
}

/**
 * @param {import('../../types/internal').EngineResponse} res whose head has not been sent
 * @param {{ policy: 'none' | 'userInvalidates' | 'timeToLive', seconds?: number }} given
 */
function setCachePolicy (res, given) {
  requireCache('setCachePolicy()')
  refuseUnknown('setCachePolicy()', given, ['policy', 'seconds'])
  const { policy, seconds = 0 } = given
  if (!Object.hasOwn(kPolicies, policy)) {
    throw Object.assign(
      new TypeError(`The property 'policy' must be one of: '${Object.keys(kPolicies).join("', '")}'. Received ${JSON.stringify(policy)}`),
      { code: 'ERR_INVALID_ARG_VALUE' })
  }
  const least = policy === 'timeToLive' ? 1 : 0
  if (!Number.isInteger(seconds) || seconds < least || seconds > kMostSeconds) {
    throw Object.assign(
      new RangeError(`The value of "seconds" is out of range. It must be an integer >= ${least} && <= ${kMostSeconds}. Received ${seconds}`),
      { code: 'ERR_OUT_OF_RANGE' })
  }
  if (res.headersSent) {
    throw Object.assign(new Error('Cannot set a cache policy after headers are sent to the client'), { code: 'ERR_HTTP_HEADERS_SENT' })
  }
  const lane = res.socket?.[kLane]
  if (lane === undefined) throw new CapabilityError('setCachePolicy() for a response of Node\'s own code', 'caches', 'node')
  lane.writer.command(R.ReplyType.kCachePolicy, 0, /** @type {import('../../types/internal').EngineSocket} */ (res.socket)[kSlot], kPolicies[policy], seconds)
}

/**
 * @param {import('../../types/internal').ListenServer} server
 * @param {string} url a prefix of the server, or something below one
 * @param {{ recursive?: boolean }} [options]
 */
function flushCache (server, url, options = {}) {
  requireCache('flushCache()')
  refuseUnknown('flushCache()', options, ['recursive'])
  const { recursive = false } = options
  const listener = server[kListener]
  if (listener === undefined || listener.id === 0) throw Object.assign(new Error('Server is not running.'), { code: 'ERR_SERVER_NOT_RUNNING' })
  const status = theEngine().native.flushCache(listener.id, url, recursive === true)
  if (status !== 0) throw urlError(status, url, { syscall: 'flush' })
}

module.exports = { flushCache, setCachePolicy }
