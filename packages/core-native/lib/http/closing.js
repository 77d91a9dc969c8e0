'use strict'

// Ends a server's connections: idle ones on request, and, after server.close(), every other one with its last answer.
// Node leaves a connection alone that was busy at close(); under load it would stay open indefinitely.

const R = require('../records/records')
const { closesUnserved } = require('../node-private/node-internals')
const { isKeepAlive, setKeepAlive } = require('../node-private/response')
const { handleOf } = require('../node-private/server')
const { State, ownMessage, publish } = require('./socket-state')
const { kLane, kListener, kOutgoing, kParent, kReceiving, kSlot, kState, kTls } = require('./symbols')

const { kDestroy, kShutdown } = R.ReplyType

/** @import { EngineListener, EngineResponse, EngineServer, EngineSocket } from '../../types/internal' */

/** @type {boolean | undefined} whether Node counts a connection without a request as idle; undefined: not found out yet */
let isUnservedIdle

/** Responses whose head will have `Connection: close` only because their server was closed. @type {WeakSet<EngineResponse>} */
const endedByClose = new WeakSet()

// Closes a connection that is between two requests or, depending on Node's version, has not begun its first one.
// The lane makes the decision, because the next request may be on its way to JavaScript.
/** @param {EngineSocket} socket @returns {boolean} whether the lane was asked to close it */
function closeIfIdle (socket) {
  if (socket[kReceiving] !== null || socket.destroyed || (socket[kState] & State.kInHandler) !== 0) return false
  const res = ownMessage(socket)
  if (res && !res.finished) return false
  const isServed = (socket[kState] & State.kServed) !== 0
  // JavaScript may have had no request of the connection although the lane has answered one: such a connection is idle, too.
  let flags = isServed || !(isUnservedIdle ??= closesUnserved()) ? R.kReplyIfIdle : R.kReplyIfIdle | R.kReplyIfUnserved
  const listener = socket.server[kListener]
  if (listener.isClosing || listener.isClosed) flags |= R.kReplyMayMove
  socket[kLane].writer.command(kDestroy, flags, socket[kSlot])
  return true
}

// Whether another member of the shared port takes the connection over when it is idle. A connection with TLS cannot move.
/** @param {EngineSocket} socket */
function mayMove (socket) {
  const { successorPorts } = socket.server[kListener]
  return successorPorts.size !== 0 && socket[kTls] === undefined &&
    successorPorts.has(/** @type {number} */ (socket.localPort))
}

/** Makes a response without a head the last one of its connection. @param {EngineResponse} res */
function endWith (res) {
  if (res.headersSent || !isKeepAlive(res)) return
  setKeepAlive(res, false)
  endedByClose.add(res)
}

/** Undoes endWith(). @param {EngineResponse} res */
function goOnAfter (res) {
  if (res.headersSent || !endedByClose.delete(res)) return
  setKeepAlive(res, true)
}

/** @param {EngineSocket} socket @returns {EngineResponse[]} its unfinished responses, in their order */
function unfinished (socket) {
  const res = ownMessage(socket)
  return [...res ? [res] : [], ...socket[kOutgoing] ?? []]
}

/**
 * Handles a request to a server that was closed: its response becomes the last one of the connection. Earlier responses then do
 * not end the connection, because the request would be lost although a handler has begun it.
 *
 * @param {EngineSocket} socket @param {EngineResponse} res its response, already in the connection's order of responses
 */
function onLateRequest (socket, res) {
  const parent = socket[kParent]
  if (parent !== undefined) {
    // The HTTP/2 connection may belong to another server of this process, which still listens.
    if (parent.server?.[kListener].isClosed) publish(parent, kShutdown)
    return
  }
  if (mayMove(socket)) return
  for (const earlier of unfinished(socket)) goOnAfter(earlier)
  endWith(res)
}

/** @param {EngineListener} listener @returns {boolean} whether a handler of the server runs at this moment */
function isInHandler (listener) {
  for (const socket of listener.sockets) {
    if ((socket[kState] & State.kInHandler) !== 0) return true
  }
  return false
}

// Must be called when the server was closed: the last unfinished response of each connection ends the connection.
/** @param {EngineListener} listener */
function endWithAnswers (listener) {
  for (const socket of listener.sockets) {
    // A handler that closes its own server finds its response unchanged, as on Node.
    if ((socket[kState] & State.kInHandler) !== 0) continue
    const last = unfinished(socket).pop()
    if (last !== undefined && !mayMove(socket)) endWith(last)
  }
}

/**
 * Makes a server listen, perhaps again after close(). If that succeeds, its connections stay open. If it fails, the connections of a
 * closed server still end with their answers.
 *
 * @param {EngineServer} server
 * @param {() => void} start leaves server._handle null, or throws, when it has failed
 */
function listenAgain (server, start) {
  const listener = server[kListener]
  const { isClosed, endsIdle, leaving, timesReopened } = listener
  // Set before start(): requests on their way must find the server listening.
  listener.leaving = null
  listener.isClosed = false
  listener.endsIdle = true
  if (isClosed) listener.timesReopened++
  if (isClosed && listener.id !== 0) listener.configure()
  try {
    start()
  } finally {
    if (handleOf(server)) {
      if (isClosed) goOn(listener)
    } else {
      listener.isClosed = isClosed
      listener.endsIdle = endsIdle
      listener.leaving = leaving
      listener.timesReopened = timesReopened
      listener.listenFailed()
    }
  }
}

/** Must be called when a server listens again: unfinished responses then do not end their connections. @param {EngineListener} listener */
function goOn (listener) {
  for (const socket of listener.sockets) {
    for (const res of unfinished(socket)) goOnAfter(res)
  }
}

module.exports = { closeIfIdle, endWithAnswers, isInHandler, listenAgain, onLateRequest }
