'use strict'

// Functions for the undocumented members of net.Socket and its streams, named by what each member is for.

/** @typedef {import('../../types/node-internals').PrivateSocket} PrivateSocket */

/** @type {never[]} */
const kNoPieces = []

/** Begins the time anew after which 'timeout' comes. @param {PrivateSocket} socket */
function restartTimeout (socket) {
  socket._unrefTimer()
}

/** @template S @param {{ _server: S }} socket @returns {S} the server that counts it */
function serverOf (socket) {
  return socket._server
}

/** @param {PrivateSocket} socket @returns {boolean} whether it was destroyed with an error */
function hadError (socket) {
  return socket._hadError
}

/** @param {PrivateSocket} socket @returns {boolean} whether setMaxListeners() was called on it */
function hasMaxListeners (socket) {
  return socket._maxListeners !== undefined
}

/** Runs net.Socket's constructor on a socket, which keeps what it knows of its server. @param {PrivateSocket} socket @param {() => void} construct */
function becomeStream (socket, construct) {
  const { server, _server } = socket
  construct()
  socket.server = server
  socket._server = _server
  socket._paused = false
}

/**
 * Gives the streams of a socket the state of one that was destroyed before it had them: only 'close' is still to come.
 *
 * @param {PrivateSocket} socket @param {boolean} hasEnded this side @param {boolean} hasPeerEnded
 */
function settleDestroyed (socket, hasEnded, hasPeerEnded) {
  const { _readableState: readable, _writableState: writable } = socket
  readable.destroyed = readable.closed = readable.closeEmitted = true
  writable.destroyed = writable.closed = writable.closeEmitted = true
  if (hasEnded) writable.ending = writable.ended = writable.finished = true
  if (hasPeerEnded) readable.ended = readable.endEmitted = true
}

// Ends a read that a Readable takes for pending, so that the next one calls _read() again. Only push() does it otherwise,
// and nothing has come that could be pushed.
/** @param {Pick<PrivateSocket, '_readableState'>} stream */
function forgetRead (stream) {
  stream._readableState.reading = false
}

/** @template C @param {{ readonly writableBuffer?: C[] }} socket that is a stream @returns {readonly C[]} the pieces that its stream was given and has not written */
function unwrittenOf (socket) {
  return socket.writableBuffer ?? kNoPieces
}

module.exports = { becomeStream, forgetRead, hadError, hasMaxListeners, restartTimeout, serverOf, settleDestroyed, unwrittenOf }
