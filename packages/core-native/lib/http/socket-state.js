'use strict'

// The state of a socket of the engine, and what follows from it for its lane, its server and the event loop.

const { answerOf } = require('../node-private/response')
const { emitCloseIfDrained, uncountConnection } = require('../node-private/server')
const { serverOf } = require('../node-private/socket')
const { kLane, kSlot, kState, kHeldWrite, kUnref, kHoldsLoop, kStreamAnswer, kEndsIn, kListener } = require('./symbols')

/** @typedef {import('../../types/internal').EngineServer} EngineServer */
/** @typedef {import('../../types/internal').EngineSocket} EngineSocket */

// Bits of socket[kState].
const State = {
  kMaterialised: 1 << 0,
  kDestroyed: 1 << 1, // Only while light; afterwards the stream's own state counts.
  kLaneClosed: 1 << 2, // kClosed arrived: nothing may be published for this slot.
  kUpgraded: 1 << 3, // Opaque bytes both ways.
  kFinSent: 1 << 4, // kShutdown or a closing kEnd was published.
  kCloseSoon: 1 << 5, // The lane closes by itself after what was published.
  kPeerEnded: 1 << 6,
  kReadPaused: 1 << 7, // Consumed bytes are not acknowledged.
  kKeepAliveTimer: 1 << 8, // The idle time between requests is counted by a JavaScript timer.
  kFailed: 1 << 9, // A protocol error was reported: no more requests.
  kCounted: 1 << 10, // Counts in server._connections.
  kServed: 1 << 11, // At least one request was received.
  kInHandler: 1 << 12, // Its request is just being handed over: to Node's parser that is no idle connection.
  kUndecided: 1 << 13, // Upgraded, and nobody has said whether its bytes are read as bytes or as frames.
  kWebSocket: 1 << 14, // Frames: this stream has none of them.
  kStream: 1 << 15, // A stream of an HTTP/2 connection.
  kHttp2: 1 << 16, // A connection that has streams.
  kRelayedStream: 1 << 17, // A stream of a client's connection that another process has.
  kIdleCounted: 1 << 18, // The lane was told, since the last request, how long the connection may be idle: nobody else counts.
  kBodyLimited: 1 << 19, // A request that came over it has a limit of its own for its body.
  kFileOut: 1 << 20, // The lane sends a part of a file: what is written waits for it, as for a client that does not read.
  kHasPolicies: 1 << 21, // Its server has an output cache with the rules of HTTP.SYS, or a policy was set on a response: heads are preceded by policies.
  kReadsFast: 1 << 22, // When bytes left last, the client's socket had taken all that it was given.
  kHasExtra: 1 << 23, // The socket may have more unsent bytes than others.
  kCountsAsRead: 1 << 24, // A stream whose credit counts as that of one that its client reads.
  kFileEnds: 1 << 25, // The response ends with a file, for the lane: nothing may be written until it has finished.
  kTimerDiffers: 1 << 26, // Node's timer of the socket runs with another time than its `timeout` (idle-time.js).
  kReaderGone: 1 << 27 // Upgraded: what it was piped into has ended, and pause() was not called since.
}

/** @param {EngineSocket} socket */
function isLight (socket) {
  return (socket[kState] & State.kMaterialised) === 0
}

// The response whose turn it is on the socket. A connection with streams has none: its _httpMessage is one of theirs.
/** @param {EngineSocket} socket */
function ownMessage (socket) {
  return socket[kStreamAnswer] === undefined ? answerOf(socket) : undefined
}

/** @param {EngineSocket} socket */
function uncount (socket) {
  if ((socket[kState] & State.kCounted) === 0) return
  socket[kState] &= ~State.kCounted
  // A socket that is counted has a server.
  const server = /** @type {EngineServer} */ (serverOf(socket))
  uncountConnection(server)
  const listener = server[kListener]
  listener.endsIn = socket[kEndsIn]
  emitCloseIfDrained(server)
  listener.endsIn = null
}

/** @param {EngineSocket} socket @param {number} type @param {number} [a] @param {number} [b] @param {number} [c] */
function publish (socket, type, a, b, c) {
  if ((socket[kState] & State.kLaneClosed) === 0) {
    socket[kLane].writer.command(type, 0, socket[kSlot], a, b, c)
  }
}

// An open connection keeps the event loop alive, as an active libuv handle does: until the lane has
// closed it; but an upgraded one whose peer has ended holds it only for a write that waits, or for its own close.
/** @param {EngineSocket} socket */
function updateLoop (socket) {
  const bits = socket[kState]
  const isQuiet = (bits & (State.kUpgraded | State.kPeerEnded | State.kFinSent)) === (State.kUpgraded | State.kPeerEnded) &&
    socket[kHeldWrite] === null && !socket.destroyed
  const holds = (bits & State.kLaneClosed) === 0 && !socket[kUnref] && !isQuiet
  if (holds === socket[kHoldsLoop]) return
  socket[kHoldsLoop] = holds
  const { engine } = socket[kLane]
  if (holds) engine.ref()
  else engine.unref()
}

module.exports = { State, isLight, ownMessage, uncount, publish, updateLoop }
