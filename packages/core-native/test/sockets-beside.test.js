'use strict'

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { SocketsBeside } = require('../lib/listen/sockets-beside')

/** @param {number} port @param {string} [host] */
const socketAt = (port, host) => ({ endpoint: { port, ...(host !== undefined && { host }) }, handle: /** @type {any} */ ({}) })

test('sockets beside the own one cover what a wildcard or their own address does', () => {
  const beside = new SocketsBeside()
  const [narrow, twin, wide] = [socketAt(80, '127.0.0.1'), socketAt(80, '127.0.0.1'), socketAt(81)]
  for (const socket of [narrow, twin, wide]) beside.add(socket)
  assert.equal(beside.covers({ port: 80, host: '127.0.0.1' }), true)
  assert.equal(beside.covers({ port: 80, host: '127.0.0.2' }), false)
  assert.equal(beside.covers({ port: 80 }), false)
  assert.equal(beside.covers({ port: 81 }), true)
  assert.equal(beside.covers({ port: 81, host: '127.0.0.2' }), true)
  assert.equal(beside.covers({ port: 82 }), false)
  beside.delete(narrow)
  assert.equal(beside.covers({ port: 80, host: '127.0.0.1' }), true, 'the other one is there')
  beside.delete(twin)
  beside.delete(twin)
  assert.equal(beside.covers({ port: 80, host: '127.0.0.1' }), false)
})

test('sockets beside the own one are found by endpoint and by port, and keep their order', () => {
  const beside = new SocketsBeside()
  assert.equal(beside.first(), undefined)
  const [first, second, third, fourth] = [socketAt(80, '127.0.0.2'), socketAt(81), socketAt(80, '127.0.0.1'), socketAt(80, '127.0.0.2')]
  for (const socket of [first, second, third, fourth]) beside.add(socket)
  assert.deepEqual(beside.at({ port: 80, host: '127.0.0.2' }), [first, fourth])
  assert.deepEqual(beside.at({ port: 81 }), [second])
  assert.deepEqual(beside.at({ port: 80 }), [])
  assert.deepEqual(new Set(beside.ofPort(80)), new Set([first, third, fourth]))
  assert.deepEqual(beside.ofPort(82), [])
  assert.equal(beside.first(), first)
  beside.delete(first)
  assert.equal(beside.first(), second)
  const taken = beside.take()
  assert.equal(taken.length, 3)
  for (const [at, socket] of [second, third, fourth].entries()) assert.equal(taken[at], socket)
  assert.deepEqual([beside.take(), beside.ofPort(80), beside.first()], [[], [], undefined])
})
