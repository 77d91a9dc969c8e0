'use strict'

// Limits the unsent output of HTTP/2: how many bytes the streams of one connection may have accepted and not sent. Each stream has a small
// credit of its own, so that no stream waits for another one. Further credit comes out of a sum that all streams share. A connection has up
// to a hundred streams, so a stream that its client does not read must not use up the sum.

const { nodeProcess } = require('../node-private/node-process')
const { State } = require('./socket-state')
const { kParent, kShared, kState, kStreamCredit, kTaken, kUnsent, kWritten } = require('./symbols')

/** @import { EngineSocket } from '../../types/internal' */

// Credit that every stream has of its own, bytes: as much as Node's own streams buffer before they ask to wait.
const kStreamBytesMin = 16 * 1024
// Largest credit of one stream, bytes, until its client has read as much.
const kUnreadBytesMax = 256 * 1024
// Largest credit of a stream that its client reads, bytes: JavaScript makes the next pieces while the lane sends the previous ones. With
// 256 KiB one waits for the other, and more than 448 KiB gains nothing (architecture.md, "The socket").
const kReadBytesMax = 448 * 1024
// Credit that all streams share above their own, bytes. A client with a hundred streams that reads nothing costs this and 1.6 MB.
const kSharedBytes = 1024 * 1024
// The part of the shared credit that streams without a reading client may use, bytes; the first ones that need it get it. The rest is for
// streams that are read.
const kSharedFreely = 256 * 1024
// A stream counts as read only if its unsent bytes are less than this part (a quarter) of its sent bytes.
const kSentPart = 4
// Sent bytes of one stream that the lane might not have reported yet: it reports at least so many together (limits.h: kStreamCreditBytes).
const kUntoldBytes = 8 * 1024
// If all streams together have more unsent bytes than this, their client is behind. A write on a stream that the client does not read is then
// done only when bytes of the stream were sent, so that Node's buffers count them. A client that reads nothing costs this beside Node's buffers.
const kAheadBytes = 128 * 1024
// While the client is behind, a piece above this size (bytes) stays in the application's memory; a smaller one costs less as a copy.
const kCopiedBytesMax = 4 * 1024

// Whether the client of a stream reads it. Such a stream gets credit however many other streams are stalled.
/** @param {EngineSocket} stream */
function isRead (stream) {
  const sent = stream[kWritten] - stream[kUnsent]
  return sent >= kUnreadBytesMax && stream[kUnsent] * kSentPart < sent
}

class StreamCredit {
  /**
   * Shared credit in use: bytes above kStreamBytesMin of all streams that were allowed to use it. A piece that begins below
   * kStreamBytesMin counts for its stream alone.
   */
  used = 0
  /** The part of `used` that belongs to streams which are not read. */
  usedUnread = 0
  /** Unsent bytes of all streams that have more than kUntoldBytes unsent. */
  unsent = 0
  /** Streams with a write that waits for credit, in the order in which the waits began. @type {Set<EngineSocket>} */
  waiting = new Set()

  // Updates the sums after the stream's kUnsent has changed.
  /** @param {EngineSocket} stream @param {boolean} [isAllowed] whether the stream may use shared credit */
  settle (stream, isAllowed = stream[kShared] !== 0) {
    const unsent = stream[kUnsent]
    const taken = unsent > kUntoldBytes ? unsent : 0
    const shared = isAllowed ? Math.max(0, unsent - kStreamBytesMin) : 0
    this.unsent += taken - stream[kTaken]
    this.used += shared - stream[kShared]
    const wasRead = (stream[kState] & State.kCountsAsRead) !== 0
    const isReadNow = isRead(stream)
    this.usedUnread += (isReadNow ? 0 : shared) - (wasRead ? 0 : stream[kShared])
    if (wasRead !== isReadNow) stream[kState] ^= State.kCountsAsRead
    stream[kTaken] = taken
    stream[kShared] = shared
  }

