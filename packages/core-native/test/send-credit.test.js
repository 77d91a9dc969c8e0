'use strict'

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { forgetExtra, hasCredit, noteReader } = require('../lib/http/socket-output')
const { State } = require('../lib/http/socket-state')
const { kLane, kState, kUnsent } = require('../lib/http/symbols')

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
