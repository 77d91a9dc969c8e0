'use strict'

// Functions for the undocumented members of http.ServerResponse, named by what each member is for.

const http = require('node:http')

const { assignSocket: stockAssignSocket, detachSocket: stockDetachSocket } = http.ServerResponse.prototype

/** @typedef {import('../../types/node-internals').PrivateResponse} PrivateResponse */

/** Sets what the head of a response is to say about the connection. @param {PrivateResponse} res @param {number} keepAliveTimeout @param {number | null} maxRequestsPerSocket */
function setConnectionLimits (res, keepAliveTimeout, maxRequestsPerSocket) {
  res._keepAliveTimeout = keepAliveTimeout
  res._maxRequestsPerSocket = maxRequestsPerSocket
}

/** Says that the client waits for a 100. @param {PrivateResponse} res */
function expectContinue (res) {
  res._expect_continue = true
}

/** Hears how its unsent bytes change while it waits for its turn. @param {PrivateResponse} res @param {(delta: number) => void} listener */
function onPendingData (res, listener) {
  res._onPendingData = listener
}

/** @template R @param {{ _httpMessage: R }} socket @returns {R} the response whose turn it is; null or undefined: none */
function answerOf (socket) {
  return socket._httpMessage
}

/** @template R @param {{ _httpMessage: R }} socket @param {R} res the response whose turn it is, or null */
function setAnswer (socket, res) {
  socket._httpMessage = res
}

/** @param {PrivateResponse} res @returns {boolean} whether the connection ends with it */
function isLast (res) {
  return res._last
}

/** The connection ends with it. @param {PrivateResponse} res */
function makeLast (res) {
  res._last = true
}

/** @param {PrivateResponse} res @returns {string | null} null before it is made */
function headOf (res) {
  return res._header
}

/** Makes the head of what was set so far. @param {PrivateResponse} res */
function makeHead (res) {
  res._implicitHeader()
}

/**
 * Makes the head of what was set so far. What that throws, where the application takes part, the next attempt throws again instead of
 * making the head: somebody else shall throw it.
 *
 * @param {PrivateResponse} res
 * @returns {boolean} false: it has thrown
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

/** @param {PrivateResponse} res whose head is made @returns {number | null} the length of the body that the head announces; null where nobody has set one */
function contentLengthOf (res) {
  return res._contentLength
}

/** @param {PrivateResponse} res @returns {boolean} */
function hasTrailers (res) {
  return res._trailer !== ''
}

/** @param {PrivateResponse} res @returns {boolean} whether somebody listens to it */
function isHeard (res) {
  return res._eventsCount > 0
}

/** Writes what it kept for the time when it has a socket. @param {PrivateResponse} res */
function flush (res) {
  res._flush()
}

/** Counts it as finished for diagnostics. @param {PrivateResponse} res */
function finish (res) {
  res._finish()
}

/** @param {PrivateResponse} res @returns {boolean} whether it keeps bytes until it has a socket */
function hasWaitingOutput (res) {
  return res.outputData.length !== 0
}

/** Counts bytes that have not left: while there are any, writableFinished is false. @param {PrivateResponse} res @param {number} bytes below 0: they have left */
function countWaiting (res, bytes) {
  res.outputSize += bytes
}

/** @param {PrivateResponse} res whose head is made @returns {boolean} whether its body goes in chunks */
function isChunked (res) {
  return res.chunkedEncoding
}

/** A body of unknown length goes in chunks, whatever version the request has. @param {PrivateResponse} res */
function allowChunks (res) {
  res.useChunkedEncodingByDefault = true
}

/** @param {PrivateResponse} res @returns {boolean} whether the connection goes on after it, unless its head says something else */
function isKeepAlive (res) {
  return res.shouldKeepAlive
}

/** @param {PrivateResponse} res @param {boolean} isKept as isKeepAlive() tells it */
function setKeepAlive (res, isKept) {
  res.shouldKeepAlive = isKept
}

/** Says whether the connection has had all requests that maxRequestsPerSocket allows. @param {PrivateResponse} res @param {boolean} isReached */
function setRequestsReached (res, isReached) {
  res.maxRequestsOnConnectionReached = isReached
}

/** @param {PrivateResponse} res @returns {boolean} whether assignSocket() is Node's own, rather than one of the application's */
function assignsAsNode (res) {
  return res.assignSocket === stockAssignSocket
}

/** Gives a response the socket: it is its turn. @template S @param {{ assignSocket: (socket: S) => void }} res @param {S} socket */
function giveSocket (res, socket) {
  res.assignSocket(socket)
}

/** @param {PrivateResponse} res @returns {boolean} whether detachSocket() is Node's own, rather than one of the application's */
function detachesAsNode (res) {
  return res.detachSocket === stockDetachSocket
}

/** Takes the socket from a response that is finished. @template S @param {{ detachSocket: (socket: S) => void }} res @param {S} socket */
function takeSocket (res, socket) {
  res.detachSocket(socket)
}

/** Makes it closed. @param {PrivateResponse} res @returns {boolean} false when it was closed before */
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
