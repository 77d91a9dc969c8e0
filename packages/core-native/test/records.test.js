'use strict'

// Goal: an addon of another version of the record format is found out, and words of a record are read as what they are. Method: ask the addon for its
// version, and dispatch a record by hand.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const records = require('../lib/records/records')
const { loadBinding } = require('../lib/backend/binding')
const { onRecord } = require('../lib/http/connection')
const { SentBlocks } = require('../lib/records/sent-blocks')

test('the addon speaks the format version of this package', () => {
  assert.equal(loadBinding().formatVersion, records.kFormatVersion)
})

test('a block is found by its id also when that has 32 bits', () => {
  const words = new Int32Array(8)
  words.set([32, records.RequestType.kBlockDone, 0, 0, 0x80000001 | 0])
  /** @type {number[]} */
  const done = []
  const lane = { blocks: new SentBlocks(), sockets: [] }
  lane.blocks.set(0x80000001, { write: { done: () => done.push(1) }, chunk: null })
  onRecord(/** @type {any} */ (lane), words, Buffer.from(words.buffer), 0)
  assert.equal(lane.blocks.size, 0)
  assert.deepEqual(done, [1])
})