  /** Whether a stream may exceed its own credit. @param {EngineSocket} stream */
  has (stream) {
    this.settle(stream)
    const isReadNow = (stream[kState] & State.kCountsAsRead) !== 0
    if (stream[kUnsent] >= (isReadNow ? kReadBytesMax : kUnreadBytesMax) || this.used >= kSharedBytes) return false
    const isAllowed = isReadNow ? stream[kShared] < kSharedBytes - this.used : this.usedUnread < kSharedFreely
    if (isAllowed) this.settle(stream, true)
    return isAllowed
  }

  /**
   * Whether the client is behind, see kAheadBytes, and does not read the stream.
   *
   * @param {EngineSocket} stream
   * @param {number} bytes about to be written
   */
  isBehind (stream, bytes) {
    return this.unsent + bytes > kAheadBytes && !isRead(stream)
  }
}

/** @param {EngineSocket} stream whose connection is this process's @returns {StreamCredit} */
function creditOf (stream) {
  return (/** @type {EngineSocket} */ (stream[kParent])[kStreamCredit] ??= new StreamCredit())
}

/** @param {EngineSocket} stream of which kStreamBytesMin or more are unsent */
function hasStreamCredit (stream) {
  // Another process relays the stream: this process does not know the other streams of the client's connection.
  if (stream[kParent] === undefined) return false
  return creditOf(stream).has(stream)
}

/**
 * Whether a piece is copied for the lane. While the client is behind, a larger piece stays in the application's memory.
 *
 * @param {EngineSocket} stream
 * @param {number} bytes
 */
function mayCopy (stream, bytes) {
  return bytes <= kCopiedBytesMax || stream[kParent] === undefined || !creditOf(stream).isBehind(stream, bytes)
}

/** Whether a write is done only when its copied bytes were sent. @param {EngineSocket} stream */
function isBehind (stream) {
  return stream[kUnsent] > kUntoldBytes && stream[kParent] !== undefined && creditOf(stream).isBehind(stream, 0)
}

/** Must be called when a stream has more unsent bytes. @param {EngineSocket} stream */
function settleStream (stream) {
  if (stream[kUnsent] > kUntoldBytes) creditOf(stream).settle(stream)
}

/** Lets a stream's write wait until resumeStreams() continues it. @param {EngineSocket} stream */
function waitForCredit (stream) {
  if (stream[kParent] !== undefined) creditOf(stream).waiting.add(stream)
}

/**
 * Continues writes that wait for credit, when bytes of a stream were sent, or it has ended.
 *
 * @param {EngineSocket} stream
 * @param {(stream: EngineSocket) => void} resume continues the write of a stream
 */
function resumeStreams (stream, resume) {
  const credit = stream[kParent]?.[kStreamCredit]
  if (credit === undefined) return
  credit.settle(stream)
  for (const waiting of credit.waiting) {
    if (waiting[kUnsent] >= kStreamBytesMin && !credit.has(waiting)) continue
    credit.waiting.delete(waiting)
    let isOver = false
    try {
      resume(waiting)
      isOver = true
    } finally {
      // If a listener of 'drain' has thrown, continue in the next tick: the other streams must not wait for the next credit, which might never
      // come.
      if (!isOver) nodeProcess.nextTick(resumeStreams, stream, resume)
    }
  }
}

/** Frees the shared credit of a stream that has ended, for the other streams. @param {EngineSocket} stream @param {(stream: EngineSocket) => void} resume */
function forgetStream (stream, resume) {
  const credit = stream[kParent]?.[kStreamCredit]
  if (credit === undefined) return
  credit.waiting.delete(stream)
  stream[kUnsent] = 0
  resumeStreams(stream, resume)
}

module.exports = { StreamCredit, kStreamBytesMin, forgetStream, hasStreamCredit, isBehind, mayCopy, resumeStreams, settleStream, waitForCredit }
