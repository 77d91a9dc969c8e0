'use strict'

// The state of a socket of the engine, and what follows from it for its lane, its server and the event loop.

const { answerOf } = require('../node-private/response')
const { emitCloseIfDrained, uncountConnection } = require('../node-private/server')
const { serverOf } = require('../node-private/socket')
const { kLane, kSlot, kState, kHeldWrite, kUnref, kHoldsLoop, kStreamAnswer, kEndsIn, kListener } = require('./symbols')

/** @import { EngineServer, EngineSocket } from '../../types/internal' */

// Bits of socket[kState].
const State = {
  kMaterialised: 1 << 0, // A stream; without this bit the socket is light.
  kDestroyed: 1 << 1, // Only while light; afterwards the stream's own state counts.
  kLaneClosed: 1 << 2, // kClosed arrived: nothing may be published for this slot.
  kUpgraded: 1 << 3, // After an upgrade or CONNECT: opaque bytes both ways.
  kFinSent: 1 << 4, // kShutdown or a closing kEnd was published.
  kCloseSoon: 1 << 5, // The lane closes by itself after what was published.
  kPeerEnded: 1 << 6, // The client has ended its direction.
  kReadPaused: 1 << 7, // Consumed bytes are not acknowledged.
  kKeepAliveTimer: 1 << 8, // The idle time between requests is counted by a JavaScript timer.
  kFailed: 1 << 9, // A protocol error was reported: no more requests.
  kCounted: 1 << 10, // Counts in server._connections.
  kServed: 1 << 11, // At least one request was received.
  kInHandler: 1 << 12, // A handler is being called: the connection is not idle, as with Node's parser.
  kUndecided: 1 << 13, // Upgraded; whether the lane reads bytes or WebSocket frames is not decided yet.
  kWebSocket: 1 << 14, // The lane reads WebSocket frames: the socket as a stream gets no data.
  kStream: 1 << 15, // A stream of an HTTP/2 connection.
  kHttp2: 1 << 16, // A connection that has streams.
  kRelayedStream: 1 << 17, // An HTTP/2 stream that another process relays: that process has the client's connection.
  kIdleCounted: 1 << 18, // The lane counts the idle time since the last request; JavaScript must not count it, too.
  kBodyLimited: 1 << 19, // A request of the connection has its own body limit.
  kFileOut: 1 << 20, // The lane sends a part of a file: other output waits for it, as for a client that does not read.
  kHasPolicies: 1 << 21, // Its server has an output cache with the rules of HTTP.SYS, or a policy was set on a response: heads are preceded by policies.
  kReadsFast: 1 << 22, // At the last credit, the client's socket had taken all bytes so far.
  kHasExtra: 1 << 23, // The socket has extra credit (socket-output.js).
  kCountsAsRead: 1 << 24, // An HTTP/2 stream that StreamCredit counts as read by its client.
  kFileEnds: 1 << 25, // The lane ends the response after a file: nothing may be written until the response has finished.
  kTimerDiffers: 1 << 26, // Node's timer of the socket runs with another time than its `timeout` (idle-time.js).
  kReaderGone: 1 << 27 // Upgraded: the destination of its pipe has ended, and pause() was not called since.
}

/** @param {EngineSocket} socket */
function isLight (socket) {
  return (socket[kState] & State.kMaterialised) === 0
}

// Returns the response whose turn it is on the socket; undefined for an HTTP/2 connection, whose _httpMessage is that of one of its streams.
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

// Decides whether a socket keeps the event loop alive. As on Node, an open connection does, until the lane has closed it; an upgraded
// one whose client has ended does only while a write waits, or its own end or close is under way.
/** @param {EngineSocket} socket */
function updateLoop (socket) {
  const bits = socket[kState]
  const halves = State.kUpgraded | State.kPeerEnded | State.kFinSent
  const isQuiet = (bits & halves) === (State.kUpgraded | State.kPeerEnded) &&
    socket[kHeldWrite] === null && !socket.destroyed
  const holds = (bits & State.kLaneClosed) === 0 && !socket[kUnref] && !isQuiet
  if (holds === socket[kHoldsLoop]) return
  socket[kHoldsLoop] = holds
  const { engine } = socket[kLane]
  if (holds) engine.ref()
  else engine.unref()
}

module.exports = { State, isLight, ownMessage, uncount, publish, updateLoop }
