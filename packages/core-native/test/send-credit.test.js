'use strict'

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { forgetExtra, hasCredit, noteReader } = require('../lib/http/socket-output')
const { State } = require('../lib/http/socket-state')
const { kLane, kParent, kShared, kState, kStreamCredit, kTaken, kUnsent, kWritten } = require('../lib/http/symbols')
const { resumeStreams } = require('../lib/http/stream-credit')

const kUsual = 256 * 1024
const kMost = 1024 * 1024

/** A socket, as far as its credit is concerned. @param {{ extras: number }} lane @param {number} [state] @returns {any} */
const socketOf = (lane, state = 0) => ({ [kLane]: lane, [kState]: state, [kUnsent]: 0 })

/** @param {any} socket @param {number} bytes that it has accepted and not sent */
function mayWriteAt (socket, bytes) {
  socket[kUnsent] = bytes
  return hasCredit(socket)
}

/** @param {{ extras: number }} lane @returns {any} a socket that has more than others */
function fastOf (lane) {
  const socket = socketOf(lane)
  noteReader(socket, true)
  assert.equal(mayWriteAt(socket, kUsual), true)
  return socket
}

test('a connection may have 256 KiB that are not sent', () => {
  const socket = socketOf({ extras: 0 })
  assert.equal(mayWriteAt(socket, kUsual - 1), true)
  assert.equal(mayWriteAt(socket, kUsual), false)
})

test('a client whose socket takes everything may have 1 MiB', () => {
  const socket = fastOf({ extras: 0 })
  assert.equal(mayWriteAt(socket, kMost - 1), true)
  assert.equal(mayWriteAt(socket, kMost), false)
})

test('a client that becomes slow gives it back when it has read enough', () => {
  const lane = { extras: 0 }
  const socket = fastOf(lane)
  socket[kUnsent] = kMost - 1
  noteReader(socket, false)
  assert.equal(hasCredit(socket), false)
  assert.equal(lane.extras, 1)
  socket[kUnsent] = kUsual - 1
  noteReader(socket, false)
  assert.equal(hasCredit(socket), true)
  assert.equal(lane.extras, 0)
})

test('16 connections of a lane may have it at a time', () => {
  const lane = { extras: 0 }
  const sockets = Array.from({ length: 16 }, () => fastOf(lane))
  const late = socketOf(lane)
  noteReader(late, true)
  assert.equal(mayWriteAt(late, kUsual), false)
  for (const socket of sockets) {
    forgetExtra(socket)
    forgetExtra(socket)
  }
  assert.equal(lane.extras, 0)
  assert.equal(mayWriteAt(late, kUsual), true)
})

test('a stream of another process keeps to the credit of streams', () => {
  const socket = socketOf({ extras: 0 }, State.kRelayedStream)
  noteReader(socket, true)
  assert.equal(mayWriteAt(socket, kMost - 1), false)
})

/** A stream that its client has read all of, 1 GiB. @param {{ extras: number }} lane @param {number} [state] @returns {any} */
function streamOf (lane, state = State.kReadsFast) {
  return {
    [kLane]: lane,
    [kParent]: { [kStreamCredit]: null },
    [kShared]: 0,
    [kState]: State.kStream | state,
    [kTaken]: 0,
    [kUnsent]: 0,
    [kWritten]: 2 ** 30
  }
}

/** @param {any} stream @param {number} most at which it may not write any more */
function assertMost (stream, most) {
  for (let bytes = 0; bytes < most; bytes += 64 * 1024) assert.equal(mayWriteAt(stream, bytes), true, `${bytes}`)
  assert.equal(mayWriteAt(stream, most), false)
}

test('a stream of HTTP/2 may have 256 KiB, and 1 MiB if its client reads it fast', () => {
  const lane = { extras: 0 }
  assertMost(streamOf(lane, 0), kUsual)
  assert.equal(lane.extras, 0)
  assertMost(streamOf(lane), kMost)
  assert.equal(lane.extras, 1)
})

test('a connection of HTTP/2 gives extra credit back when the stream that needed it has sent most of what it had', () => {
  const lane = { extras: 0 }
  const stream = streamOf(lane)
  assertMost(stream, kMost)
  stream[kUnsent] = 512 * 1024
  resumeStreams(stream, assert.fail)
  assert.equal(lane.extras, 1)
  stream[kUnsent] = 0
  resumeStreams(stream, assert.fail)
  assert.equal(lane.extras, 0)
})

test('a connection of HTTP/2 keeps extra credit while its streams have more than the usual sum', () => {
  const lane = { extras: 0 }
  const first = streamOf(lane)
  const [second, third] = [0, 1].map(() => ({ ...streamOf(lane), [kParent]: first[kParent] }))
  assert.equal(mayWriteAt(first, 300 * 1024), true)
  assert.equal(mayWriteAt(second, 700 * 1024), true)
  assert.equal(mayWriteAt(third, 500 * 1024), true)
  first[kUnsent] = 0
  resumeStreams(first, assert.fail)
  assert.equal(lane.extras, 1)
  second[kUnsent] = 0
  resumeStreams(second, assert.fail)
  assert.equal(lane.extras, 0)
})

test('a tunnel of HTTP/2 has the usual credit', () => {
  const lane = { extras: 0 }
  assertMost(streamOf(lane, State.kReadsFast | State.kUpgraded), kUsual)
  assert.equal(lane.extras, 0)
})

test('connections of HTTP/2 and HTTP/1.1 have extra credit out of the same number', () => {
  const lane = { extras: 0 }
  for (let i = 0; i < 15; i++) fastOf(lane)
  assertMost(streamOf(lane), kMost)
  assert.equal(lane.extras, 16)
  assertMost(streamOf(lane), kUsual)
})
