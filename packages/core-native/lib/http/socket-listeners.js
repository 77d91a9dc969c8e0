'use strict'

// Adds the listeners that Node has on the socket of every HTTP connection, and on every socket with TLS. Our sockets get
// these listeners when they become streams: before that, none of these events can happen.

const { EventEmitter } = require('node:events')
const http = require('node:http')
const R = require('../records/records')
const { kNeedDrain } = require('../node-private/node-internals')
const { isHeadSent } = require('../node-private/response')
const { connectionClosed } = require('./connection-end')
const { State, isLight, ownMessage } = require('./socket-state')
const { kLane, kListener, kReceiving, kSlot, kState, kTls } = require('./symbols')

/** @import { EngineSocket } from '../../types/internal' */

// Events whose listeners do the work on Node that records do here. Our sockets get empty listeners, so that listenerCount() is as on Node.
const kCounted = ['data', 'end', 'resume', 'pause']
/** Events for which a socket with TLS gets further empty listeners, in place of the listeners of tls.Server; they remain after an upgrade. */
const kCountedTls = ['close', 'close', '_tlsError', 'error', 'secure']
/** Events for which a socket with TLS has further empty listeners until its handshake is done. */
const kCountedHandshake = ['error', 'timeout']
const { on } = EventEmitter.prototype // on() of Readable would start to read.

/** @param {EngineSocket} socket that has become a stream */
function addListeners (socket) {
  if (socket[kTls] !== undefined) addTlsListeners(socket)
  const isHttp = (socket[kState] & State.kUpgraded) === 0 && socket[kTls]?.isEstablished !== false
  if (isHttp) addHttpListeners(socket)
}

// The listener of 'error' must exist, not only be counted: an error of a socket whose client has gone must not end the process.
/** @param {EngineSocket} socket */
function addTlsListeners (socket) {
  for (const event of kCountedTls) on.call(socket, event, onRecordInstead)
  // Node's listener of 'newListener' waits for the first one of 'keylog'.
  on.call(socket, socket.server.listenerCount('keylog') > 0 ? 'keylog' : 'newListener', onRecordInstead)
  if (!socket[kTls].isEstablished) for (const event of kCountedHandshake) on.call(socket, event, onRecordInstead)
}

/** @param {EngineSocket} socket */
function addHttpListeners (socket) {
  socket.on('timeout', onSocketTimeout)
  socket.on('error', onSocketError)
  socket.on('drain', onSocketDrain)
  for (const event of kCounted) on.call(socket, event, onRecordInstead)
  on.call(socket, 'close', onSocketClose)
  if (ownMessage(socket)) on.call(socket, 'close', onResponseClosed)
  socket.server[kListener].socketUsed()
}

function onRecordInstead () {}

// Listener of 'close'. connectionClosed() was called before, unless the application emits 'close' on an open socket: it counts as closed
// then, as on Node. Some programs call this listener with another `this`.
/** @this {EngineSocket} */
function onSocketClose () {
  if (this?.[kState] === undefined || this.destroyed) return
  this[kState] |= State.kFailed
  connectionClosed(this)
}

// Stands for the 'close' listener of a response that was assigned to a light socket.
function onResponseClosed () {}

/** Removes onResponseClosed(), when the response for which it stands was detached. @param {EngineSocket} socket */
function forgetResponse (socket) {
  socket.removeListener('close', onResponseClosed)
}

/**
 * Emits 'data' of a socket in HTTP mode, with bytes of bodies and of refused requests only: heads and chunk
 * framing stay on the lane.
 *
 * @param {EngineSocket} socket
 * @param {Buffer} chunk
 */
function showData (socket, chunk) {
  if (!isLight(socket) && socket.listenerCount('data') > 1) socket.emit('data', chunk)
}

/** Removes the listeners of HTTP. Must be called after an upgrade. @param {EngineSocket} socket */
function removeListeners (socket) {
  socket.removeListener('timeout', onSocketTimeout)
  socket.removeListener('error', onSocketError)
  socket.removeListener('drain', onSocketDrain)
  for (const event of kCounted) socket.removeListener(event, onRecordInstead)
  socket.removeListener('close', onSocketClose)
  forgetResponse(socket)
}

/** @this {EngineSocket} */
function onSocketTimeout () {
  const req = this[kReceiving]
  const reqHandled = req && !req.complete && req.emit('timeout', this)
  const res = ownMessage(this)
  const resHandled = res && res.emit('timeout', this)
  const serverHandled = this.server.emit('timeout', this)
  if (!reqHandled && !resHandled && !serverHandled) this.destroy()
}

/** @this {EngineSocket} */
function onSocketDrain () {
  const res = ownMessage(this)
  if (res && !res.finished && res[kNeedDrain]) {
    res[kNeedDrain] = false
    res.emit('drain')
  }
}

const kBodyTooLarge = 'ERR_HTTPSYS_BODY_TOO_LARGE'
const kCannedReplies = new Map([
  ['HPE_HEADER_OVERFLOW', cannedReply(431)],
  ['HPE_CHUNK_EXTENSIONS_OVERFLOW', cannedReply(413)],
  ['ERR_HTTP_REQUEST_TIMEOUT', cannedReply(408)]
])
const kBadRequest = cannedReply(400)

/** @param {number} status @param {string} [lines] of the head */
function cannedReply (status, lines = '') {
  return `HTTP/1.1 ${status} ${http.STATUS_CODES[status]}\r\n${lines}Connection: close\r\n\r\n`
}

/** @param {EngineSocket} socket @param {string | undefined} code of an error @returns {string} */
function replyTo (socket, code) {
  if (code !== kBodyTooLarge) return kCannedReplies.get(code ?? '') ?? kBadRequest
  // Node has no limit for bodies: the words are the engine's, as in src/engine/requests/native_answer.cc.
  const server = socket.server[kListener].own.serverHeader ? 'Server: httpsys\r\n' : ''
  return cannedReply(413, `Date: ${new Date().toUTCString()}\r\n${server}`)
}

function noop () {}

/** @this {EngineSocket} @param {Error & { code?: string }} error */
function onSocketError (error) {
  this.removeListener('error', onSocketError)
  // destroy() emits the error again, which must find a listener. Other listeners, such as the one of on-finished, may be removed before.
  if (this.listenerCount('error', noop) === 0) this.on('error', noop)
  if (this.server.emit('clientError', error, this)) return
  const res = ownMessage(this)
  let isAnswered = false
  if (this.writable && (!res || !isHeadSent(res))) {
    this.write(replyTo(this, error.code), 'latin1')
    isAnswered = true
  }
  if (error.code === kBodyTooLarge && !this.destroyed) logRefusedBody(this, isAnswered)
  this.destroy(error)
}

// Reports a refused body to the lane, which writes the error log but does not know whether a listener of 'clientError' answers.
/** @param {EngineSocket} socket whose request has a body that is too long @param {boolean} isAnswered with 413 */
function logRefusedBody (socket, isAnswered) {
  if ((socket[kState] & State.kLaneClosed) !== 0) return
  socket[kLane].writer.command(R.ReplyType.kRefuseBody, R.kReplyLogged | (isAnswered ? 0 : R.kReplyUnanswered),
    socket[kSlot])
}

module.exports = { addListeners, logRefusedBody, onSocketError, removeListeners, forgetResponse, showData }
