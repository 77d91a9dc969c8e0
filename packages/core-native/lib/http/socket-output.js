'use strict'

// The output of a socket: bytes go out as reply records; credits bound what was accepted and is not sent yet.

const { Buffer } = require('node:buffer')
const { nodeProcess } = require('../node-private/node-process')
const { restartTimeout, unwrittenOf } = require('../node-private/socket')
const R = require('../records/records')
const { kInlineBytesMax } = require('../records/reply-writer')
const { tellAnswersPolicy } = require('./cache-policy')
const { kSendBytesFastMax, returnExtra, takeExtra } = require('./extra-credit')
const { State, isLight, updateLoop } = require('./socket-state')
const { kStreamBytesMin, hasStreamCredit, isBehind, mayCopy, settleStream, waitForCredit } = require('./stream-credit')
const { systemError } = require('../base/system-error')
const { kLane, kSlot, kState, kUnsent, kHeldWrite, kWritten } = require('./symbols')

const { kData, kEnd, kShutdown } = R.ReplyType

// Accepted but unsent bytes per connection above which a write waits for a credit.
// 256 KiB keeps a fast link busy across a thread hop and bounds what a slow reader costs.
const kSendBytesMax = 256 * 1024
// Larger pieces of a response are sent by reference (benchmarks/scenarios/stream-1mb.js chose it). On an upgraded
// connection all that fits is copied: protocols look at writableLength right after a write (ws: bufferedAmount).
const kCopiedBytesMax = 32 * 1024
// Pieces of one write that leave in one record, together: a record costs about as much as copying so much. Libraries of
// WebSocket write a frame as a header and a payload.
const kJoinedBytesMax = 2048
// Block ids count from 0.
const kNoBlock = -1

/** @typedef {import('../../types/internal').EngineSocket} EngineSocket */
/** @typedef {import('../../types/internal').PendingChunk} PendingChunk */
/** @typedef {import('../../types/internal').SocketWrite} Write */

/** @param {EngineSocket} socket whether more may be published for it */
function hasCredit (socket) {
  const unsent = socket[kUnsent]
  if (unsent < kStreamBytesMin) return true
  if ((socket[kState] & (State.kStream | State.kRelayedStream)) !== 0) return hasStreamCredit(socket)
  return unsent < kSendBytesMax || (unsent < kSendBytesFastMax && mayHaveExtra(socket))
}

/** @param {EngineSocket} socket whether it may have kSendBytesFastMax */
function mayHaveExtra (socket) {
  // A client that has become slow has it until enough has left.
  if ((socket[kState] & (State.kReadsFast | State.kUpgraded)) !== State.kReadsFast) return false
  if ((socket[kState] & State.kHasExtra) !== 0) return true
  if (!takeExtra(socket[kLane])) return false
  socket[kState] |= State.kHasExtra
  return true
}

/** @param {EngineSocket} socket that has few unsent bytes, is closed, or gives its output to a channel */
function forgetExtra (socket) {
  if ((socket[kState] & State.kHasExtra) === 0) return
  socket[kState] &= ~State.kHasExtra
  returnExtra(socket[kLane])
}

/** Bytes have left. @param {EngineSocket} socket @param {boolean} isTaken the client's socket has taken everything so far */
function noteReader (socket, isTaken) {
  if (isTaken) socket[kState] |= State.kReadsFast
  else socket[kState] &= ~State.kReadsFast
  if (socket[kUnsent] < kSendBytesMax) forgetExtra(socket)
}

// The most bytes of the pieces of a write that are copied, of which one is large. A piece that is not copied is done when it has
// left: an application that waits for that, and is the only one to send, would leave the lane without work until its thread
// runs again.
/** @param {EngineSocket} socket */
function copiedMax (socket) {
  if ((socket[kState] & State.kUpgraded) !== 0) return kInlineBytesMax
  const lane = socket[kLane]
  const isAlone = lane.largeSlot === socket[kSlot]
  lane.largeSlot = socket[kSlot]
  return isAlone && (socket[kState] & State.kReadsFast) !== 0 ? kInlineBytesMax : kCopiedBytesMax
}

