'use strict'

// Memory that a lane receives large pieces of bodies into. It is JavaScript's own, lent in advance, since
// V8 frees its own memory with less work than memory that comes from elsewhere, and applications may transfer no other
// memory to a worker.

const { Buffer } = require('node:buffer')
const R = require('./records')

// Grows with demand from none, so that only a lane that receives uploads has any. Until then, a piece that finds no lent
// block is received into memory of the lane, and copied.
// A block that is filled less than this is copied, so that the application does not keep what it cannot see.
const kCopyBelowBytes = R.kBlockBytes / 4 * 3

class ReceiveBlocks {
  /** Blocks by id. @type {Buffer[]} */
  #loans = []
  #native
  #lane

  /** @param {import('../../types/binding').Engine} native @param {number} lane */
  constructor (native, lane) {
    this.#native = native
    this.#lane = lane
  }

  /**
   * The block of a kBodyBlock record.
   *
   * @param {number} id
   * @param {number} bytes
   * @param {boolean} isLent
   * @returns {Buffer}
   */
  take (id, bytes, isLent) {
    if (!isLent) {
      this.#grow()
      const copy = Buffer.allocUnsafeSlow(bytes)
      this.#native.copyBlock(this.#lane, id, copy)
      return copy
    }
    const block = this.#loans[id]
    if (bytes < kCopyBelowBytes) {
      // No slice of a pool, which would be as large.
      const copy = Buffer.allocUnsafeSlow(bytes)
      block.copy(copy, 0, 0, bytes)
      this.#lend(id, block)
      return copy
    }
    this.#lend(id, Buffer.allocUnsafeSlow(R.kBlockBytes))
    return bytes === R.kBlockBytes ? block : block.subarray(0, bytes)
  }

  // Lends as many blocks again, since one read takes as many as there are.
  #grow () {
    const count = Math.min(Math.max(1, 2 * this.#loans.length), R.kReceiveBlocksMax)
    for (let id = this.#loans.length; id < count; id++) this.#lend(id, Buffer.allocUnsafeSlow(R.kBlockBytes))
  }

  /** @param {number} id @param {Buffer} block */
  #lend (id, block) {
    this.#loans[id] = block
    this.#native.lendBlock(this.#lane, id, block)
  }
}

module.exports = { ReceiveBlocks }
