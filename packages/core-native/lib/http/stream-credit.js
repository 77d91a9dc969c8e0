'use strict'

// The credit for unsent output of HTTP/2: how many bytes the streams of one connection may have accepted and not sent. Each
// stream has a small credit of its own, so that no stream waits for another one. Anything above it comes out of a sum that
// all streams share. A connection has a hundred streams, so one that its client does not read must not use up the sum.

const { kParent, kStreamCredit, kTaken, kUnsent, kWritten } = require('./symbols')

// Credit that every stream has of its own, bytes: as much as Node's own streams buffer before they ask to wait.
const kStreamBytesMin = 16 * 1024
// Largest credit of one stream, bytes: that of a connection of HTTP/1.1.
const kStreamBytesMax = 256 * 1024
// Credit that all streams share above their own, bytes. A client with a hundred streams that reads nothing costs this and 1.6 MB.
const kSharedBytes = 1024 * 1024
// Part of the shared credit that the first streams to ask get, bytes; the rest is for streams that have sent something.
const kSharedFreely = 256 * 1024
// A stream may have unsent a quarter of what it has sent, and as much as is left for others.
const kSentPart = 4

class StreamCredit {
  /** Bytes of all streams above kStreamBytesMin. */
  used = 0
  /** Streams with a write that waits, in the order in which they began to. @type {Set<any>} */
  waiting = new Set()

  // After the stream's kUnsent has changed.
  /** @param {any} stream */
  settle (stream) {
    const taken = Math.max(0, stream[kUnsent] - kStreamBytesMin)
    this.used += taken - stream[kTaken]
    stream[kTaken] = taken
  }

  /** @param {any} stream that has used up what is its own */
  has (stream) {
    this.settle(stream)
    if (stream[kUnsent] >= kStreamBytesMax || this.used >= kSharedBytes) return false
    if (this.used < kSharedFreely) return true
    const taken = stream[kTaken]
    return taken * kSentPart < stream[kWritten] - stream[kUnsent] && taken < kSharedBytes - this.used
  }
}

/** @param {any} stream @returns {StreamCredit} */
function creditOf (stream) {
  return (stream[kParent][kStreamCredit] ??= new StreamCredit())
}

/** @param {any} stream of which kStreamBytesMin or more are unsent */
function hasStreamCredit (stream) {
  // Relayed by another process: this one does not know the other streams of the client's connection.
  if (stream[kParent] === undefined) return false
  return creditOf(stream).has(stream)
}

/**
 * Whether a piece is to be copied for the lane. Once its client does not keep up, larger ones stay where they are.
 *
 * @param {any} stream
 * @param {number} bytes
 */
function mayCopy (stream, bytes) {
  return bytes <= kStreamBytesMin || stream[kParent] === undefined || creditOf(stream).used + bytes <= kSharedFreely
}

/** More of it is unsent. @param {any} stream */
function settleStream (stream) {
  if (stream[kUnsent] > kStreamBytesMin) creditOf(stream).settle(stream)
}

/** Its write waits until resumeStreams() lets it go on. @param {any} stream */
function waitForCredit (stream) {
  if (stream[kParent] !== undefined) creditOf(stream).waiting.add(stream)
}

/**
 * Bytes of a stream have left, or it has ended.
 *
 * @param {any} stream
 * @param {(stream: any) => void} resume what waits for credit
 */
function resumeStreams (stream, resume) {
  const credit = /** @type {StreamCredit | undefined} */ (stream[kParent]?.[kStreamCredit])
  if (credit === undefined) return
  credit.settle(stream)
  for (const waiting of credit.waiting) {
    if (waiting[kUnsent] >= kStreamBytesMin && !credit.has(waiting)) continue
    credit.waiting.delete(waiting)
    resume(waiting)
  }
}

/** The stream has ended. @param {any} stream @param {(stream: any) => void} resume */
function forgetStream (stream, resume) {
  const credit = /** @type {StreamCredit | undefined} */ (stream[kParent]?.[kStreamCredit])
  if (credit === undefined) return
  credit.waiting.delete(stream)
  stream[kUnsent] = 0
  resumeStreams(stream, resume)
}

module.exports = { kStreamBytesMin, forgetStream, hasStreamCredit, mayCopy, resumeStreams, settleStream, waitForCredit }
