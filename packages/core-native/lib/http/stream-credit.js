'use strict'

// The credit for unsent output of HTTP/2: how many bytes the streams of one connection may have accepted and not sent. Each
// stream has a small credit of its own, so that no stream waits for another one. Anything above it comes out of a sum that
// all streams share. A connection has a hundred streams, so one that its client does not read must not use up the sum.

const { nodeProcess } = require('../node-private/node-process')
const { State } = require('./socket-state')
const { kParent, kShared, kState, kStreamCredit, kTaken, kUnsent, kWritten } = require('./symbols')

/** @typedef {import('../../types/internal').EngineSocket} EngineSocket */

// Credit that every stream has of its own, bytes: as much as Node's own streams buffer before they ask to wait.
const kStreamBytesMin = 16 * 1024
// Largest credit of one stream, bytes, until its client has read as much.
const kUnreadBytesMax = 256 * 1024
// The same for a stream that is read, so that JavaScript makes the next pieces while the lane sends those before: with 256 KiB one
// waits for the other, and more than 448 gains nothing (architecture.md, "The socket").
const kReadBytesMax = 448 * 1024
// Credit that all streams share above their own, bytes. A client with a hundred streams that reads nothing costs this and 1.6 MB.
const kSharedBytes = 1024 * 1024
// Part of the shared credit for streams that are not read, bytes: those get it that ask first. The rest is for streams that are read.
const kSharedFreely = 256 * 1024
// A stream that is read may have unsent a quarter of what it has sent, and as much as is left for others.
const kSentPart = 4
// Bytes of one stream that may have left without a word: the lane tells of as many and more (limits.h: kStreamCreditBytes).
const kUntoldBytes = 8 * 1024
// Unsent bytes of all streams above which their client is behind: a write on a stream that it does not read is not done before
// bytes of the stream have left, so that Node's buffers count them. A client that reads nothing costs this beside those buffers.
const kAheadBytes = 128 * 1024
// A larger piece stays in the application's memory while the client is behind; a smaller one costs less as a copy.
const kCopiedBytesMax = 4 * 1024

// Whether the client of a stream reads it, so that it goes on however many others are stalled.
/** @param {EngineSocket} stream */
function isRead (stream) {
  const sent = stream[kWritten] - stream[kUnsent]
  return sent >= kUnreadBytesMax && stream[kUnsent] * kSentPart < sent
}

class StreamCredit {
  /** Bytes above kStreamBytesMin of all streams that were allowed to have them: a piece that begins below that is its stream's own. */
  used = 0
  /** Those of streams that are not read. */
  usedUnread = 0
  /** Bytes of all streams that have more than kUntoldBytes. */
  unsent = 0
  /** Streams with a write that waits, in the order in which they began to. @type {Set<EngineSocket>} */
  waiting = new Set()

  // After the stream's kUnsent has changed.
  /** @param {EngineSocket} stream @param {boolean} [isAllowed] to have more than kStreamBytesMin */
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

  /** @param {EngineSocket} stream that has used up what is its own */
  has (stream) {
    this.settle(stream)
    const isReadNow = (stream[kState] & State.kCountsAsRead) !== 0
    if (stream[kUnsent] >= (isReadNow ? kReadBytesMax : kUnreadBytesMax) || this.used >= kSharedBytes) return false
    const isAllowed = isReadNow ? stream[kShared] < kSharedBytes - this.used : this.usedUnread < kSharedFreely
    if (isAllowed) this.settle(stream, true)
    return isAllowed
  }

  /** @param {EngineSocket} stream @param {number} bytes that are about to be written on it */
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
  // Relayed by another process: this one does not know the other streams of the client's connection.
  if (stream[kParent] === undefined) return false
  return creditOf(stream).has(stream)
}

/**
 * Whether a piece is to be copied for the lane. While the client does not keep up, larger ones stay where they are.
 *
 * @param {EngineSocket} stream
 * @param {number} bytes
 */
function mayCopy (stream, bytes) {
  return bytes <= kCopiedBytesMax || stream[kParent] === undefined || !creditOf(stream).isBehind(stream, bytes)
}

/** Whether what was copied for the lane is to leave before its write is done. @param {EngineSocket} stream */
function isBehind (stream) {
  return stream[kUnsent] > kUntoldBytes && stream[kParent] !== undefined && creditOf(stream).isBehind(stream, 0)
}

/** More of it is unsent. @param {EngineSocket} stream */
function settleStream (stream) {
  if (stream[kUnsent] > kUntoldBytes) creditOf(stream).settle(stream)
}

/** Lets a stream's write wait until resumeStreams() lets it go on. @param {EngineSocket} stream */
function waitForCredit (stream) {
  if (stream[kParent] !== undefined) creditOf(stream).waiting.add(stream)
}

/**
 * Bytes of a stream have left, or it has ended.
 *
 * @param {EngineSocket} stream
 * @param {(stream: EngineSocket) => void} resume what waits for credit
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
      // A listener for 'drain' has thrown. The next credit, which may never come, is too late for the other streams.
      if (!isOver) nodeProcess.nextTick(resumeStreams, stream, resume)
    }
  }
}

/** The stream has ended. @param {EngineSocket} stream @param {(stream: EngineSocket) => void} resume */
function forgetStream (stream, resume) {
  const credit = stream[kParent]?.[kStreamCredit]
  if (credit === undefined) return
  credit.waiting.delete(stream)
  stream[kUnsent] = 0
  resumeStreams(stream, resume)
}

module.exports = { StreamCredit, kStreamBytesMin, forgetStream, hasStreamCredit, isBehind, mayCopy, resumeStreams, settleStream, waitForCredit }
