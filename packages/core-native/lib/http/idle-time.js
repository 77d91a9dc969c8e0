'use strict'

// Limits how long a connection may be silent. The lane measures the time between two requests. If the application has set a timeout or
// listens to 'timeout', JavaScript measures by Node's timer. This timer does not notice every byte: the lane gives answers of its own
// (files, the cache, other members of a port), and sends bytes later than JavaScript has written them. So when the timer fires, JavaScript
// asks the lane how long the connection has been silent.

const net = require('node:net')
const R = require('../records/records')
const { captureContext } = require('./outside')
const { State, publish } = require('./socket-state')
const { kIncoming, kState } = require('./symbols')

// Time (ms, Node's own margin) by which a connection stays open longer than keepAliveTimeout, so that a client that trusts the
// advertised value does not meet the close.
const kKeepAliveMarginMs = 1000
// Least time from 'timeout' to the next question to the lane, ms. If the lane has given an answer meanwhile, a new silence has begun, which
// needs a 'timeout' of its own.
const kLookMs = 1000

/** @import { EngineServer, EngineSocket } from '../../types/internal' */

/**
 * Sockets whose timer has fired since setTimeout() was called last. `run` calls listeners in the timer's context. By the lane's clock,
 * `told` is the beginning of the silence that 'timeout' has reported last, `seen` of the silence that the lane has reported last.
 *
 * @type {WeakMap<EngineSocket, { run: (run: () => void) => void, told?: number, seen?: number }>}
 */
const fired = new WeakMap()

/** How long connections of a server may be idle, ms; 0 = no limit. @param {EngineServer} server */
function idleTimeoutOf ({ keepAliveTimeout, keepAliveTimeoutBuffer }) {
  return keepAliveTimeout ? keepAliveTimeout + (keepAliveTimeoutBuffer ?? kKeepAliveMarginMs) : 0
}

/** @param {EngineSocket} socket @returns {boolean} whether JavaScript counts the idle time of the connection */
function isCountedHere (socket) {
  // A stream has no idle time between requests: its HTTP/2 connection has.
  if ((socket[kState] & State.kStream) !== 0) return false
  if (socket.server.listenerCount('timeout') > 0) return true
  return (socket[kState] & State.kMaterialised) !== 0 && (Boolean(socket.timeout) || socket.listenerCount('timeout') > 1)
}

/**
 * How long the lane keeps the connection idle after a response, ms: part of the reply that ends the response.
 *
 * @param {EngineSocket} socket
 */
function tellIdleTimeout (socket) {
  const idleMs = idleTimeoutOf(socket.server)
  if (idleMs === 0) return 0
  if (isCountedHere(socket)) return R.kIdleNotCounted
  socket[kState] |= State.kIdleCounted
  return idleMs
}

/**
 * Must be called when a response has ended and no other one waits. Starts the idle time if JavaScript counts it.
 *
 * @param {EngineServer} server
 * @param {EngineSocket} socket
 */
function startKeepAliveTimer (server, socket) {
  if ((socket[kState] & (State.kStream | State.kIdleCounted)) !== 0) return
  if (!server.keepAliveTimeout || !isCountedHere(socket)) return
  socket.setTimeout(idleTimeoutOf(server))
  socket[kState] |= State.kKeepAliveTimer
}

/** Ends the idle time of a connection. Must be called when a request begins. @param {EngineServer} server @param {EngineSocket} socket */
function resetKeepAliveTimer (server, socket) {
  if ((socket[kState] & State.kKeepAliveTimer) === 0) return
  socket[kState] &= ~State.kKeepAliveTimer
  socket.setTimeout(server.timeout || 0)
}

/** Asks the lane how long a socket has been silent, when its timer has fired. @param {EngineSocket} socket */
function askSilence (socket) {
  fired.set(socket, { ...fired.get(socket), run: captureContext() })
  publish(socket, R.ReplyType.kAskSilence)
}

/** Forgets earlier silences of a socket. Must be called before its setTimeout(). @param {EngineSocket} socket */
function forgetSilence (socket) {
  socket[kState] &= ~State.kTimerDiffers
  fired.delete(socket)
}

/** Starts Node's timer with `ms`; `socket.timeout` remains `timeout`. @param {EngineSocket} socket @param {number} ms @param {number} timeout */
function startTimer (socket, ms, timeout) {
  Reflect.apply(net.Socket.prototype.setTimeout, socket, [ms])
  Object.assign(socket, { timeout }) // Read-only in Node's types.
  if (ms === timeout) socket[kState] &= ~State.kTimerDiffers
  else socket[kState] |= State.kTimerDiffers
}

/** Restarts a timer of startTimer() with the socket's timeout. Must be called when bytes were received or sent. @param {EngineSocket} socket */
function restartDifferent (socket) {
  startTimer(socket, /** @type {number} */ (socket.timeout), /** @type {number} */ (socket.timeout))
}

/**
 * Returns the timeout that the socket would have on Node now. On Node each answer sets the socket's timeout to keepAliveTimeout, and the next
 * request sets it back; here JavaScript does not see the answers that the lane gives itself.
 *
 * @param {EngineSocket} socket
 * @param {number} flags of kSilence
 */
function timeoutNow (socket, flags) {
  const { server, timeout } = socket
  const bits = socket[kState]
  if ((bits & (State.kUpgraded | State.kStream)) !== 0 || socket[kIncoming] !== null) return timeout
  // server.timeout applies to the streams, not to their connection.
  if ((flags & R.kFlagFramed) !== 0) return 0
  if ((flags & R.kFlagBetween) === 0) return (bits & State.kKeepAliveTimer) !== 0 ? server.timeout || 0 : timeout
  if (!server.keepAliveTimeout || (bits & (State.kKeepAliveTimer | State.kIdleCounted)) !== 0) return timeout
  socket[kState] |= State.kKeepAliveTimer
  return idleTimeoutOf(server)
}

/** Handles kSilence. @param {EngineSocket} socket @param {number} silentMs @param {number} since when the silence began @param {number} flags */
function onSilence (socket, silentMs, since, flags) {
  if (socket.destroyed) return
  if ((flags & R.kFlagUnasked) !== 0) {
    // If the socket has a timeout, JavaScript measures the silence itself.
    if (!socket.timeout) socket.emit('timeout', socket)
    return
  }
  const entry = fired.get(socket)
  if (entry === undefined) return // setTimeout() was called meanwhile.
  if (silentMs === R.kSilenceUnknown) return entry.run(() => socket.emit('timeout'))
  const timeout = timeoutNow(socket, flags) || 0
  // A socket with unsent output gets one more timeout if bytes were sent since the timer fired last, or if it fires for the first time: Node
  // does so.
  const isUnsent = (flags & R.kFlagUnsent) !== 0
  const isOver = timeout !== 0 && silentMs >= timeout && !(isUnsent && entry.seen !== since)
  const isTold = isOver && entry.told !== since
  entry.seen = since
  entry.run(() => {
    const wait = isUnsent ? timeout : timeout - silentMs
    if (!isOver) startTimer(socket, timeout === 0 ? idleTimeoutOf(socket.server) : wait, timeout)
    // An upgraded socket needs no further look: JavaScript sees all of its bytes.
    else if ((socket[kState] & State.kUpgraded) === 0) startTimer(socket, Math.max(timeout, kLookMs), timeout)
    if (!isTold) return
    entry.told = since
    socket.emit('timeout')
  })
}

module.exports = { askSilence, forgetSilence, idleTimeoutOf, onSilence, resetKeepAliveTimer, restartDifferent, startKeepAliveTimer, tellIdleTimeout }
