'use strict'

// Functions for the undocumented members of http.IncomingMessage, named by what each member is for.

/** @typedef {import('../../types/node-internals').PrivateRequest} PrivateRequest */

/** Makes `headers`, or trailers, of the first `count` entries of rawHeaders. @param {PrivateRequest} req @param {string[]} raw @param {number} count */
function addHeaderLines (req, raw, count) {
  req._addHeaderLines(raw, count)
}

/** @param {PrivateRequest} req @returns {boolean} whether the rest of its body is thrown away */
function isDumped (req) {
  return req._dumped
}

/** @param {PrivateRequest} req @returns {boolean} whether somebody has begun to read it, or it was dumped or settled */
function isConsumed (req) {
  return req._consuming
}

/** @param {PrivateRequest} req @returns {boolean} whether nobody has listened to it or begun to read it */
function isUnheard (req) {
  return req._eventsCount === 0 && !req._consuming && req.readableFlowing === null
}

/** @param {PrivateRequest} req @returns {boolean} whether a part of its body waits to be read */
function isBuffering (req) {
  return req._readableState.length !== 0
}

/** Throws the rest of its body away unless somebody has begun to read it, or is about to. @param {PrivateRequest} req */
function dumpUnread (req) {
  if (!req._consuming && !req._readableState.resumeScheduled) req._dump()
}

/** Throws the rest of its body away unless somebody has begun to read it. @param {PrivateRequest} req */
function dumpUnconsumed (req) {
  if (!req._consuming) req._dump()
}

/** Says whether the request asks for an upgrade that the server accepts. @param {PrivateRequest} req @param {boolean} isUpgrade */
function setUpgrade (req, isUpgrade) {
  req.upgrade = isUpgrade
}

/** Says what a second line of a header becomes. @param {PrivateRequest} req @param {boolean} joins as the option joinDuplicateHeaders of its server */
function joinDuplicates (req, joins) {
  req.joinDuplicateHeaders = joins || null
}

/** Gives it the state of a request that was dumped, has ended and was closed, without the events. @param {PrivateRequest} req */
function settleSilently (req) {
  const state = req._readableState
  req._dumped = true
  req._consuming = true
  state.ended = true
  state.endEmitted = true
  state.destroyed = true
  state.closed = true
  state.closeEmitted = true
}

module.exports = { addHeaderLines, dumpUnconsumed, dumpUnread, isBuffering, isConsumed, isDumped, isUnheard, joinDuplicates, setUpgrade, settleSilently }
