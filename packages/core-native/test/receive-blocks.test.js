'use strict'

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { kBlockBytes } = require('../lib/records/records')
const { ReceiveBlocks } = require('../lib/records/receive-blocks')

/** A binding that remembers what was lent, and plays the lane. */
class Native {
  /** @type {Map<number, Buffer>} */
  lent = new Map()

  /** @param {number} lane @param {number} id @param {Buffer} block */
  lendBlock (lane, id, block) {
    assert.equal(lane, 3)
    assert.ok(!this.lent.has(id), 'lent twice')
    assert.equal(block.byteLength, kBlockBytes)
    this.lent.set(id, block)
  }

  /** @param {number} lane @param {number} _id @param {Buffer} into */
  copyBlock (lane, _id, into) {
    assert.equal(lane, 3)
    into.fill('b')
  }

  /** @param {number} id @param {string} filling @param {number} bytes */
  receive (id, filling, bytes) {
    const block = /** @type {Buffer} */ (this.lent.get(id))
    this.lent.delete(id)
    block.fill(filling, 0, bytes)
    return block
  }
}

function setup () {
  const native = new Native()
  return { native, blocks: new ReceiveBlocks(/** @type {any} */ (native), 3) }
}

test('a lane that receives no large pieces costs no memory', () => {
  assert.equal(setup().native.lent.size, 0)
})

test('each piece that found no lent block adds as many as there are, up to 128', () => {
  const { native, blocks } = setup()
  for (const count of [1, 2, 4, 8, 16, 32, 64, 128, 128]) {
    assert.equal(blocks.take(0, 9000, false).length, 9000)
    assert.equal(native.lent.size, count)
  }
})

test('a piece that found no lent block is a copy in memory of its own', () => {
  const piece = setup().blocks.take(7, 9000, false)
  assert.equal(piece.toString(), 'b'.repeat(9000))
  assert.equal(piece.buffer.byteLength, 9000)
})

test('a well filled block becomes the piece, and another one is lent', () => {
  const { native, blocks } = setup()
  blocks.take(0, 9000, false)
  for (const bytes of [kBlockBytes, 60_000]) {
    const block = native.receive(0, 'x', bytes)
    const piece = blocks.take(0, bytes, true)
    assert.equal(piece.toString(), 'x'.repeat(bytes))
    assert.equal(piece.buffer, block.buffer)
    assert.notEqual(native.lent.get(0)?.buffer, block.buffer)
  }
})

test('a piece of a block that is filled little is a copy, and the block is lent again', () => {
  const { native, blocks } = setup()
  blocks.take(0, 9000, false)
  const block = native.receive(0, 'x', 10_000)
  const piece = blocks.take(0, 10_000, true)
  assert.equal(native.lent.get(0), block)
  native.receive(0, 'y', 10_000)
  assert.equal(piece.toString(), 'x'.repeat(10_000))
  assert.ok(piece.buffer.byteLength < kBlockBytes)
})
