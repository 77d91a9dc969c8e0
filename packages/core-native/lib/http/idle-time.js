'use strict'

// How long a connection may be silent, and who counts that. The lane counts the time between two requests. JavaScript counts where the
// application has set a timeout or listens to 'timeout': by Node's timer, which does not see every byte. The lane gives answers of its own
// (files, the cache, other members of a port), and sends later what it was given. So when the timer fires, the lane is asked for how long the
// connection has been silent.

const net = require('node:net')
const R = require('../records/records')
const { captureContext } = require('./outside')
const { State, publish } = require('./socket-state')
const { kIncoming, kState } = require('./symbols')

// Added to keepAliveTimeout before the connection is closed, so that a client that trusts the
// advertised value does not meet the close (Node's own margin, ms).
const kKeepAliveMarginMs = 1000
// How long after 'timeout' the lane is asked again, ms, unless the timeout itself is longer. An answer that the lane has given meanwhile
// began a new silence, whose 'timeout' the application has not heard yet.
const kLookMs = 1000

/** @typedef {import('../../types/internal').EngineServer} EngineServer */
/** @typedef {import('../../types/internal').EngineSocket} EngineSocket */

/**
 * Sockets whose timer has fired since setTimeout() was called last: how to run their listeners, and the beginning of the silence that was
 * told last, and that was seen last, by the lane's clock.
 *
 * @type {WeakMap<EngineSocket, { run: (run: () => void) => void, told?: number, seen?: number }>}
 */
const fired = new WeakMap()

/** How long connections of a server may be idle, ms; 0 = for ever. @param {EngineServer} server */
function idleTimeoutOf ({ keepAliveTimeout, keepAliveTimeoutBuffer }) {
  return keepAliveTimeout ? keepAliveTimeout + (keepAliveTimeoutBuffer ?? kKeepAliveMarginMs) : 0
}

/** @param {EngineSocket} socket @returns {boolean} whether JavaScript counts the idle time of the connection */
function isCountedHere (socket) {
  // A stream's socket knows nothing of the timer of its HTTP/2 connection.
  if ((socket[kState] & State.kStream) !== 0) return false
  if (socket.server.listenerCount('timeout') > 0) return true
  return (socket[kState] & State.kMaterialised) !== 0 && (Boolean(socket.timeout) || socket.listenerCount('timeout') > 1)
}

/** How long the lane keeps the connection after a response, ms, for the reply that ends it. @param {EngineSocket} socket */
function tellIdleTimeout (socket) {
  const idleMs = idleTimeoutOf(socket.server)
  if (idleMs === 0) return 0
  if (isCountedHere(socket)) return R.kIdleNotCounted
  socket[kState] |= State.kIdleCounted
  return idleMs
}

/** A response has ended, and no other one waits. @param {EngineServer} server @param {EngineSocket} socket */
function startKeepAliveTimer (server, socket) {
  if ((socket[kState] & (State.kStream | State.kIdleCounted)) !== 0) return
  if (!server.keepAliveTimeout || !isCountedHere(socket)) return
  socket.setTimeout(idleTimeoutOf(server))
  socket[kState] |= State.kKeepAliveTimer
}

/** A request has begun. @param {EngineServer} server @param {EngineSocket} socket */
function resetKeepAliveTimer (server, socket) {
  if ((socket[kState] & State.kKeepAliveTimer) === 0) return
  socket[kState] &= ~State.kKeepAliveTimer
  socket.setTimeout(server.timeout || 0)
}

/** The timer of a socket has fired. @param {EngineSocket} socket */
function askSilence (socket) {
  fired.set(socket, { ...fired.get(socket), run: captureContext() })
  publish(socket, R.ReplyType.kAskSilence)
}

/** setTimeout() is called on a socket. @param {EngineSocket} socket */
function forgetSilence (socket) {
  socket[kState] &= ~State.kTimerDiffers
  fired.delete(socket)
}

/** Starts Node's timer with another time than that of setTimeout(). @param {EngineSocket} socket @param {number} ms @param {number} timeout */
function startTimer (socket, ms, timeout) {
  Reflect.apply(net.Socket.prototype.setTimeout, socket, [ms])
  Object.assign(socket, { timeout }) // Read-only in Node's types.
  if (ms === timeout) socket[kState] &= ~State.kTimerDiffers
  else socket[kState] |= State.kTimerDiffers
}

/** Bytes have come or left. @param {EngineSocket} socket whose timer runs with another time than that of setTimeout() */
function restartDifferent (socket) {
  startTimer(socket, /** @type {number} */ (socket.timeout), /** @type {number} */ (socket.timeout))
}

/**
 * The timeout as it is on Node now. An answer that JavaScript does not see sets the socket's timeout to keepAliveTimeout there, and the next
 * request sets it back.
 *
 * @param {EngineSocket} socket
 * @param {number} flags of kSilence
 */
function timeoutNow (socket, flags) {
  const { server, timeout } = socket
  const bits = socket[kState]
  if ((bits & (State.kUpgraded | State.kStream)) !== 0 || socket[kIncoming] !== null) return timeout
  // The timeout of a silent socket is for the streams, not for their connection.
  if ((flags & R.kFlagFramed) !== 0) return 0
  if ((flags & R.kFlagBetween) === 0) return (bits & State.kKeepAliveTimer) !== 0 ? server.timeout || 0 : timeout
  if (!server.keepAliveTimeout || (bits & (State.kKeepAliveTimer | State.kIdleCounted)) !== 0) return timeout
  socket[kState] |= State.kKeepAliveTimer
  return idleTimeoutOf(server)
}

/** kSilence: @param {EngineSocket} socket @param {number} silentMs @param {number} since when the silence began @param {number} flags */
function onSilence (socket, silentMs, since, flags) {
  if (socket.destroyed) return
  if ((flags & R.kFlagUnasked) !== 0) {
    // Otherwise JavaScript counts, too.
    if (!socket.timeout) socket.emit('timeout', socket)
    return
  }
  const entry = fired.get(socket)
  if (entry === undefined) return // setTimeout() was called meanwhile.
  if (silentMs === R.kSilenceUnknown) return entry.run(() => socket.emit('timeout'))
  const timeout = timeoutNow(socket, flags) || 0
  // Like Node, gives output that has moved since the timer fired last, or has not been looked at, a whole timeout.
  const isUnsent = (flags & R.kFlagUnsent) !== 0
  const isOver = timeout !== 0 && silentMs >= timeout && !(isUnsent && entry.seen !== since)
  const isTold = isOver && entry.told !== since
  entry.seen = since
  entry.run(() => {
    if (!isOver) startTimer(socket, timeout === 0 ? idleTimeoutOf(socket.server) : isUnsent ? timeout : timeout - silentMs, timeout)
    // JavaScript hears everything of an upgraded socket.
    else if ((socket[kState] & State.kUpgraded) === 0) startTimer(socket, Math.max(timeout, kLookMs), timeout)
    if (!isTold) return
    entry.told = since
    socket.emit('timeout')
  })
}

module.exports = { askSilence, forgetSilence, idleTimeoutOf, onSilence, resetKeepAliveTimer, restartDifferent, startKeepAliveTimer, tellIdleTimeout }
