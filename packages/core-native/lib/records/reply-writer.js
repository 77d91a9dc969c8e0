'use strict'

// Writes reply records into the memory that a lane reads. A segment is filled from its start to its
// end and followed by the next free one; when every segment is still unread a new one is added, so
// that JavaScript never waits for an I/O thread. What can pile up is bounded by the connections'
// credits (see socket.js), not here. A record is published as soon as it is written.

const { Buffer } = require('node:buffer')
const { nodeProcess } = require('../node-private/node-process')
const R = require('./records')

const {
  kResponse, kData, kBlock, kJump, kFrame, kFrameBlock, kBroadcast, kBroadcastBlock
} = R.ReplyType
const { Mask, Shift, Word } = R

// Index of the first word behind the header: its meaning depends on the record's type.
const kFirst = R.kHeaderBytes >>> 2

// Large enough for a maximal inline piece; two of them keep a busy lane supplied.
const kSegmentBytes = 256 * 1024
// Segments whose pages the lane keeps when it has read them (limits.h: kReplySegmentsKept).
const kSegmentsKept = 8
// The largest piece that is copied into a segment.
const kInlineBytesMax = 64 * 1024
// Unread records after which a sleeping lane is woken even though the batch is not finished. By
// itself it looks every millisecond (limits.h: kNapUs, kPeekMs), so this only bounds how much gathers.
const kWakeAfterRecords = 256
// Slots of one broadcast: the lane begins with the first while more are written.
const kBroadcastSlotsMax = 256
// Below this a loop over the bytes is faster than a call.
const kLoopBytesMax = 48

class Segment {
  /** @param {number} id @param {Buffer} bytes */
  constructor (id, bytes) {
    this.id = id
    this.bytes = bytes
    this.words = new Int32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength >>> 2)
    /** How many segments the lane must have left for this one to be free again. */
    this.freeAt = 0
  }
}

class ReplyWriter {
  /**
   * @param {import('../../types/binding').Engine} native
   * @param {number} lane
   * @param {Int32Array} control
   * @param {boolean} opensTurns the lane looks for replies while a turn of the event loop is open
   */
  constructor (native, lane, control, opensTurns) {
    this.opensTurns = opensTurns
    this.native = native
    this.lane = lane
    this.control = control
    /** True while dispatch() runs: wakes are then collected until its end. */
    this.batching = false
    /** True between gather() and release(). */
    this.isGathering = false
    /** Runs after each record once the process exits. @type {(() => void) | null} */
    this.afterPublish = null
    this.published = 0
    this.unsignalled = 0
    /** Segments left by this writer so far, modulo 2^32, as the lane counts kSegmentsDone. */
    this.jumps = 0
    /** @type {Segment[]} in the order in which they become free */
    this.waiting = []
    /** Segments that the lane has left, those first whose pages it keeps. @type {Segment[]} */
    this.free = []
    this.segment = this.#addSegment()
    this.offset = 0
    /** The payload of the last frame, for a next one with the same. @type {string | Uint8Array | null} */
    this.lastData = null
    this.lastFlags = 0
    this.lastSlot = 0
    /** A broadcast that is being written: how many slots it has, and the bytes of its payload. */
    this.broadcastSlots = 0
    this.broadcastBytes = 0
  }

