'use strict'

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { hasStreamCredit, forgetStream, resumeStreams, waitForCredit } = require('../lib/http/stream-credit')
const { State } = require('../lib/http/socket-state')
const { kParent, kShared, kState, kTaken, kUnsent, kWritten } = require('../lib/http/symbols')

const kKiB = 1024
const kOwn = 16 * kKiB
const kUnread = 256 * kKiB
const kRead = 448 * kKiB
const kAll = 1024 * kKiB
const kPiece = 16 * kKiB

/** A stream, as far as its credit is concerned. @param {object} parent @returns {any} */
const streamOf = (parent) => ({ [kParent]: parent, [kState]: State.kStream, [kShared]: 0, [kTaken]: 0, [kUnsent]: 0, [kWritten]: 0 })

/** Writes on a stream while it may. @param {any} stream @returns {number} its bytes that are not sent then */
function fill (stream) {
  while (stream[kUnsent] < kOwn || hasStreamCredit(stream)) {
    stream[kUnsent] += kPiece
    stream[kWritten] += kPiece
  }
  return stream[kUnsent]
}

/** The client reads of a stream. @param {any} stream @param {number} [bytes] */
function read (stream, bytes = stream[kUnsent]) {
  stream[kUnsent] -= bytes
  resumeStreams(stream, () => {})
}

/** @param {object} parent @returns {any} a stream of which the client has read a lot */
function readStreamOf (parent) {
  const stream = streamOf(parent)
  for (let i = 0; i < 200; i++) {
    fill(stream)
    read(stream)
  }
  return stream
}

test('a stream that is not read may have 256 KiB that are not sent, one that is read 448', () => {
  const parent = {}
  const stream = streamOf(parent)
  assert.equal(fill(stream), kUnread)
  assert.equal(fill(readStreamOf({})), kRead)
})

test('a stream that begins beside one that is read has more than its own credit at once', () => {
  const parent = {}
  const first = readStreamOf(parent)
  assert.equal(fill(first), kRead)
  assert.equal(fill(streamOf(parent)), kUnread)
})

test('streams that are not read share a quarter of what all have', () => {
  const parent = {}
  const unsent = Array.from({ length: 20 }, () => fill(streamOf(parent)))
  const beyond = unsent.reduce((sum, bytes) => sum + bytes - kOwn, 0)
  assert.ok(beyond >= kUnread && beyond <= kUnread + kPiece, `${beyond} bytes`)
  // Its share is what the others leave.
  assert.ok(fill(readStreamOf(parent)) > kUnread)
})

test('streams that were read and stall have no more than all may have, and what one leaves is for the others', () => {
  const parent = {}
  const streams = Array.from({ length: 20 }, () => readStreamOf(parent))
  const unsent = streams.map(fill)
  const beyond = unsent.reduce((sum, bytes) => sum + bytes - kOwn, 0)
  assert.ok(beyond <= kAll + kPiece, `${beyond} bytes`)
  const late = streamOf(parent)
  const before = fill(late)
  for (const stream of streams) forgetStream(stream, () => {})
  assert.ok(before < kUnread)
  assert.equal(fill(late), kUnread)
})

test('a stream goes on although the listener of another one has thrown', async () => {
  const parent = {}
  const first = streamOf(parent)
  const others = [streamOf(parent), streamOf(parent), streamOf(parent)]
  fill(first)
  for (const other of others) waitForCredit(other)
  /** @type {any[]} */
  const resumed = []
  first[kUnsent] = 0
  assert.throws(() => resumeStreams(first, (stream) => {
    resumed.push(stream)
    if (stream === others[0]) throw new Error('of a listener')
  }), /of a listener/)
  await new Promise(setImmediate)
  assert.deepEqual(resumed, others)
})
