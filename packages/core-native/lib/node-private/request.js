'use strict'

// Functions for the undocumented members of http.IncomingMessage, named by what each member is for.

/** @import { PrivateRequest } from '../../types/node-internals' */

module.exports = {
  /**
   * Fills `headers` (or `trailers`) from the first `count` entries of `raw`.
   *
   * @param {PrivateRequest} req @param {string[]} raw @param {number} count
   */
  addHeaderLines: (req, raw, count) => { req._addHeaderLines(raw, count) },

  /** @param {PrivateRequest} req @returns {boolean} whether the rest of its body is discarded */
  isDumped: (req) => req._dumped,
  /** @param {PrivateRequest} req @returns {boolean} whether a reader has begun, or the request was dumped or settled */
  isConsumed: (req) => req._consuming,
  /** @param {PrivateRequest} req @returns {boolean} whether it has no listeners and no reader has begun */
  isUnheard: (req) => req._eventsCount === 0 && !req._consuming && req.readableFlowing === null,
  /** @param {PrivateRequest} req @returns {boolean} whether a part of its body waits to be read */
  isBuffering: (req) => req._readableState.length !== 0,

  /** Discards the rest of the body unless a reader has begun, or resume() is scheduled. @param {PrivateRequest} req */
  dumpUnread (req) {
    if (!req._consuming && !req._readableState.resumeScheduled) req._dump()
  },

  /** Discards the rest of the body unless a reader has begun. @param {PrivateRequest} req */
  dumpUnconsumed (req) {
    if (!req._consuming) req._dump()
  },

  /** Sets whether the request is an upgrade that the server accepts. @param {PrivateRequest} req @param {boolean} isUpgrade */
  setUpgrade: (req, isUpgrade) => { req.upgrade = isUpgrade },
  /** Sets whether repeated lines of a header are joined. @param {PrivateRequest} req @param {boolean} joins the server's option joinDuplicateHeaders */
  joinDuplicates: (req, joins) => { req.joinDuplicateHeaders = joins || null },

  /** Gives a request the state of one that was dumped, has ended and was closed, without emitting events. @param {PrivateRequest} req */
  settleSilently (req) {
    const state = req._readableState
    req._dumped = true
    req._consuming = true
    state.ended = true
    state.endEmitted = true
    state.destroyed = true
    state.closed = true
    state.closeEmitted = true
  }
}