  #addSegment () {
    const bytes = Buffer.from(new ArrayBuffer(kSegmentBytes))
    const id = this.native.addReplySegment(this.lane, bytes)
    if (id === undefined) throw new Error('this thread is being terminated')
    return new Segment(id, bytes)
  }

  #nextSegment () {
    const done = Atomics.load(this.control, R.kSegmentsDone) | 0
    const { waiting, free } = this
    while (waiting.length !== 0 && ((done - waiting[0].freeAt) | 0) >= 0) {
      const segment = /** @type {Segment} */ (waiting.shift())
      if (segment.id < kSegmentsKept) free.unshift(segment)
      else free.push(segment)
    }
    return free.shift() ?? this.#addSegment()
  }

  // Makes room for a record of `bytes` and a kJump behind it.
  /** @param {number} bytes */
  #reserve (bytes) {
    if (this.broadcastSlots !== 0) this.closeBroadcast()
    if (this.offset + bytes + R.kHeaderBytes <= kSegmentBytes) return
    if (bytes + R.kHeaderBytes > kSegmentBytes) throw new RangeError(`a record of ${bytes} bytes fits no segment`)
    const next = this.#nextSegment()
    const { words } = this.segment
    const w = this.offset >>> 2
    words[w + Word.kRecordBytes] = R.kHeaderBytes
    words[w + Word.kRecordType] = kJump
    words[w + Word.kJumpSegment] = next.id
    words[w + Word.kRecordExtra] = 0
    this.published = (this.published + R.kHeaderBytes) | 0
    this.jumps = (this.jumps + 1) | 0
    this.segment.freeAt = this.jumps
    this.waiting.push(this.segment)
    this.segment = next
    this.offset = 0
  }

  /** @param {number} size */
  #publish (size) {
    this.offset += size
    this.published = (this.published + size) | 0
    if (!this.isGathering) this.#show()
  }

  #show () {
    Atomics.store(this.control, R.kReplyPublished, this.published)
    if (this.afterPublish !== null) this.afterPublish()
    else if (!this.batching && this.control[R.kTurnOpen] === 0) this.#openTurn()
    else if (++this.unsignalled >= kWakeAfterRecords) this.signal()
  }

  // The first reply of a turn of the event loop wakes the lane, which then looks for more by itself until the turn's end. Replies of the turn's
  // end come when the loop has run the callbacks of I/O, immediates and timers.
  #openTurn () {
    if (!this.opensTurns) return this.signal()
    if (this.broadcastSlots !== 0) this.closeBroadcast()
    this.unsignalled = 0
    Atomics.store(this.control, R.kTurnOpen, 1)
    this.native.openTurn(this.lane)
  }

  /** From here on the lane sees no reply, until release(): it shall send them in one piece. No code of the application may run meanwhile. */
  gather () {
    this.isGathering = true
  }

  /** Shows the lane what was written since gather(). */
  release () {
    this.isGathering = false
    this.#show()
  }

  /** From here on the lane is woken for every kWakeAfterRecords replies only. */
  beginBatch () {
    this.batching = true
  }

  /** Ends that. The addon, which called dispatch(), wakes the lane for what has gathered. */
  endBatch () {
    if (this.broadcastSlots !== 0) this.closeBroadcast()
    this.batching = false
    this.unsignalled = 0
  }

  /** Wakes the lane if it sleeps. */
  signal () {
    if (this.broadcastSlots !== 0) this.closeBroadcast()
    this.unsignalled = 0
    if (Atomics.load(this.control, R.kLaneSleeping) === 1) this.native.wake(this.lane)
  }

  /**
   * A record without bytes.
   *
   * @param {number} type of ReplyType
   * @param {number} flags
   * @param {number} slot
   * @param {number} [a] its first word of its own
   * @param {number} [b] the second
   * @param {number} [c] the third
   */
  command (type, flags, slot, a = 0, b = 0, c = 0) {
    this.#reserve(32)
    const { words } = this.segment
    const w = this.offset >>> 2
    words[w + Word.kRecordBytes] = 32
    words[w + Word.kRecordType] = type | (flags << Shift.kRecordFlags)
    words[w + Word.kRecordSlot] = slot
    words[w + Word.kRecordExtra] = 0
    words[w + kFirst] = a
    words[w + kFirst + 1] = b
    words[w + kFirst + 2] = c
    words[w + kFirst + 3] = 0
    this.#publish(32)
  }

  /**
   * A head and, in one piece with it, body bytes. The caller has made sure that they fit inline.
   * A string body that is not chunked is written with the head in UTF-8, as Node writes the two.
   *
   * @param {number} slot
   * @param {number} flags
   * @param {number} idleMs
   * @param {string} head
   * @param {string | Uint8Array | null} body
   * @returns {number} bytes of head and body
   */
  response (slot, flags, idleMs, head, body) {
    // Before a chunk size, which is Latin-1, Node writes the head in Latin-1 too.
    const isText = typeof body === 'string' && (flags & R.kReplyChunked) === 0
    const room = typeof body === 'string' ? (head.length + body.length) * 3 : head.length + (body === null ? 0 : body.byteLength)
    this.#reserve(R.kResponseFixedBytes + room + R.kAlignBytes)
    const { words, bytes } = this.segment
    const at = this.offset + R.kResponseFixedBytes
    let headBytes = head.length
    let total
    if (isText) {
      total = bytes.write(head + body, at)
      // Only a head with characters above 0x7f is longer than its length.
      if (total !== head.length + body.length) headBytes = Buffer.byteLength(head)
    } else {
      bytes.write(head, at, 'latin1')
      total = headBytes
      if (typeof body === 'string') {
        total += bytes.write(body, at + headBytes)
      } else if (body !== null) {
        bytes.set(body, at + headBytes)
        total += body.byteLength
      }
    }
    const size = (R.kResponseFixedBytes + total + 7) & ~7
    const w = this.offset >>> 2
    words[w + Word.kRecordBytes] = size
    words[w + Word.kRecordType] = kResponse | (flags << Shift.kRecordFlags)
    words[w + Word.kRecordSlot] = slot
    words[w + Word.kRecordExtra] = 0
    words[w + Word.kResponseHeadBytes] = headBytes
    words[w + Word.kResponseBodyBytes] = total - headBytes
    words[w + Word.kResponseIdleTimeoutMs] = idleMs
    this.#publish(size)
    return total
  }

  /**
   * A piece of body or raw bytes that fits inline.
   *
   * @param {number} type kData or kTrailers
   * @param {number} slot
   * @param {number} flags
   * @param {string | Uint8Array} data
   * @param {BufferEncoding} encoding of a string
   * @param {number} idleMs with kReplyEnd
   * @returns {number} its bytes
   */
  data (type, slot, flags, data, encoding, idleMs) {
    const isText = typeof data === 'string'
    this.#reserve(R.kPayloadAt + (isText ? data.length * 3 : data.byteLength) + R.kAlignBytes)
    const { bytes } = this.segment
    const at = this.offset + R.kPayloadAt
    let total
    if (isText) {
      total = bytes.write(data, at, encoding)
    } else {
      bytes.set(data, at)
      total = data.byteLength
    }
    this.#endData(type, slot, flags, total, idleMs)
    return total
  }

  /**
   * kData of several pieces, which the caller has made sure fit inline.
   *
   * @param {number} slot
   * @param {number} flags
   * @param {{ chunk: string | Uint8Array }[]} chunks of bytes from `from` up to `end`
   * @param {number} from
   * @param {number} end
   * @returns {number} their bytes
   */
  pieces (slot, flags, chunks, from, end) {
    let total = 0
    for (let i = from; i < end; i++) total += chunks[i].chunk.length
    this.#reserve(R.kPayloadAt + total + R.kAlignBytes)
    const { bytes } = this.segment
    let at = this.offset + R.kPayloadAt
    for (let i = from; i < end; i++) {
      const { chunk } = chunks[i]
      bytes.set(/** @type {Uint8Array} */ (chunk), at)
      at += chunk.length
    }
    this.#endData(kData, slot, flags, total, 0)
    return total
  }

  // Writes the words of a record whose payload stands behind them already, and publishes it.
  /** @param {number} type kData or kTrailers @param {number} slot @param {number} flags @param {number} total bytes of the payload @param {number} idleMs */
  #endData (type, slot, flags, total, idleMs) {
    const { words } = this.segment
    const size = (R.kPayloadAt + total + 7) & ~7
    const w = this.offset >>> 2
    words[w + Word.kRecordBytes] = size
    words[w + Word.kRecordType] = type | (flags << Shift.kRecordFlags)
    words[w + Word.kRecordSlot] = slot
    words[w + Word.kRecordExtra] = 0
    words[w + Word.kDataBytes] = total
    words[w + Word.kDataIdleTimeoutMs] = idleMs
    this.#publish(size)
  }

  /**
   * Bytes by reference; the caller keeps them, unchanged, until kBlockDone names the block.
   *
   * @param {number} slot
   * @param {number} flags
   * @param {Uint8Array} data
   * @returns {number | undefined} block id
   */
  block (slot, flags, data) {
    const id = this.native.sendBlock(this.lane, data)
    // Nothing was lent in a thread that is being terminated.
    if (id !== undefined) this.command(kBlock, flags, slot, id)
    return id
  }

  /**
   * A record of words from the fifth on, their number, and bytes behind them.
   *
   * @param {number} type
   * @param {number} slot
   * @param {number[]} fields
   * @param {Uint8Array} data
   */
  fields (type, slot, fields, data) {
    const payloadAt = (R.kHeaderBytes + (fields.length + 1) * 4 + 7) & ~7
    const size = (payloadAt + data.byteLength + 7) & ~7
    this.#reserve(size)
    const { words, bytes } = this.segment
    const w = this.offset >>> 2
    words[w + Word.kRecordBytes] = size
    words[w + Word.kRecordType] = type
    words[w + Word.kRecordSlot] = slot
    words[w + Word.kRecordExtra] = 0
    for (let i = 0; i < fields.length; i++) words[w + kFirst + i] = fields[i]
    words[w + kFirst + fields.length] = data.byteLength
    bytes.set(data, this.offset + payloadAt)
    this.#publish(size)
  }

  /**
   * A frame of a WebSocket that fits inline. One that says the same as the last one becomes a broadcast, which
   * ends with the next other record, 256 slots, or the tick.
   *
   * @param {number} slot
   * @param {number} flags
   * @param {string | Uint8Array} data
   * @returns {number} its bytes
   */
  frame (slot, flags, data) {
    if (data === this.lastData && flags === this.lastFlags && slot !== this.lastSlot && this.afterPublish === null) {
      return this.#broadcast(slot, flags, data)
    }
    this.#reserve(24 + (typeof data === 'string' ? data.length * 3 : data.byteLength) + R.kAlignBytes)
    const total = this.#payload(data)
    const { words } = this.segment
    const size = (24 + total + 7) & ~7
    const w = this.offset >>> 2
    words[w + Word.kRecordBytes] = size
    words[w + Word.kRecordType] = kFrame | (flags << Shift.kRecordFlags)
    words[w + Word.kRecordSlot] = slot
    words[w + Word.kRecordExtra] = 0
    words[w + Word.kFrameBytes] = total
    this.#publish(size)
    this.lastData = data
    this.lastFlags = flags
    this.lastSlot = slot
    return total
  }

  /**
   * A frame by reference; the caller keeps its bytes, unchanged, until kBlockDone names the block. The same bytes for
   * several become a broadcast as with frame().
   *
   * @param {number} slot
   * @param {number} flags
   * @param {Uint8Array} data
   * @returns {number | undefined} block id
   */
  frameBlock (slot, flags, data) {
    const isAgain = data === this.lastData && flags === this.lastFlags && slot !== this.lastSlot && this.afterPublish === null
    if (isAgain && this.broadcastSlots !== 0) {
      const id = this.segment.words[(this.offset >>> 2) + Word.kBroadcastBlockId] >>> 0
      this.#addSlot(slot)
      return id
    }
    const id = this.native.sendBlock(this.lane, data)
    if (id === undefined) return id // Nothing was lent in a thread that is being terminated.
    if (isAgain) {
      this.#open(kBroadcastBlock, flags, 0)
      this.broadcastBytes = 0
      this.segment.words[(this.offset >>> 2) + Word.kBroadcastBlockId] = id
      this.#addSlot(slot)
      return id
    }
    this.command(kFrameBlock, flags, slot, id)
    this.lastData = data
    this.lastFlags = flags
    this.lastSlot = slot
    nodeProcess.nextTick(forget, this, data) // It may be large.
    return id
  }

  // Begins a broadcast of a payload of up to `room` bytes.
  /** @param {number} type @param {number} flags @param {number} room */
  #open (type, flags, room) {
    this.#reserve(24 + room + kBroadcastSlotsMax * 4 + R.kAlignBytes * 2)
    const { words } = this.segment
    const w = this.offset >>> 2
    words[w + Word.kRecordType] = type | (flags << Shift.kRecordFlags)
    words[w + Word.kRecordExtra] = 0
    // Within dispatch() the end of the record ends it.
    if (!this.batching) nodeProcess.nextTick(closeBroadcast, this)
  }

  /** @param {number} slot */
  #addSlot (slot) {
    this.segment.words[((this.offset + R.kPayloadAt + this.broadcastBytes + 3) >>> 2) + this.broadcastSlots++] = slot
    this.lastSlot = slot
    if (this.broadcastSlots === kBroadcastSlotsMax) this.closeBroadcast()
  }

  /** @param {string | Uint8Array} data @returns {number} its bytes, which stand behind word 5 now */
  #payload (data) {
    const { bytes } = this.segment
    const at = this.offset + R.kPayloadAt
    if (typeof data === 'string') return bytes.write(data, at)
    const length = data.byteLength
    if (length <= kLoopBytesMax) for (let i = 0; i < length; i++) bytes[at + i] = data[i]
    else bytes.set(data, at)
    return length
  }

  /** @param {number} slot @param {number} flags @param {string | Uint8Array} data @returns {number} its bytes */
  #broadcast (slot, flags, data) {
    if (this.broadcastSlots !== 0 && typeof data !== 'string' && !this.#isWritten(data)) this.closeBroadcast()
    if (this.broadcastSlots === 0) {
      this.#open(kBroadcast, flags, typeof data === 'string' ? data.length * 3 : data.byteLength)
      this.broadcastBytes = this.#payload(data)
      this.segment.words[(this.offset >>> 2) + Word.kBroadcastBytes] = this.broadcastBytes
    }
    const { broadcastBytes } = this
    this.#addSlot(slot)
    return broadcastBytes
  }

  // The application may have changed its Buffer since.
  /** @param {Uint8Array} data */
  #isWritten (data) {
    const at = this.offset + R.kPayloadAt
    const { bytes } = this.segment
    const length = this.broadcastBytes
    if (data.byteLength !== length) return false
    if (length > kLoopBytesMax) return bytes.compare(data, 0, length, at, at + length) === 0
    for (let i = 0; i < length; i++) if (data[i] !== bytes[at + i]) return false
    return true
  }

  /** Publishes the broadcast that is being written, if there is one. */
  closeBroadcast () {
    const slots = this.broadcastSlots
    if (slots === 0) return
    this.broadcastSlots = 0
    const { words } = this.segment
    const w = this.offset >>> 2
    const payloadEnd = R.kPayloadAt + this.broadcastBytes
    const slotsAt = (payloadEnd + 3) & ~3
    let size = (slotsAt + slots * 4 + 7) & ~7
    if (slots === 1) { // It has remained an ordinary one.
      const type = words[w + Word.kRecordType]
      const isInline = (type & Mask.kRecordType) === kBroadcast
      words[w + Word.kRecordType] = (type & ~Mask.kRecordType) | (isInline ? kFrame : kFrameBlock)
      words[w + Word.kRecordSlot] = words[w + (slotsAt >>> 2)]
      size = (payloadEnd + 7) & ~7
    } else {
      words[w + Word.kRecordSlot] = 0
      words[w + Word.kBroadcastSlots] = slots
    }
    words[w + Word.kRecordBytes] = size
    this.#publish(size)
  }
}

/** @param {ReplyWriter} writer @param {Uint8Array} data */
function forget (writer, data) {
  if (writer.lastData === data) writer.lastData = null
}

/** @param {ReplyWriter} writer */
function closeBroadcast (writer) {
  writer.closeBroadcast()
}

module.exports = { ReplyWriter, kData, kInlineBytesMax }
