'use strict'

// Manages the memory into which a lane receives large pieces of bodies. JavaScript allocates it and lends it in advance, because V8 frees
// its own memory with less work than foreign memory, and applications can transfer only V8's own memory to a worker. The number of lent
// blocks begins with none and grows with demand, so that only a lane that receives uploads has any. A piece that finds no lent block is
// received into memory of the lane, and copied.

const { Buffer } = require('node:buffer')
const R = require('./records')

// A piece with fewer bytes is copied out of its block: the application, which may keep the piece, must not keep a partly empty block with it.
const kCopyBelowBytes = R.kBlockBytes / 4 * 3

class ReceiveBlocks {
  /** Lent blocks by id. @type {Buffer[]} */
  #loans = []
  #native
  #lane

  /** @param {import('../../types/binding').Engine} native @param {number} lane */
  constructor (native, lane) {
    this.#native = native
    this.#lane = lane
  }

  /**
   * Returns the bytes of a kBodyBlock record.
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
      // The copy gets memory of its own: with a slice of Node's pool the application would keep the whole pool.
      const copy = Buffer.allocUnsafeSlow(bytes)
      block.copy(copy, 0, 0, bytes)
      this.#lend(id, block)
      return copy
    }
    this.#lend(id, Buffer.allocUnsafeSlow(R.kBlockBytes))
    return bytes === R.kBlockBytes ? block : block.subarray(0, bytes)
  }

  // Doubles the number of lent blocks, because one read of the lane fills as many as there are.
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
