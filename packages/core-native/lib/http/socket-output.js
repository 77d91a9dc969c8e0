'use strict'

// Sends the output of sockets as reply records. Credits limit the bytes of a socket that were accepted and not sent yet.

const { Buffer } = require('node:buffer')
const { nodeProcess } = require('../node-private/node-process')
const { restartTimeout, unwrittenOf } = require('../node-private/socket')
const R = require('../records/records')
const { kInlineBytesMax } = require('../records/reply-writer')
const { tellAnswersPolicy } = require('./cache-policy')
const { State, isLight, updateLoop } = require('./socket-state')
const { kStreamBytesMin, hasStreamCredit, isBehind, mayCopy, settleStream, waitForCredit } = require('./stream-credit')
const { systemError } = require('../base/system-error')
const { kLane, kSlot, kState, kUnsent, kHeldWrite, kWritten } = require('./symbols')

const { kData, kEnd, kShutdown } = R.ReplyType

// A write waits for a credit if its connection has at least this many bytes accepted but unsent.
// 256 KiB keeps a fast link busy across a thread hop and bounds what a slow reader costs.
const kSendBytesMax = 256 * 1024
// kSendBytesMax for the few HTTP/1.1 connections of a lane that have extra credit (kExtrasMax), because their clients read fast: JavaScript
// makes one half of the bytes while the lane sends the other (limits.h: kReplyBytesPerPass). Not 2 MiB: copied bytes would then fill more
// reply segments than stay in memory (kReplySegmentsKept), and cost page faults.
const kSendBytesFastMax = 1024 * 1024
// At most this many connections of a lane have the extra credit at a time: 12 MiB in all.
const kExtrasMax = 16
// Pieces of a response above this size (bytes, chosen by benchmarks/scenarios/stream-1mb.js) are sent by reference. On an upgraded
// connection all that fits a record is copied: protocols look at writableLength right after a write (ws: bufferedAmount).
const kCopiedBytesMax = 32 * 1024
// Pieces of one write share a record up to this many bytes together: a record costs about as much as copying them. Libraries
// for WebSockets write a frame as a header and a payload.
const kJoinedBytesMax = 2048
// No block is being sent: ids of blocks count from 0.
const kNoBlock = -1

/** @import { EngineSocket, PendingChunk, SocketWrite as Write } from '../../types/internal' */

/** Whether more output of a socket may be published. @param {EngineSocket} socket */
function hasCredit (socket) {
  const unsent = socket[kUnsent]
  if (unsent < kStreamBytesMin) return true
  if ((socket[kState] & (State.kStream | State.kRelayedStream)) !== 0) return hasStreamCredit(socket)
  return unsent < kSendBytesMax || (unsent < kSendBytesFastMax && mayHaveExtra(socket))
}

/** Whether a socket may have up to kSendBytesFastMax unsent bytes. @param {EngineSocket} socket */
function mayHaveExtra (socket) {
  // A client that has become slow keeps its extra credit, unused, until forgetExtra().
  if ((socket[kState] & (State.kReadsFast | State.kUpgraded)) !== State.kReadsFast) return false
  if ((socket[kState] & State.kHasExtra) !== 0) return true
  if (socket[kLane].extras === kExtrasMax) return false
  socket[kLane].extras++
  socket[kState] |= State.kHasExtra
  return true
}

/** Takes the extra credit from a socket that has few unsent bytes, is closed, or gives its output to a channel. @param {EngineSocket} socket */
function forgetExtra (socket) {
  if ((socket[kState] & State.kHasExtra) === 0) return
  socket[kState] &= ~State.kHasExtra
  socket[kLane].extras--
}

/**
 * Notes whether the client reads fast, when bytes were sent.
 *
 * @param {EngineSocket} socket
 * @param {boolean} isTaken it has taken all so far
 */
function noteReader (socket, isTaken) {
  if (isTaken) socket[kState] |= State.kReadsFast
  else socket[kState] &= ~State.kReadsFast
  if (socket[kUnsent] < kSendBytesMax) forgetExtra(socket)
}

