'use strict'

// Functions by which a response is written as records of its own instead of by Node's methods: the short way (docs/internals/architecture.md).

const { kCorked } = require('../node-private/node-internals')
const { answerOf, hasWaitingOutput, headOf, isHeadSent } = require('../node-private/response')
const { restartTimeout } = require('../node-private/socket')
const { hasCredit } = require('./socket-output')
const { settleStream } = require('./stream-credit')
const { State } = require('./socket-state')
const { kLane, kState, kUnsent, kWritten } = require('./symbols')

// Characters. A head shares its record with a piece of the body, and a record has to fit a segment.
const kShortHeadMax = 16 * 1024

/** @typedef {import('../../types/internal').EngineResponse} EngineResponse */
/** @typedef {import('../../types/internal').EngineSocket} EngineSocket */

const kNotDirect = State.kDestroyed | State.kLaneClosed | State.kUpgraded | State.kFinSent | State.kCloseSoon | State.kFileOut

/** @param {EngineSocket} socket that a part of a file was given @returns {boolean} whether nothing waits to be written, and it goes on */
function goesOn (socket) {
  const bits = socket[kState]
  if ((bits & kNotDirect & ~State.kFileOut) !== 0) return false
  return (bits & State.kMaterialised) === 0 || (socket.writable && socket.writableLength === 0 && socket.writableCorked === 0)
}

/** @param {EngineSocket} socket the response's socket is an engine socket in a state where bytes may go directly to the lane */
function isDirect (socket) {
  const bits = socket[kState]
  if ((bits & kNotDirect) !== 0) return false
  if (!hasCredit(socket)) return false
  if ((bits & State.kMaterialised) === 0) return true
  return socket.writable && socket.writableLength === 0 && socket.writableCorked === 0
}

/** @param {EngineResponse} res */
function isShort (res) {
  const { socket } = res
  return socket !== null && socket !== undefined && socket[kLane] !== undefined && answerOf(socket) === res &&
    !res.finished && !res.destroyed && !res.strictContentLength && !hasWaitingOutput(res) &&
    res[kCorked] === 0 && isDirect(socket)
}

/** @param {EngineResponse} res the head of which exists */
function isLongHead (res) {
  return !isHeadSent(res) && /** @type {string} */ (headOf(res)).length > kShortHeadMax
}

/** Counts bytes that a record has for a socket. @param {EngineSocket} socket @param {number} bytes */
function count (socket, bytes) {
  socket[kUnsent] += bytes
  socket[kWritten] += bytes
  if ((socket[kState] & State.kStream) !== 0) settleStream(socket)
  if ((socket[kState] & State.kMaterialised) !== 0) restartTimeout(socket)
}

module.exports = { count, goesOn, isLongHead, isShort }
