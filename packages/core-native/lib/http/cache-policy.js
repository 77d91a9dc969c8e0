'use strict'

// Determines the policy of a response in the output cache, and sends it to the lane. A lane decides whether to store a response when it
// gets the head, so the policy is sent directly before the head. Until then the application may change the policy, even after writeHead().

const R = require('../records/records')
const { loadBinding } = require('../backend/binding')
const { answerOf, isHeadSent } = require('../node-private/response')
const { State } = require('./socket-state')
const { kCachePolicy, kLane, kListener, kSlot, kState } = require('./symbols')

const kSecondsMax = 2 ** 32 - 1

/** @import { EngineResponse, EngineSocket } from '../../types/internal' */
/** @typedef {{ readonly policy: number, readonly seconds: number }} CachePolicy policy is one of kCacheNothing, kCacheUserInvalidates and kCacheTimeToLive */

/** The policy of a response that must not be stored, whatever its application says. @type {CachePolicy} */
const kNeverStored = Object.freeze({ policy: R.kCacheNothing, seconds: 0 })

// Keeps a response out of the cache. A cached response is for all lines of its request, but this application saw only some of them: it may
// have answered as if a field (such as Host) were missing.
/** @param {EngineSocket} socket @param {EngineResponse} res to a request of which the application does not see all lines */
function forbidStoring (socket, res) {
  if (socket.server[kListener].cache === null) return
  res[kCachePolicy] = kNeverStored
  socket[kState] |= State.kHasPolicies
}

/**
 * @param {EngineResponse} res
 * @param {EngineSocket} socket
 * @param {CachePolicy} policy set by the application; sent to the lane directly before the head
 */
function setPolicy (res, socket, policy) {
  if (res[kCachePolicy] !== kNeverStored) res[kCachePolicy] = policy
  socket[kState] |= State.kHasPolicies
}

/**
 * The policy of a response, from setCachePolicy() or else from `res.cacheDuration`.
 *
 * @param {EngineResponse} res
 * @param {EngineSocket} socket
 * @returns {CachePolicy | null} null: the header and the default of the server decide
 */
function policyOf (res, { server }) {
  const { [kCachePolicy]: set } = res
  if (set !== undefined) return set
  const { cache } = server[kListener]
  if (cache === null || cache.rules === 'rfc9111') return null
  const { cacheDuration: seconds } = res
  // Any other value counts as not set (docs/cache.md).
  if (typeof seconds !== 'number' || !Number.isInteger(seconds) || seconds < 0 || seconds > kSecondsMax) return null
  return seconds === 0 ? { policy: R.kCacheNothing, seconds } : { policy: R.kCacheTimeToLive, seconds }
}

/**
 * Sends the policy of a response to the lane, once. Must be called directly before the response's head is sent.
 *
 * @param {EngineSocket} socket with State.kHasPolicies
 * @param {EngineResponse} res
 */
function tellCachePolicy (socket, res) {
  const { [kCachePolicy]: set } = res
  if (set === null) return
  // kCachePolicy need not become null here: setCachePolicy() refuses a response whose head was sent.
  if (set === undefined && socket.server[kListener].cache?.rules === 'rfc9111') return
  const told = policyOf(res, socket)
  res[kCachePolicy] = null
  if (told === null) return
  const { writer } = socket[kLane]
  // Without a policy HTTP.SYS stores nothing. The engine's cache would decide by header and default, so a lifetime of 0 forbids storing.
  if (told.policy !== R.kCacheNothing) {
    writer.command(R.ReplyType.kCachePolicy, 0, socket[kSlot], told.policy, told.seconds)
  } else if (loadBinding().capabilities.cacheRules) {
    writer.command(R.ReplyType.kCachePolicy, 0, socket[kSlot], R.kCacheTimeToLive, 0)
  }
}

/**
 * Sends the policy of the response whose turn it is, if the bytes that are written next begin with the response's head.
 *
 * @param {EngineSocket} socket with State.kHasPolicies
 */
function tellAnswersPolicy (socket) {
  if ((socket[kState] & State.kLaneClosed) !== 0) return
  const res = answerOf(socket)
  // While a 1xx response is written, the final response has no head yet.
  if (res !== null && res !== undefined && isHeadSent(res)) tellCachePolicy(socket, res)
}

module.exports = { forbidStoring, setPolicy, tellAnswersPolicy, tellCachePolicy }