// Returns the size up to which pieces are copied, for a write with a large piece. A piece sent by reference is done only when it was
// sent. If this socket alone sends large pieces and the application waits for each, the lane would have no work until JavaScript runs
// again; larger pieces are copied then.
/** @param {EngineSocket} socket */
function copiedMax (socket) {
  if ((socket[kState] & State.kUpgraded) !== 0) return kInlineBytesMax
  const lane = socket[kLane]
  const isAlone = lane.largeSlot === socket[kSlot]
  lane.largeSlot = socket[kSlot]
  return isAlone && (socket[kState] & State.kReadsFast) !== 0 ? kInlineBytesMax : kCopiedBytesMax
}

/** Returns the number of bytes written by the application and not yet accepted. @param {EngineSocket} socket */
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

// Sends FIN after everything accepted; with kCloseSoon the lane also closes without waiting for the client.
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

/**
 * @param {PendingChunk[]} chunks
 * @param {number} from
 * @returns {number} the index behind the last chunk that can share a record with the one at `from`
 */
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
    // An empty chunk, such as Node writes at the end of a response, needs no record.
    if (chunks[write.next].chunk.length === 0) {
      write.next++
      continue
    }
    // The response has ended for the lane: the client would take these bytes for the next response.
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
      // Cast: a string of this length was converted to a Buffer above.
      const block = lane.writer.block(slot, R.kReplyRaw, /** @type {Uint8Array} */ (chunk))
      if (block === undefined) return Sent.refused
      write.block = block
      // The entry keeps the chunk alive: the bytes of a string are in no other place.
      lane.blocks.set(block, { write, chunk: /** @type {Uint8Array} */ (chunk) })
    }
  }
  return Sent.all
}

// Publishes the chunks of a write in one piece, as writev() does: HAProxy 2.6 loses the body of a response that comes with
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

// Sends a write. Its callback runs at once if all chunks were accepted, so that writableLength is 0 right after write(), as after a
// write that the kernel took. If bytes are sent by reference, it runs after their last block, because the application may change them
// then.
/** @param {EngineSocket} socket @param {Write} write */
function send (socket, write) {
  restartTimeout(socket)
  if ((socket[kState] & State.kHasPolicies) !== 0) tellAnswersPolicy(socket)
  const sent = write.chunks.length - write.next > 1 ? publishTogether(socket, write) : publish(socket, write)
  if (sent === Sent.refused) return
  if (sent === Sent.excess) {
    holdRest(socket, write)
    // Destroyed in a later tick: destroy() throws while Node's Writable goes through its buffered chunks.
    nodeProcess.nextTick(() => socket.destroy())
    return
  }
  if (sent === Sent.closed) {
    write.callback(systemError(-32, 'write'))
    return
  }
  const isStream = (socket[kState] & (State.kStream | State.kUpgraded)) === State.kStream
  if (sent === Sent.some) {
    // A write behind a file continues when the file has been sent (file-windows.js): it does not wait for credit.
    if ((socket[kState] & (State.kStream | State.kFileOut)) === State.kStream) waitForCredit(socket)
    holdRest(socket, write)
    return
  }
  if ((socket[kState] & State.kStream) !== 0) settleStream(socket)
  if (write.block === kNoBlock && !(isStream && isBehind(socket))) write.callback()
  else holdRest(socket, write)
}

// Holds a write without its published chunks, which are in the lane's memory or in lane.blocks. Node keeps the entries, so they are emptied.
/** @param {EngineSocket} socket @param {Write} write */
function holdRest (socket, write) {
  for (let i = 0; i < write.next; i++) write.chunks[i].chunk = ''
  write.chunks = write.chunks.slice(write.next)
  write.next = 0
  hold(socket, write)
}

/** Completes a write of which all bytes are published, when bytes of its stream were sent. @param {EngineSocket} socket */
function finishCopied (socket) {
  const held = socket[kHeldWrite]
  if (held === null || held.chunks.length !== 0 || held.block !== kNoBlock) return
  hold(socket, null)
  held.callback()
}

/** Continues a write that is not fully published, after a credit or the end of a part of a file. @param {EngineSocket} socket */
function resumeWrite (socket) {
  const held = socket[kHeldWrite]
  if (held === null || held.next === held.chunks.length || socket.destroyed) return
  hold(socket, null)
  send(socket, held)
}

/** Completes a write if its last block was sent or dropped, and nothing of it waits. @param {Write} write @param {number} block that has ended; blocks end in order */
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
