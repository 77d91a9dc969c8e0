'use strict'

// The end of a server's connections: those that are idle when somebody asks for it, and, after server.close(), each one
// with its last answer. Stock Node leaves a connection that was busy at close() alone; under load it would go on for ever.

const R = require('../records/records')
const { closesUnserved } = require('../node-private/node-internals')
const { isKeepAlive, setKeepAlive } = require('../node-private/response')
const { handleOf } = require('../node-private/server')
const { State, ownMessage, publish } = require('./socket-state')
const { kLane, kListener, kOutgoing, kParent, kReceiving, kSlot, kState, kTls } = require('./symbols')

const { kDestroy, kShutdown } = R.ReplyType

/** @typedef {import('../../types/internal').EngineResponse} EngineResponse */
/** @typedef {import('../../types/internal').EngineServer} EngineServer */
/** @typedef {import('../../types/internal').EngineSocket} EngineSocket */

/** @type {boolean | undefined} asked when first needed */
let isUnservedIdle

/** Responses whose head is to say `Connection: close` only because their server was closed. @type {WeakSet<EngineResponse>} */
const endedByClose = new WeakSet()

// A connection that has been served and is between two requests, or as Node decides one that has not
// begun its first. The lane has the last word, because the next request may be on its way to JavaScript.
/** @param {EngineSocket} socket @returns {boolean} whether the lane was told */
function closeIfIdle (socket) {
  if (socket[kReceiving] !== null || socket.destroyed || (socket[kState] & State.kInHandler) !== 0) return false
  const res = ownMessage(socket)
  if (res && !res.finished) return false
  const isServed = (socket[kState] & State.kServed) !== 0
  // A connection of which JavaScript has had no request is idle as well once the lane has answered one.
  let flags = isServed || !(isUnservedIdle ??= closesUnserved()) ? R.kReplyIfIdle : R.kReplyIfIdle | R.kReplyIfUnserved
  const listener = socket.server[kListener]
  if (listener.isClosing || listener.isClosed) flags |= R.kReplyMayMove
  socket[kLane].writer.command(kDestroy, flags, socket[kSlot])
  return true
}

// Whether others of the connection's port take it over when it is idle; a connection with TLS cannot move.
/** @param {EngineSocket} socket */
function mayMove (socket) {
  const { successorPorts } = socket.server[kListener]
  return successorPorts.size !== 0 && socket[kTls] === undefined && successorPorts.has(/** @type {number} */ (socket.localPort))
}

/** @param {EngineResponse} res whose head has not been made */
function endWith (res) {
  if (res.headersSent || !isKeepAlive(res)) return
  setKeepAlive(res, false)
  endedByClose.add(res)
}

/** @param {EngineResponse} res */
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
 * A request has come to a server that was closed: the connection ends with its answer. What was to end it before goes on,
 * so that no request is lost that a handler has begun.
 *
 * @param {EngineSocket} socket @param {EngineResponse} res its response, in its place
 */
function onLateRequest (socket, res) {
  const parent = socket[kParent]
  if (parent !== undefined) {
    // The connection may be that of another server of this process, which goes on.
    if (parent.server?.[kListener].isClosed) publish(parent, kShutdown)
    return
  }
  if (mayMove(socket)) return
  for (const earlier of unfinished(socket)) goOnAfter(earlier)
  endWith(res)
}

/** @param {import('../../types/internal').EngineListener} listener @returns {boolean} whether a handler of the server runs at this moment */
function isInHandler (listener) {
  for (const socket of listener.sockets) {
    if ((socket[kState] & State.kInHandler) !== 0) return true
  }
  return false
}

// The server was closed: answers that are due are the last ones of their connections.
/** @param {import('../../types/internal').EngineListener} listener */
function endWithAnswers (listener) {
  for (const socket of listener.sockets) {
    // A handler that closes its own server finds its answer as on Node.
    if ((socket[kState] & State.kInHandler) !== 0) continue
    const last = unfinished(socket).pop()
    if (last !== undefined && !mayMove(socket)) endWith(last)
  }
}

/**
 * Makes a server listen. A server that was closed before listens again only when this has succeeded: then its connections
 * go on. When it has failed, they end with their answers as before.
 *
 * @param {EngineServer} server
 * @param {() => void} start leaves server._handle null, or throws, when it has failed
 */
function listenAgain (server, start) {
  const listener = server[kListener]
  const { isClosed, endsIdle, leaving, timesReopened } = listener
  // Requests on their way find the server listening.
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

// The server listens again: unfinished responses keep their connections.
/** @param {import('../../types/internal').EngineListener} listener */
function goOn (listener) {
  for (const socket of listener.sockets) {
    for (const res of unfinished(socket)) goOnAfter(res)
  }
}

module.exports = { closeIfIdle, endWithAnswers, isInHandler, listenAgain, onLateRequest }
