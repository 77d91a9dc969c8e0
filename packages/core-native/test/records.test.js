'use strict'

// Goal: the two spellings of the record format agree. Method: compare every constant that the addon was
// compiled with (src/records/records.h) with lib/records/records.js, in both directions.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const records = require('../lib/records/records')
const { loadBinding } = require('../lib/backend/binding')
const { onRecord } = require('../lib/http/connection')
const { SentBlocks } = require('../lib/records/sent-blocks')

/** Exports of lib/records/records.js that are about fields. */
const kLayout = ['Word', 'Shift', 'Mask']

/** @returns {Map<string, number>} */
function flat () {
  const all = new Map()
  for (const [name, value] of Object.entries(records)) {
    if (typeof value === 'number') all.set(name, value >>> 0)
    else if (!kLayout.includes(name)) for (const [inner, number] of Object.entries(value)) all.set(inner, number)
  }
  return all
}

test('lib/records/records.js and records.h give every constant the same value', () => {
  const native = new Map(Object.entries(loadBinding().constants).map(([name, value]) => [name, value >>> 0]))
  assert.deepEqual(new Map([...flat()].sort()), new Map([...native].sort()))
})

test('lib/records/records.js has each field of a record where layout.h has it, as wide as there', () => {
  const native = Object.entries(loadBinding().fields)
  const parts = native.filter(([, [, , bits]]) => bits < 32)
  assert.deepEqual(records.Word, Object.fromEntries(native.map(([name, [word]]) => [name, word])))
  assert.deepEqual(records.Shift, Object.fromEntries(parts.map(([name, [, shift]]) => [name, shift])))
  assert.deepEqual(records.Mask, Object.fromEntries(parts.map(([name, [, , bits]]) => [name, 2 ** bits - 1])))
})

test('the fields of a record that share a word have bits of their own', () => {
  // A record's fields follow each other, and those of one word do.
  const fields = Object.entries(loadBinding().fields)
  for (const [i, [name, [word, shift, bits]]] of fields.entries()) {
    assert.ok(shift + bits <= 32, name)
    const [next, [nextWord, nextShift]] = fields[i + 1] ?? ['', [-1, 0]]
    if (nextWord === word && nextShift > 0) assert.ok(nextShift >= shift + bits, `${name}, ${next}`)
  }
})

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
