'use strict'

// Functions by which a response is written as records of its own instead of by Node's methods: the short way (docs/internals/architecture.md).

const { kCorked } = require('../node-private/node-internals')
const { answerOf, hasWaitingOutput, headOf, isHeadSent } = require('../node-private/response')
const { restartTimeout } = require('../node-private/socket')
const { hasCredit } = require('./socket-output')
const { settleStream } = require('./stream-credit')
const { State } = require('./socket-state')
const { kLane, kState, kUnsent, kWritten } = require('./symbols')

// Longest head, in characters, that takes the short way: head and a piece of the body share a record, which must fit a segment.
const kShortHeadMax = 16 * 1024

/** @import { EngineResponse, EngineSocket } from '../../types/internal' */

const kNotDirect = State.kDestroyed | State.kLaneClosed | State.kUpgraded | State.kFinSent |
  State.kCloseSoon | State.kFileOut

/** @param {EngineSocket} socket on which a part of a file is being sent @returns {boolean} whether it stays open and no other output waits */
function goesOn (socket) {
  const bits = socket[kState]
  if ((bits & kNotDirect & ~State.kFileOut) !== 0) return false
  return (bits & State.kMaterialised) === 0 ||
    (socket.writable && socket.writableLength === 0 && socket.writableCorked === 0)
}

/** Whether bytes of a response may go directly to the lane in the present state of its socket. @param {EngineSocket} socket */
function isDirect (socket) {
  const bits = socket[kState]
  if ((bits & kNotDirect) !== 0) return false
  if (!hasCredit(socket)) return false
  if ((bits & State.kMaterialised) === 0) return true
  return socket.writable && socket.writableLength === 0 && socket.writableCorked === 0
}

/** Whether a response may take the short way now. @param {EngineResponse} res */
function isShort (res) {
  const { socket } = res
  return socket !== null && socket !== undefined && socket[kLane] !== undefined && answerOf(socket) === res &&
    !res.finished && !res.destroyed && !res.strictContentLength && !hasWaitingOutput(res) &&
    res[kCorked] === 0 && isDirect(socket)
}

/** @param {EngineResponse} res whose head is made */
function isLongHead (res) {
  return !isHeadSent(res) && /** @type {string} */ (headOf(res)).length > kShortHeadMax
}

/** Counts bytes of a socket that were published in a record. @param {EngineSocket} socket @param {number} bytes */
function count (socket, bytes) {
  socket[kUnsent] += bytes
  socket[kWritten] += bytes
  if ((socket[kState] & State.kStream) !== 0) settleStream(socket)
  if ((socket[kState] & State.kMaterialised) !== 0) restartTimeout(socket)
}

module.exports = { count, goesOn, isLongHead, isShort }
