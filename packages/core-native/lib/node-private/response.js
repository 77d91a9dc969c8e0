'use strict'

// Functions for the undocumented members of http.ServerResponse, named by what each member is for.

const http = require('node:http')

const { assignSocket: stockAssignSocket, detachSocket: stockDetachSocket } = http.ServerResponse.prototype

/** @import { PrivateResponse } from '../../types/node-internals' */

module.exports = {
  /**
   * Sets the limits of the connection that the response's Keep-Alive field announces.
   *
   * @param {PrivateResponse} res @param {number} keepAliveTimeout @param {number | null} maxRequestsPerSocket
   */
  setConnectionLimits (res, keepAliveTimeout, maxRequestsPerSocket) {
    res._keepAliveTimeout = keepAliveTimeout
    res._maxRequestsPerSocket = maxRequestsPerSocket
  },

  /** Marks a response whose client waits for a 100 Continue. @param {PrivateResponse} res */
  expectContinue: (res) => { res._expect_continue = true },

  /**
   * Sets a listener for changes of the number of bytes that a response keeps while it waits behind another one.
   *
   * @param {PrivateResponse} res @param {(delta: number) => void} listener
   */
  onPendingData: (res, listener) => { res._onPendingData = listener },

  /** @template R @param {{ _httpMessage: R }} socket @returns {R} the response that the connection is sending; null or undefined: none */
  answerOf: (socket) => socket._httpMessage,
  /** @template R @param {{ _httpMessage: R }} socket @param {R} res the response that the connection sends now, or null */
  setAnswer: (socket, res) => { socket._httpMessage = res },
  /** @param {PrivateResponse} res @returns {boolean} whether the connection ends after it */
  isLast: (res) => res._last,
  /** Makes the connection end after a response. @param {PrivateResponse} res */
  makeLast: (res) => { res._last = true },
  /** @param {PrivateResponse} res @returns {string | null} the head; null before it is made */
  headOf: (res) => res._header,
  /** Makes the head from the status and fields set so far. @param {PrivateResponse} res */
  makeHead: (res) => { res._implicitHeader() },

  /**
   * Makes the head. If that throws (application code may take part), returns false, and the next attempt throws the same error instead of
   * making the head: the error then reaches the caller of that attempt.
   *
   * @param {PrivateResponse} res
   * @returns {boolean} false: an error was thrown
   */
  tryHead (res) {
    try {
      res._implicitHeader()
      return true
    } catch (error) {
      const again = () => {
        Reflect.deleteProperty(res, '_implicitHeader')
        throw error
      }
      Object.defineProperty(res, '_implicitHeader', { value: again, configurable: true, writable: true, enumerable: false })
      return false
    }
  },

  /** @param {PrivateResponse} res */
  isHeadSent: (res) => res._headerSent,
  /** @param {PrivateResponse} res */
  headIsSent: (res) => { res._headerSent = true },
  /** @param {PrivateResponse} res whose head is made @returns {boolean} */
  hasBody: (res) => res._hasBody,
  /** @param {PrivateResponse} res whose head is made @returns {number | null} the length of the body that the head announces; null if none */
  contentLengthOf: (res) => res._contentLength,
  /** @param {PrivateResponse} res @returns {boolean} */
  hasTrailers: (res) => res._trailer !== '',
  /** @param {PrivateResponse} res @returns {boolean} whether it has listeners */
  isHeard: (res) => res._eventsCount > 0,
  /** Writes the output that a response kept while it had no socket. @param {PrivateResponse} res */
  flush: (res) => { res._flush() },
  /** Reports a response as finished, to diagnostics (performance hooks, say). @param {PrivateResponse} res */
  finish: (res) => { res._finish() },
  /** @param {PrivateResponse} res @returns {boolean} whether it keeps bytes until it has a socket */
  hasWaitingOutput: (res) => res.outputData.length !== 0,

  /**
   * Adds to the count of unsent bytes; writableFinished is false until it is 0.
   *
   * @param {PrivateResponse} res @param {number} bytes negative when they were sent
   */
  countWaiting: (res, bytes) => { res.outputSize += bytes },

  /** @param {PrivateResponse} res whose head is made @returns {boolean} whether its body has chunked encoding */
  isChunked: (res) => res.chunkedEncoding,
  /** Makes a body of unknown length use chunked encoding, regardless of the request's version. @param {PrivateResponse} res */
  allowChunks: (res) => { res.useChunkedEncodingByDefault = true },
  /** @param {PrivateResponse} res @returns {boolean} whether the connection stays open after it, unless its fields say something else */
  isKeepAlive: (res) => res.shouldKeepAlive,
  /** @param {PrivateResponse} res @param {boolean} isKept as isKeepAlive() returns it */
  setKeepAlive: (res, isKept) => { res.shouldKeepAlive = isKept },
  /** Sets whether the connection has had all requests that maxRequestsPerSocket allows. @param {PrivateResponse} res @param {boolean} isReached */
  setRequestsReached: (res, isReached) => { res.maxRequestsOnConnectionReached = isReached },
  /** @param {PrivateResponse} res @returns {boolean} whether assignSocket() is Node's own, rather than one of the application's */
  assignsAsNode: (res) => res.assignSocket === stockAssignSocket,

  /**
   * Gives the socket to a response, which is now the first of its connection.
   *
   * @template S @param {{ assignSocket: (socket: S) => void }} res @param {S} socket
   */
  giveSocket: (res, socket) => { res.assignSocket(socket) },

  /** @param {PrivateResponse} res @returns {boolean} whether detachSocket() is Node's own, rather than one of the application's */
  detachesAsNode: (res) => res.detachSocket === stockDetachSocket,
  /** Takes the socket from a finished response. @template S @param {{ detachSocket: (socket: S) => void }} res @param {S} socket */
  takeSocket: (res, socket) => { res.detachSocket(socket) },

  /** Marks a response as closed. @param {PrivateResponse} res @returns {boolean} false: it was closed before */
  close (res) {
    if (res._closed) return false
    res.destroyed = true
    res._closed = true
    return true
  }
}
