'use strict'

// Functions for the undocumented members of net.Socket and its streams, named by what each member is for.

/** @import { PrivateSocket } from '../../types/node-internals' */

/** @type {never[]} */
const kNoPieces = []

module.exports = {
  /** Restarts the timer of the socket's 'timeout' event. @param {PrivateSocket} socket */
  restartTimeout: (socket) => { socket._unrefTimer() },
  /** @template S @param {{ _server: S }} socket @returns {S} the server that counts the connection */
  serverOf: (socket) => socket._server,
  /** @param {PrivateSocket} socket @returns {boolean} whether it was destroyed with an error */
  hadError: (socket) => socket._hadError,
  /** @param {PrivateSocket} socket @returns {boolean} whether setMaxListeners() was called on it */
  hasMaxListeners: (socket) => socket._maxListeners !== undefined,

  /**
   * Runs net.Socket's constructor on an existing socket object, and restores the references to its server afterwards.
   *
   * @param {PrivateSocket} socket @param {() => void} construct
   */
  becomeStream (socket, construct) {
    const { server, _server } = socket
    construct()
    socket.server = server
    socket._server = _server
    socket._paused = false
  },

  /**
   * Gives the new streams of an already destroyed socket the matching state, without events; only 'close' is still to come.
   *
   * @param {PrivateSocket} socket @param {boolean} hasEnded this side @param {boolean} hasPeerEnded
   */
  settleDestroyed (socket, hasEnded, hasPeerEnded) {
    const { _readableState: readable, _writableState: writable } = socket
    readable.destroyed = readable.closed = readable.closeEmitted = true
    writable.destroyed = writable.closed = writable.closeEmitted = true
    if (hasEnded) writable.ending = writable.ended = writable.finished = true
    if (hasPeerEnded) readable.ended = readable.endEmitted = true
  },

  // Ends a Readable's pending read without data, so that the next read calls _read() again. Node itself does this only in push(),
  // which needs data.
  /** @param {Pick<PrivateSocket, '_readableState'>} stream */
  forgetRead: (stream) => { stream._readableState.reading = false },

  /** @template C @param {{ readonly writableBuffer?: C[] }} socket that is a stream @returns {readonly C[]} pieces that its stream has not written */
  unwrittenOf: (socket) => socket.writableBuffer ?? kNoPieces
}
