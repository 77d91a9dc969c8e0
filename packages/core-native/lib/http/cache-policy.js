'use strict'

// The policy that a response has in the output cache. A lane decides about a response as soon as it has the head, so the policy
// is told directly before the head leaves: until then the application may change it, also behind writeHead().

const R = require('../records/records')
const { loadBinding } = require('../backend/binding')
const { answerOf, isHeadSent } = require('../node-private/response')
const { State } = require('./socket-state')
const { kCachePolicy, kLane, kListener, kSlot, kState } = require('./symbols')

const kSecondsMax = 2 ** 32 - 1

/** @typedef {import('../../types/internal').EngineResponse} EngineResponse */
/** @typedef {import('../../types/internal').EngineSocket} EngineSocket */
/** @typedef {{ readonly policy: number, readonly seconds: number }} CachePolicy policy is one of kCacheNothing, kCacheUserInvalidates and kCacheTimeToLive */

// The policy of a response that must not be stored, whatever its application says.
/** @type {CachePolicy} */
const kNeverStored = Object.freeze({ policy: R.kCacheNothing, seconds: 0 })

// A lane stores by all lines of a request. An application that was given fewer may answer as if a field were not there: Host,
// say, so that all visitors would get the page of a client that has hidden its own.
/** @param {EngineSocket} socket @param {EngineResponse} res to a request of which the application does not see all lines */
function forbidStoring (socket, res) {
  if (socket.server[kListener].cache === null) return
  res[kCachePolicy] = kNeverStored
  socket[kState] |= State.kHasPolicies
}

/** @param {EngineResponse} res @param {EngineSocket} socket @param {CachePolicy} policy by its application; told when the head leaves */
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
  if (cache === null || cache.isRfc9111) return null
  const { cacheDuration: seconds } = res
  // Anything else counts as not set, as in httpsys.
  if (typeof seconds !== 'number' || !Number.isInteger(seconds) || seconds < 0 || seconds > kSecondsMax) return null
  return seconds === 0 ? { policy: R.kCacheNothing, seconds } : { policy: R.kCacheTimeToLive, seconds }
}

/**
 * Tells the policy of a response whose head is the next thing that leaves over the socket; once.
 *
 * @param {EngineSocket} socket with State.kHasPolicies
 * @param {EngineResponse} res
 */
function tellCachePolicy (socket, res) {
  const { [kCachePolicy]: set } = res
  if (set === null) return
  // Nothing is noted on such a response: setCachePolicy() refuses one whose head has left.
  if (set === undefined && socket.server[kListener].cache?.isRfc9111 === true) return
  const told = policyOf(res, socket)
  res[kCachePolicy] = null
  if (told === null) return
  const { writer } = socket[kLane]
  // HTTP.SYS keeps nothing unless it is told to. To a cache of ours no word means that header and default decide: a time of 0 forbids it.
  if (told.policy !== R.kCacheNothing) writer.command(R.ReplyType.kCachePolicy, 0, socket[kSlot], told.policy, told.seconds)
  else if (loadBinding().capabilities.cacheRules) writer.command(R.ReplyType.kCachePolicy, 0, socket[kSlot], R.kCacheTimeToLive, 0)
}

/**
 * Tells it for the response whose turn it is, if what is written next begins with its head.
 *
 * @param {EngineSocket} socket with State.kHasPolicies
 */
function tellAnswersPolicy (socket) {
  if ((socket[kState] & State.kLaneClosed) !== 0) return
  const res = answerOf(socket)
  // A 1xx response leaves before there is a head.
  if (res !== null && res !== undefined && isHeadSent(res)) tellCachePolicy(socket, res)
}

module.exports = { forbidStoring, setPolicy, tellAnswersPolicy, tellCachePolicy }
