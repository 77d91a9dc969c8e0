'use strict'

// The end of a connection in HTTP mode, and of the requests and responses that it still had: what Node does in the 'close'
// listeners of a socket. A light socket has no listeners, so its end calls these functions.

const { destroysQueued } = require('../node-private/node-internals')
const { close, setAnswer } = require('../node-private/response')
const { connectionReset } = require('./client-error')
const { State, isLight, ownMessage } = require('./socket-state')
const {
  kEndHeld, kIncoming, kListener, kNewer, kOlder, kOutgoing, kParent, kReceiving, kResource, kResourceEnded, kState, kStreamAnswer
} = require('./symbols')

/** @import { EngineRequest, EngineResponse, EngineSocket } from '../../types/internal' */

/** @type {boolean | undefined} whether Node destroys responses that wait for their turn; undefined: not found out yet */
let isQueueDestroyed

// Does what Node's 'close' listeners of an HTTP connection do, just before the socket's 'close'.
/** @param {EngineSocket} socket */
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
  if ((bits & State.kStream) !== 0) answerEnds(/** @type {EngineSocket} */ (socket[kParent]), res)
  if (!closesWithSocket(socket)) emitClose(res)
}

// Whether the listener of ServerResponse#assignSocket() closes the response, in order with the application's listeners of 'close'.
/** @param {EngineSocket} socket */
function closesWithSocket (socket) {
  if (isLight(socket) || (socket[kState] & State.kDestroyed) !== 0) return false
  return socket.listeners('close').some(({ name }) => name === 'onServerResponseClose')
}

/** @param {EngineRequest} req */
function abort (req) {
  flushHeldEnd(req)
  req.destroy(connectionReset())
  endResource(req)
}

// -- Its messages --------------------------------------------------------------------------------

/** @param {EngineRequest} req */
function flushHeldEnd (req) {
  if (req[kEndHeld] !== true) return
  req[kEndHeld] = false
  req.push(null)
}

// Makes the response of a stream the `_httpMessage` of its HTTP/2 connection, too: shutdown helpers (http-terminator, http-graceful-shutdown) destroy
// connections without a response. The newest unfinished response is used, because its head is the least likely to have been sent.
/** @param {EngineSocket} connection @param {EngineResponse} res of one of its streams */
function answerBegins (connection, res) {
  const older = connection[kStreamAnswer] ?? null
  if (older !== null) older[kNewer] = res
  res[kOlder] = older
  res[kNewer] = null
  connection[kStreamAnswer] = res
  setAnswer(connection, res)
}

/** @param {EngineSocket} connection @param {EngineResponse} res that has ended, or whose stream has ended */
function answerEnds (connection, res) {
  const { [kOlder]: older, [kNewer]: newer } = res
  if (older === undefined) return // The response has ended before.
  res[kOlder] = undefined
  if (older !== null) older[kNewer] = newer
  if (newer !== null) {
    // Cast: `newer` is a response, because kOlder and kNewer are set together.
    /** @type {EngineResponse} */ (newer)[kOlder] = older
    return
  }
  connection[kStreamAnswer] = older
  setAnswer(connection, older)
}

// Ends the async resource of a request, once. Later events of the message still run in its context.
/** @param {EngineRequest} req */
function endResource (req) {
  const resource = req[kResource]
  if (!resource || req[kResourceEnded] === true) return
  req[kResourceEnded] = true
  resource.emitDestroy()
}

/** @param {EngineResponse} res */
function emitClose (res) {
  if (close(res)) res.emit('close')
}

module.exports = { answerBegins, answerEnds, connectionClosed, emitClose, endResource, flushHeldEnd }
