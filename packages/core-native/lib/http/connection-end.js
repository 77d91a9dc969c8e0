'use strict'

// The end of a connection in HTTP mode, and of the requests and responses that it still had: what Node does in the 'close'
// listeners of a socket. A light socket has no listeners, so its end calls these functions.

const { destroysQueued } = require('../node/node-internals')
const { close, setAnswer } = require('../node/response')
const { connectionReset } = require('./client-error')
const { State, isLight, ownMessage } = require('./socket-state')
const {
  kEndHeld, kIncoming, kListener, kNewer, kOlder, kOutgoing, kParent, kReceiving, kResource, kResourceEnded, kState, kStreamAnswer
} = require('./symbols')

/** @type {boolean | undefined} asked when first needed */
let isQueueDestroyed

// Does what Node's 'close' listeners of an HTTP connection do, just before the socket's 'close'.
/** @param {any} socket */
function connectionClosed (socket) {
  socket.server?.[kListener].sockets.delete(socket)
  const bits = socket[kState]
  if ((bits & State.kUpgraded) !== 0) return
  const incoming = socket[kIncoming]
  if (incoming !== null) {
    socket[kIncoming] = null
    if (Array.isArray(incoming)) for (const req of incoming) abort(req)
    else abort(incoming)
  }
  socket[kReceiving] = null
  const outgoing = socket[kOutgoing]
  if (outgoing !== null && outgoing.length !== 0 && (isQueueDestroyed ??= destroysQueued())) {
    for (const res of outgoing.splice(0)) res.destroy(connectionReset())
  }
  const res = ownMessage(socket)
  if (!res) return
  if ((bits & State.kStream) !== 0) answerEnds(socket[kParent], res)
  if (!closesWithSocket(socket)) emitClose(res)
}

// ServerResponse#assignSocket was called: its 'close' listener has its place among the application's.
/** @param {any} socket */
function closesWithSocket (socket) {
  if (isLight(socket) || (socket[kState] & State.kDestroyed) !== 0) return false
  return socket.listeners('close').some((/** @type {Function} */ listener) => listener.name === 'onServerResponseClose')
}

/** @param {any} req */
function abort (req) {
  flushHeldEnd(req)
  req.destroy(connectionReset())
  endResource(req)
}

// -- Its messages --------------------------------------------------------------------------------

/** @param {any} req */
function flushHeldEnd (req) {
  if (req[kEndHeld] !== true) return
  req[kEndHeld] = false
  req.push(null)
}

// Shutdown helpers (http-terminator, http-graceful-shutdown) look for the response of each connection, and destroy connections
// without one. That of a connection with streams is the newest unfinished one of its streams: its head is the least likely to
// have left.
/** @param {any} connection @param {any} res of one of its streams */
function answerBegins (connection, res) {
  const older = connection[kStreamAnswer] ?? null
  if (older !== null) older[kNewer] = res
  res[kOlder] = older
  res[kNewer] = null
  connection[kStreamAnswer] = res
  setAnswer(connection, res)
}

/** @param {any} connection @param {any} res that has ended, or whose stream has */
function answerEnds (connection, res) {
  const { [kOlder]: older, [kNewer]: newer } = res
  if (older === undefined) return // It has ended before.
  res[kOlder] = undefined
  if (older !== null) older[kNewer] = newer
  if (newer !== null) {
    newer[kOlder] = older
    return
  }
  connection[kStreamAnswer] = older
  setAnswer(connection, older)
}

// Once: what is left of the message still runs in its context.
/** @param {any} req */
function endResource (req) {
  if (!req[kResource] || req[kResourceEnded] === true) return
  req[kResourceEnded] = true
  req[kResource].emitDestroy()
}

/** @param {any} res */
function emitClose (res) {
  if (close(res)) res.emit('close')
}

module.exports = { answerBegins, answerEnds, connectionClosed, emitClose, endResource, flushHeldEnd }
