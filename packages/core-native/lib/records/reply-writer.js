'use strict'

// Writes reply records into the memory that a lane reads. A segment is filled from its start to its
// end and followed by the next free one; when every segment is still unread a new one is added, so
// that JavaScript never waits for an I/O thread. Unread records are limited by the connections'
// credits (see socket-output.js), not here. A record is published as soon as it is written.

const { Buffer } = require('node:buffer')
const { nodeProcess } = require('../node-private/node-process')
const R = require('./records')

const {
  kResponse, kData, kBlock, kJump, kFrame, kFrameBlock, kBroadcast, kBroadcastBlock
} = R.ReplyType
const { Mask, Shift, Word } = R

// Index of the first word behind the header: its meaning depends on the record's type.
const kFirst = R.kHeaderBytes >>> 2

// Size of a segment, bytes: large enough for the largest inline piece. Two segments keep a busy lane supplied.
const kSegmentBytes = 256 * 1024
// After reading, the lane keeps the pages of this many segments, the ones with the lowest ids (limits.h: kReplySegmentsKept).
const kSegmentsKept = 8
// The largest piece that is copied into a segment, bytes.
const kInlineBytesMax = 64 * 1024
// Number of published records after which a sleeping lane is woken although the batch is not finished. The
// lane looks every millisecond by itself (limits.h: kNapUs, kPeekMs): this limits how many records gather.
const kWakeAfterRecords = 256
// At most this many slots share a broadcast record: the lane sends the first record while the next is written.
const kBroadcastSlotsMax = 256
// Up to this number of bytes a loop is faster than a call that copies or compares.
const kLoopBytesMax = 48

class Segment {
  /** @param {number} id @param {Buffer} bytes */
  constructor (id, bytes) {
    this.id = id
    this.bytes = bytes
    this.words = new Int32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength >>> 2)
    /** The count of segments left by the lane (kSegmentsDone) from which on this one is free again. */
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
    /** True between gather() and release(): written replies are not yet visible to the lane. */
    this.isGathering = false
    /** Called after each published record once the process exits; null before. @type {(() => void) | null} */
    this.afterPublish = null
    this.published = 0
    this.unsignalled = 0
    /** Segments left by this writer so far, modulo 2^32, as the lane counts kSegmentsDone. */
    this.jumps = 0
    /** @type {Segment[]} in the order in which they become free */
    this.waiting = []
    /** Segments that the lane has left. Segments whose pages it keeps come first. @type {Segment[]} */
    this.free = []
    this.segment = this.#addSegment()
    this.offset = 0
    /** Payload of the last frame. If the next frame has the same payload, it begins a broadcast. @type {string | Uint8Array | null} */
    this.lastData = null
    this.lastFlags = 0
    this.lastSlot = 0
    /** Number of slots of the broadcast that is being written (0: there is none), and bytes of its payload. */
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

  /** Makes room for a record of `bytes` and a kJump behind it. @param {number} bytes */
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

  // The first reply of a turn of the event loop wakes the lane, which then looks for more by itself until the turn's end. The turn ends when the
  // loop has run the callbacks of I/O, immediates and timers.
  #openTurn () {
    if (!this.opensTurns) return this.signal()
    if (this.broadcastSlots !== 0) this.closeBroadcast()
    this.unsignalled = 0
    Atomics.store(this.control, R.kTurnOpen, 1)
    this.native.openTurn(this.lane)
  }

  /** Hides replies from the lane until release(), so that it sends them in one piece. No code of the application must run meanwhile. */
  gather () {
    this.isGathering = true
  }

  /** Shows the lane what was written since gather(). */
  release () {
    this.isGathering = false
    this.#show()
  }

  /** Begins a batch: until endBatch() the lane is woken only for every kWakeAfterRecords replies. */
  beginBatch () {
    this.batching = true
  }

  /** Ends a batch. The addon, which called dispatch(), then wakes the lane for the replies that have gathered. */
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
   * Publishes a record without a payload.
   *
   * @param {number} type of ReplyType
   * @param {number} flags
   * @param {number} slot
   * @param {number} [a] the first word behind the header
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
   * Publishes a head and, in one piece with it, body bytes. The caller must make sure that they fit inline.
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
    // If a chunk size follows, which is Latin-1, Node writes the head in Latin-1, too.
    const isText = typeof body === 'string' && (flags & R.kReplyChunked) === 0
    const room = typeof body === 'string' ? (head.length + body.length) * 3 : head.length + (body === null ? 0 : body.byteLength)
    this.#reserve(R.kResponseFixedBytes + room + R.kAlignBytes)
    const { words, bytes } = this.segment
    const at = this.offset + R.kResponseFixedBytes
    let headBytes = head.length
    let total
    if (isText) {
      total = bytes.write(head + body, at)
      // With characters above 0x7f, the head may have more bytes than characters.
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
   * Publishes a piece of a body, or raw bytes, that fits inline.
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
   * Publishes several pieces in one kData record. The caller must make sure that they fit inline.
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

  // Writes the words of a record, whose payload is already in place behind them, and publishes it.
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
   * Sends bytes by reference. The caller must keep them unchanged until kBlockDone names the block.
   *
   * @param {number} slot
   * @param {number} flags
   * @param {Uint8Array} data
   * @returns {number | undefined} block id
   */
  block (slot, flags, data) {
    const id = this.native.sendBlock(this.lane, data)
    // Without an id nothing was lent: the thread is being terminated.
    if (id !== undefined) this.command(kBlock, flags, slot, id)
    return id
  }

  /**
   * Publishes a record of these parts: `fields` (its words from the fifth on), the number of bytes of `data`, and `data`.
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
   * Publishes a frame of a WebSocket that fits inline. A frame with the payload of the last one, on another
   * connection, becomes part of a broadcast, which ends with the next other record, at 256 slots, or with the tick.
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
   * Sends a frame by reference. The caller must keep its bytes unchanged until kBlockDone names the block. Frames with
   * the same bytes on several connections become a broadcast, as with frame().
   *
   * @param {number} slot
   * @param {number} flags
   * @param {Uint8Array} data
   * @returns {number | undefined} block id
   */
  frameBlock (slot, flags, data) {
    const isAgain = data === this.lastData && flags === this.lastFlags && slot !== this.lastSlot &&
      this.afterPublish === null
    if (isAgain && this.broadcastSlots !== 0) {
      const id = this.segment.words[(this.offset >>> 2) + Word.kBroadcastBlockId] >>> 0
      this.#addSlot(slot)
      return id
    }
    const id = this.native.sendBlock(this.lane, data)
    if (id === undefined) return id // Nothing was lent: the thread is being terminated.
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
    nodeProcess.nextTick(forget, this, data) // `data` may be large: kept for this tick only.
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
    // Within dispatch(), the broadcast is closed at the end of the current request record.
    if (!this.batching) nodeProcess.nextTick(closeBroadcast, this)
  }

  /** @param {number} slot */
  #addSlot (slot) {
    this.segment.words[((this.offset + R.kPayloadAt + this.broadcastBytes + 3) >>> 2) + this.broadcastSlots++] = slot
    this.lastSlot = slot
    if (this.broadcastSlots === kBroadcastSlotsMax) this.closeBroadcast()
  }

  /** @param {string | Uint8Array} data @returns {number} its bytes, which are copied to kPayloadAt of the record */
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

  // Whether a Buffer is still the payload of the broadcast: the application may have changed it.
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
    if (slots === 1) { // With one slot it becomes an ordinary frame.
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
