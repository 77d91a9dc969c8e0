'use strict'

// Functions for the undocumented members of http.ServerResponse, named by what each member is for.

/** @typedef {import('../../types/node-internals').PrivateResponse} PrivateResponse */

/** What its head is to say about the connection. @param {PrivateResponse} res @param {number} keepAliveTimeout @param {number | null} maxRequestsPerSocket */
function setConnectionLimits (res, keepAliveTimeout, maxRequestsPerSocket) {
  res._keepAliveTimeout = keepAliveTimeout
  res._maxRequestsPerSocket = maxRequestsPerSocket
}

/** Its client waits for a 100. @param {PrivateResponse} res */
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

/** Makes it closed. @param {PrivateResponse} res @returns {boolean} false when it was closed before */
function close (res) {
  if (res._closed) return false
  res.destroyed = true
  res._closed = true
  return true
}

module.exports = {
  answerOf,
  close,
  expectContinue,
  finish,
  flush,
  hasBody,
  hasTrailers,
  headIsSent,
  headOf,
  isHeadSent,
  isHeard,
  isLast,
  makeHead,
  makeLast,
  onPendingData,
  setAnswer,
  setConnectionLimits
}
