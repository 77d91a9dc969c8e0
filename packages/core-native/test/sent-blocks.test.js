'use strict'

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { SentBlocks } = require('../lib/records/sent-blocks')

/** A generator of the same numbers in each run (mulberry32). @param {number} seed */
function numbers (seed) {
  return (/** @type {number} */ below) => {
    seed = (seed + 0x6d2b79f5) | 0
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) % below
  }
}

test('blocks are found by their ids in whatever order they come back', () => {
  // The last ids that a word has are followed by the first ones.
  for (const first of [0, 0x7fffffff - 500, 0xffffffff - 500]) {
    const next = numbers(first | 1)
    /** @type {SentBlocks<{ id: number }>} */
    const blocks = new SentBlocks()
    /** @type {Map<number, { id: number }>} */
    const model = new Map()
    for (let step = 0, count = 0; step < 20_000; step++) {
      if (next(100) < (step % 2000 < 1000 ? 60 : 40)) {
        const id = (first + count++) >>> 0
        const value = { id }
        blocks.set(id, value)
        model.set(id, value)
      } else if (model.size > 0) {
        const ids = [...model.keys()]
        // Mostly one of the oldest, sometimes any.
        const id = ids[next(4) === 0 ? next(ids.length) : next(Math.min(4, ids.length))]
        assert.equal(blocks.get(id), model.get(id))
        assert.equal(blocks.take(id), model.get(id))
        assert.equal(blocks.take(id), undefined)
        model.delete(id)
      }
      assert.equal(blocks.size, model.size)
    }
    for (const [id, value] of model) assert.equal(blocks.take(id), value)
    assert.equal(blocks.size, 0)
  }
})

test('a block that stays is found among those that come and go', () => {
  /** @type {SentBlocks<string>} */
  const blocks = new SentBlocks()
  blocks.set(1, 'stays')
  for (let id = 2; id < 10_000; id++) {
    blocks.set(id, 'goes')
    assert.equal(blocks.get(1), 'stays')
    assert.equal(blocks.take(id), 'goes')
  }
  assert.equal(blocks.size, 1)
})
