'use strict'

// One I/O thread as JavaScript sees it: the memory shared with it, the lines it has interned, the
// sockets of its connections.

const { Buffer } = require('node:buffer')
const R = require('./records')
const { ReceiveBlocks } = require('./receive-blocks')
const { ReplyWriter } = require('./reply-writer')
const { SentBlocks } = require('./sent-blocks')

const { Word } = R

// Size, bytes, of the ArrayBuffer with which takeBlock() makes V8 look at foreign memory: up to 64 bytes it would be in V8's heap.
const kCountedBytes = 128
// takeBlock() makes V8 look at foreign memory whenever it has taken over blocks of so many bytes. V8 by itself looks at 32 MiB.
const kForeignBytes = 2 * 1024 * 1024

/** @import { BlockOwner, EngineSocket, SocketChannel, SocketWrite } from '../../types/internal' */

class Lane {
  /**
   * @param {{ ref (): void, unref (): void }} engine
   * @param {number} index
   * @param {import('../../types/binding').Engine} native
   * @param {import('../../types/binding').LaneMemory} memory
   * @param {boolean} opensTurns as of ReplyWriter
   */
  constructor (engine, index, native, memory, opensTurns) {
    this.engine = engine
    this.index = index
    this.native = native
    this.control = memory.control
    this.segments = memory.segments.map((bytes) => viewsOf(bytes))
    this.receiveBlocks = new ReceiveBlocks(native, index)
    this.writer = new ReplyWriter(native, index, memory.control, opensTurns)
    /**
     * Sockets by slot. A WebSocket whose socket is unused has its channel here instead.
     *
     * @type {(EngineSocket | SocketChannel | undefined)[]}
     */
    this.sockets = []
    /**
     * Blocks that are being sent, by id: the owner (a Write of socket-output.js or a SharedBlock of
     * web-socket-channel.js), and the memory, which only this table keeps alive.
     *
     * @type {SentBlocks<{ write: SocketWrite | BlockOwner, chunk: Uint8Array }>}
     */
    this.blocks = new SentBlocks()
    /** Number of sockets that have the extra credit (lib/http/socket-output.js). */
    this.extras = 0
    /** The slot of the socket that has sent a large piece last. */
    this.largeSlot = -1
    /** Bytes of blocks taken over since takeBlock() last made V8 look at foreign memory. */
    this.foreignBytes = 0
    /** Address of the client whose connection was opened last. */
    this.remoteAddress = ''
    /** TLS secrets of the connection that the next record opens. @type {{ slot: number, lines: string } | null} */
    this.keyLog = null
    /** @type {string[]} header name (or target) by intern id */
    this.names = []
    /** @type {string[]} header value by intern id */
    this.values = []
  }

  /**
   * Takes over a block of the lane. The memory returns to the lane when V8 has collected the Buffer. Returns undefined
   * if the thread is being terminated.
   *
   * @param {number} id
   */
  takeBlock (id) {
    const block = this.native.takeBlock(this.index, id)
    if (block === undefined) return undefined
    // V8 counts foreign memory, but decides whether to collect young ArrayBuffers only when it allocates one itself.
    // Without such an allocation, dead blocks wait for a full collection, which is tens of times the work.
    if ((this.foreignBytes += block.byteLength) >= kForeignBytes) {
      this.foreignBytes = 0
      Buffer.allocUnsafeSlow(kCountedBytes)
    }
    return Buffer.from(block)
  }

  // Handles kIntern: from now on the lane names this field and value by an id.
  /** @param {Views} views @param {number} at */
  define ({ words, bytes }, at) {
    const w = at >>> 2
    const id = words[w + Word.kInternId]
    const nameBytes = words[w + Word.kInternNameBytes]
    const valueBytes = words[w + Word.kInternValueBytes]
    const text = at + R.kInternTextAt
    this.names[id] = bytes.toString('latin1', text, text + nameBytes)
    this.values[id] = valueBytes === (R.kInternNameOnly | 0)
      ? ''
      : bytes.toString('latin1', text + nameBytes, text + nameBytes + valueBytes)
  }

  /**
   * Returns the header lines of a record in the form of `rawHeaders`.
   *
   * @param {Int32Array} words
   * @param {number} w index of the first line's words
   * @param {number} count lines
   * @param {string} text the record's literal text
   * @param {number} at where the lines' text begins in it
   * @returns {string[]}
   */
  readLines (words, w, count, text, at) {
    const lines = new Array(count << 1)
    const { names, values } = this
    let position = at
    for (let i = 0; i < count; i++) {
      const first = words[w + (i << 1)]
      if (first < 0) { // kInternBit is the sign bit.
        const id = first & 0x7fffffff
        lines[i << 1] = names[id]
        lines[(i << 1) + 1] = values[id]
        continue
      }
      if ((first & R.kNameBit) !== 0) {
        lines[i << 1] = names[first & ~R.kNameBit]
      } else {
        lines[i << 1] = text.slice(position, position += first)
      }
      lines[(i << 1) + 1] = text.slice(position, position += words[w + (i << 1) + 1])
    }
    return lines
  }
}

/** @typedef {{ words: Int32Array, bytes: Buffer }} Views */

/** @param {Uint8Array | ArrayBuffer} memory @returns {Views} */
function viewsOf (memory) {
  const bytes = memory instanceof ArrayBuffer
    ? Buffer.from(memory)
    : Buffer.from(memory.buffer, memory.byteOffset, memory.byteLength)
  return { words: new Int32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength >>> 2), bytes }
}

module.exports = { Lane, viewsOf }