// Written by the application, not yet accepted.
/** @param {EngineSocket} socket */
function waitingBytes (socket) {
  if (isLight(socket)) return 0
  let bytes = 0
  const held = socket[kHeldWrite]
  if (held !== null) for (let i = held.next; i < held.chunks.length; i++) bytes += chunkBytes(held.chunks[i])
  for (const entry of unwrittenOf(socket)) bytes += chunkBytes(entry)
  return bytes
}

/** @param {EngineSocket} socket @param {Write | null} write */
function hold (socket, write) {
  socket[kHeldWrite] = write
  if ((socket[kState] & State.kPeerEnded) !== 0) updateLoop(socket)
}

// FIN after everything accepted; with kCloseSoon the lane also closes without waiting for the peer.
/** @param {EngineSocket} socket */
function shutdown (socket) {
  const bits = socket[kState]
  if ((bits & (State.kFinSent | State.kLaneClosed)) !== 0) return
  socket[kState] |= State.kFinSent
  updateLoop(socket)
  const { writer } = socket[kLane]
  if ((bits & State.kCloseSoon) !== 0) {
    writer.command(kEnd, R.kReplyEnd | R.kReplyClose, socket[kSlot])
  } else {
    writer.command(kShutdown, 0, socket[kSlot])
  }
}

/** @param {PendingChunk} entry */
function chunkBytes ({ chunk, encoding }) {
  return typeof chunk === 'string' ? Buffer.byteLength(chunk, encoding) : chunk.length
}

/** @param {EngineSocket} socket @param {number} bytes that were published for it */
function count (socket, bytes) {
  socket[kUnsent] += bytes
  socket[kWritten] += bytes
}

/** @param {PendingChunk[]} chunks @param {number} from @returns {number} the index behind the last one that can leave in one record with that at `from` */
function endOfJoined (chunks, from) {
  let bytes = 0
  let at = from
  for (; at < chunks.length; at++) {
    const { chunk } = chunks[at]
    if (typeof chunk === 'string') break
    bytes += chunk.length
    if (bytes > kJoinedBytesMax) break
  }
  return at
}

/** The outcome for the chunks of a write: all are published, some wait for a credit, the lane has closed, a block was refused, or the response has ended for the lane. */
const Sent = { all: 0, some: 1, closed: 2, refused: 3, excess: 4 }

// Publishes chunks while there is credit.
/** @param {EngineSocket} socket @param {Write} write @returns {number} of Sent */
function publish (socket, write) {
  const { chunks } = write
  const lane = socket[kLane]
  const slot = socket[kSlot]
  const isStream = (socket[kState] & (State.kStream | State.kUpgraded)) === State.kStream
  let most = kCopiedBytesMax
  let isKnown = false
  while (write.next < chunks.length) {
    if ((socket[kState] & State.kLaneClosed) !== 0) return Sent.closed
    // The end of a response is an empty one: it lets go of what came before.
    if (chunks[write.next].chunk.length === 0) {
      write.next++
      continue
    }
    // The client would take these bytes for the next response.
    if ((socket[kState] & State.kFileEnds) !== 0) return Sent.excess
    if ((socket[kState] & State.kFileOut) !== 0 || !hasCredit(socket)) return Sent.some
    const end = isStream ? 0 : endOfJoined(chunks, write.next)
    if (end - write.next > 1) {
      count(socket, lane.writer.pieces(slot, R.kReplyRaw, chunks, write.next, end))
      write.next = end
      continue
    }
    let { chunk, encoding } = chunks[write.next++]
    if (typeof chunk === 'string') {
      if (encoding === 'binary') encoding = 'latin1'
      else if (encoding === 'utf-8' || encoding === 'ascii') encoding = encoding === 'ascii' ? 'latin1' : 'utf8'
      if ((encoding !== 'latin1' && encoding !== 'utf8') || chunk.length * 3 > kInlineBytesMax) {
        chunk = Buffer.from(chunk, encoding)
      }
    }
    if (chunk.length === 0) continue
    const isKept = isStream && typeof chunk !== 'string' && !mayCopy(socket, chunk.length)
    if (chunk.length > kCopiedBytesMax && !isKnown) {
      isKnown = true
      most = copiedMax(socket)
    }
    if (chunk.length <= most && !isKept) {
      count(socket, lane.writer.data(kData, slot, R.kReplyRaw, chunk, encoding, 0))
    } else {
      count(socket, chunk.length)
      // A string this long has become a Buffer.
      const block = lane.writer.block(slot, R.kReplyRaw, /** @type {Uint8Array} */ (chunk))
      if (block === undefined) return Sent.refused
      write.block = block
      // With the chunk: the bytes of a string are in no other place.
      lane.blocks.set(block, { write, chunk: /** @type {Uint8Array} */ (chunk) })
    }
  }
  return Sent.all
}

