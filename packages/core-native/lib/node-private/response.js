'use strict'

// Functions for the undocumented members of http.ServerResponse, named by what each member is for.

const http = require('node:http')

const { assignSocket: stockAssignSocket, detachSocket: stockDetachSocket } = http.ServerResponse.prototype

/** @typedef {import('../../types/node-internals').PrivateResponse} PrivateResponse */

/**
 * Sets the limits of the connection that the response's Keep-Alive field announces.
 *
 * @param {PrivateResponse} res @param {number} keepAliveTimeout @param {number | null} maxRequestsPerSocket
 */
function setConnectionLimits (res, keepAliveTimeout, maxRequestsPerSocket) {
  res._keepAliveTimeout = keepAliveTimeout
  res._maxRequestsPerSocket = maxRequestsPerSocket
}

/** Marks a response whose client waits for a 100 Continue. @param {PrivateResponse} res */
function expectContinue (res) {
  res._expect_continue = true
}

/**
 * Sets a listener for changes of the number of bytes that a response keeps while it waits behind another one.
 *
 * @param {PrivateResponse} res @param {(delta: number) => void} listener
 */
function onPendingData (res, listener) {
  res._onPendingData = listener
}

/** @template R @param {{ _httpMessage: R }} socket @returns {R} the response that the connection is sending; null or undefined: none */
function answerOf (socket) {
  return socket._httpMessage
}

/** @template R @param {{ _httpMessage: R }} socket @param {R} res the response that the connection sends now, or null */
function setAnswer (socket, res) {
  socket._httpMessage = res
}

/** @param {PrivateResponse} res @returns {boolean} whether the connection ends after it */
function isLast (res) {
  return res._last
}

/** Makes the connection end after a response. @param {PrivateResponse} res */
function makeLast (res) {
  res._last = true
}

/** @param {PrivateResponse} res @returns {string | null} the head; null before it is made */
function headOf (res) {
  return res._header
}

/** Makes the head from the status and fields set so far. @param {PrivateResponse} res */
function makeHead (res) {
  res._implicitHeader()
}

/**
 * Makes the head. If that throws (application code may take part), returns false, and the next attempt throws the same error instead of
 * making the head: the error then reaches the caller of that attempt.
 *
 * @param {PrivateResponse} res
 * @returns {boolean} false: an error was thrown
 */
function tryHead (res) {
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
}

/** @param {PrivateResponse} res */
function isHeadSent (res) {
  return res._headerSent
}

/** @param {PrivateResponse} res */
function headIsSent (res) {
  res._headerSent = true
}

/** @param {PrivateResponse} res whose head is made @returns {boolean} */
function hasBody (res) {
  return res._hasBody
}

/** @param {PrivateResponse} res whose head is made @returns {number | null} the length of the body that the head announces; null if none */
function contentLengthOf (res) {
  return res._contentLength
}

/** @param {PrivateResponse} res @returns {boolean} */
function hasTrailers (res) {
  return res._trailer !== ''
}

/** @param {PrivateResponse} res @returns {boolean} whether it has listeners */
function isHeard (res) {
  return res._eventsCount > 0
}

/** Writes the output that a response kept while it had no socket. @param {PrivateResponse} res */
function flush (res) {
  res._flush()
}

/** Reports a response as finished, to diagnostics (performance hooks, say). @param {PrivateResponse} res */
function finish (res) {
  res._finish()
}

/** @param {PrivateResponse} res @returns {boolean} whether it keeps bytes until it has a socket */
function hasWaitingOutput (res) {
  return res.outputData.length !== 0
}

/**
 * Adds to the count of unsent bytes; writableFinished is false until it is 0.
 *
 * @param {PrivateResponse} res @param {number} bytes negative when they were sent
 */
function countWaiting (res, bytes) {
  res.outputSize += bytes
}

/** @param {PrivateResponse} res whose head is made @returns {boolean} whether its body has chunked encoding */
function isChunked (res) {
  return res.chunkedEncoding
}

/** Makes a body of unknown length use chunked encoding, regardless of the request's version. @param {PrivateResponse} res */
function allowChunks (res) {
  res.useChunkedEncodingByDefault = true
}

/** @param {PrivateResponse} res @returns {boolean} whether the connection stays open after it, unless its fields say something else */
function isKeepAlive (res) {
  return res.shouldKeepAlive
}

/** @param {PrivateResponse} res @param {boolean} isKept as isKeepAlive() returns it */
function setKeepAlive (res, isKept) {
  res.shouldKeepAlive = isKept
}

/** Sets whether the connection has had all requests that maxRequestsPerSocket allows. @param {PrivateResponse} res @param {boolean} isReached */
function setRequestsReached (res, isReached) {
  res.maxRequestsOnConnectionReached = isReached
}

/** @param {PrivateResponse} res @returns {boolean} whether assignSocket() is Node's own, rather than one of the application's */
function assignsAsNode (res) {
  return res.assignSocket === stockAssignSocket
}

/**
 * Gives the socket to a response, which is now the first of its connection.
 *
 * @template S @param {{ assignSocket: (socket: S) => void }} res @param {S} socket
 */
function giveSocket (res, socket) {
  res.assignSocket(socket)
}

/** @param {PrivateResponse} res @returns {boolean} whether detachSocket() is Node's own, rather than one of the application's */
function detachesAsNode (res) {
  return res.detachSocket === stockDetachSocket
}

/** Takes the socket from a finished response. @template S @param {{ detachSocket: (socket: S) => void }} res @param {S} socket */
function takeSocket (res, socket) {
  res.detachSocket(socket)
}

/** Marks a response as closed. @param {PrivateResponse} res @returns {boolean} false: it was closed before */
function close (res) {
  if (res._closed) return false
  res.destroyed = true
  res._closed = true
  return true
}

module.exports = {
  allowChunks,
  answerOf,
  assignsAsNode,
  close,
  contentLengthOf,
  countWaiting,
  detachesAsNode,
  expectContinue,
  finish,
  flush,
  giveSocket,
  hasBody,
  hasTrailers,
  hasWaitingOutput,
  headIsSent,
  headOf,
  isChunked,
  isHeadSent,
  isHeard,
  isKeepAlive,
  isLast,
  makeHead,
  makeLast,
  onPendingData,
  setAnswer,
  setConnectionLimits,
  setKeepAlive,
  setRequestsReached,
  takeSocket,
  tryHead
}