// The chunks of a write leave in one piece, as those of writev() do: HAProxy 2.6 loses the body of a response that comes with
// "100 Continue" and ends within a chunk.
/** @param {EngineSocket} socket @param {Write} write @returns {number} of Sent */
function publishTogether (socket, write) {
  const { writer } = socket[kLane]
  writer.gather()
  try {
    return publish(socket, write)
  } finally {
    writer.release()
  }
}

// The callback runs at once when all chunks were accepted: then writableLength is 0 right after write(), as after a write that
// the kernel took. Bytes that are sent by reference may be changed by the application once the callback ran: it waits for
// their last block.
/** @param {EngineSocket} socket @param {Write} write */
function send (socket, write) {
  restartTimeout(socket)
  if ((socket[kState] & State.kHasPolicies) !== 0) tellAnswersPolicy(socket)
  const sent = write.chunks.length - write.next > 1 ? publishTogether(socket, write) : publish(socket, write)
  if (sent === Sent.refused) return
  if (sent === Sent.excess) {
    holdRest(socket, write)
    // In a tick of its own: destroy() throws while Node's Writable goes through its buffered chunks.
    nodeProcess.nextTick(() => socket.destroy())
    return
  }
  if (sent === Sent.closed) {
    write.callback(systemError(-32, 'write'))
    return
  }
  const isStream = (socket[kState] & (State.kStream | State.kUpgraded)) === State.kStream
  if (sent === Sent.some) {
    // A write behind a file goes on when the file has been sent (file-windows.js): it waits for no credit.
    if ((socket[kState] & (State.kStream | State.kFileOut)) === State.kStream) waitForCredit(socket)
    holdRest(socket, write)
    return
  }
  if ((socket[kState] & State.kStream) !== 0) settleStream(socket)
  if (write.block === kNoBlock && !(isStream && isBehind(socket))) write.callback()
  else holdRest(socket, write)
}

// Chunks that were published are in the lane's memory, or in lane.blocks: they need not be there twice. Node keeps the entries, too.
/** @param {EngineSocket} socket @param {Write} write */
function holdRest (socket, write) {
  for (let i = 0; i < write.next; i++) write.chunks[i].chunk = ''
  write.chunks = write.chunks.slice(write.next)
  write.next = 0
  hold(socket, write)
}

/** Bytes of a stream have left: a write is done that waited for nothing else. @param {EngineSocket} socket */
function finishCopied (socket) {
  const held = socket[kHeldWrite]
  if (held === null || held.chunks.length !== 0 || held.block !== kNoBlock) return
  hold(socket, null)
  held.callback()
}

/** A credit, or the end of a part of a file, lets a write go on that is not published yet. @param {EngineSocket} socket */
function resumeWrite (socket) {
  const held = socket[kHeldWrite]
  if (held === null || held.next === held.chunks.length || socket.destroyed) return
  hold(socket, null)
  send(socket, held)
}

/** @param {Write} write @param {number} block that has left or was dropped; they do in their order */
function blockDone (write, block) {
  if (write.block !== block) return
  write.block = kNoBlock
  const { socket } = write
  if (socket[kHeldWrite] !== write || write.next !== write.chunks.length) return
  hold(socket, null)
  write.callback()
}

module.exports = {
  kNoBlock,
  kSendBytesMax,
  blockDone,
  finishCopied,
  forgetExtra,
  hasCredit,
  hold,
  noteReader,
  resumeWrite,
  send,
  shutdown,
  waitingBytes
}
