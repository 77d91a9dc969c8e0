'use strict'

// Goal: what the streams of a connection have unsent is bounded for all of them together, and none holds up another one.
// Method: frames by hand, so that windows open when the test says so.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const { once } = require('node:events')
const { Frames, frame, kType } = require('./frames')
const { serve } = require('./kit')
const { backend } = require('../helpers/backend')

const options = { skip: backend === 'node' && 'HTTP/2 without TLS on a server of node:http is ours', timeout: 120_000 }
const kKiB = 1024
const kPieceBytes = 8 * kKiB
const kStreams = 100
// stream-credit.js: 1 MiB for all, 16 KiB for each stream, and a piece that begins below that. Above it a response buffers
// what Node's does: 16 KiB, and the piece that fills them up.
const kUnsentBytesMax = kKiB * kKiB + kStreams * 2 * (16 * kKiB + kPieceBytes)

/** @param {number} bytes of a stream's window when it is opened */
function windowSetting (bytes) {
  const setting = Buffer.from([0, 4, 0, 0, 0, 0])
  setting.writeUInt32BE(bytes, 2)
  return setting
}

/** @param {number} stream 0 = the connection's @param {number} bytes */
function windowUpdate (stream, bytes) {
  const payload = Buffer.alloc(4)
  payload.writeUInt32BE(bytes)
  return frame(kType.windowUpdate, 0, stream, payload)
}

const streamIds = Array.from({ length: kStreams }, (_, i) => 2 * i + 1)

/** A handler that writes as long as it may, and counts what was accepted. @param {any} written bytes by path */
function endless (written) {
  const piece = Buffer.alloc(kPieceBytes, 'x')
  return (/** @type {any} */ req, /** @type {any} */ res) => {
    written[req.url] = 0
    const more = () => {
      do written[req.url] += kPieceBytes
      while (res.write(piece))
    }
    res.on('drain', more)
    more()
  }
}

/** @param {Record<string, number>} written */
const total = (written) => Object.values(written).reduce((sum, bytes) => sum + bytes, 0)

/**
 * Reads until each of these streams has so many bytes of body, and its head, unless that was read before.
 *
 * @param {Frames} wire
 * @param {number[]} ids
 * @param {number} bytes
 * @param {boolean} [hasHeads]
 * @returns {Promise<Map<number, Buffer[]>>} what they got
 */
async function readStreams (wire, ids, bytes, hasHeads = false) {
  const got = new Map(ids.map((id) => [id, /** @type {Buffer[]} */ ([])]))
  const left = new Map(ids.map((id) => [id, bytes]))
  const heads = new Set(hasHeads ? [] : ids)
  while (left.size !== 0 || heads.size !== 0) {
    const next = await wire.next(() => true)
    assert.ok(next !== null, 'the connection has ended')
    const { type, stream, payload } = next
    if (type === kType.headers) heads.delete(stream)
    if (type === kType.data) {
      got.get(stream)?.push(payload)
      left.set(stream, (left.get(stream) ?? 0) - payload.length)
    }
    if (!heads.has(stream) && (left.get(stream) ?? 0) <= 0) left.delete(stream)
  }
  return got
}

/** Whatever was sent before has been handled. @param {Frames} wire */
async function settled (wire) {
  wire.send(frame(kType.ping, 0, 0, Buffer.alloc(8, 1)))
  await wire.next((/** @type {any} */ { type, flags }) => type === kType.ping && flags === 1)
  for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate)
}

for (const [windowBytes, name] of /** @type {[number, string][]} */ ([[0, 'closed windows'], [64 * kKiB - 1, 'windows that have filled up']])) {
  test(`streams with ${name} share their credit, and one that is read goes on`, options, async (t) => {
    const written = /** @type {Record<string, number>} */ ({})
    const { port } = await serve(t, endless(written))
    const wire = await Frames.connect(t, port, windowSetting(windowBytes))
    wire.send(windowUpdate(0, 2 ** 31 - 1 - 65535))
    for (const id of streamIds) wire.request(id, { ':path': `/${id}` })
    await readStreams(wire, streamIds, windowBytes)
    await settled(wire)
    const unsent = total(written) - kStreams * windowBytes
    assert.ok(unsent <= kUnsentBytesMax, `${unsent} bytes are unsent`)
    // One that is read.
    const fast = streamIds[kStreams - 1]
    let bytes = 0
    wire.socket.removeAllListeners('data')
    wire.send(windowUpdate(fast, 2 ** 31 - 1 - windowBytes))
    while (bytes < 32 * kKiB * kKiB) {
      const [chunk] = await once(wire.socket, 'data')
      bytes += chunk.length
    }
    for (const id of streamIds) {
      if (id !== fast) assert.ok(written[`/${id}`] <= windowBytes + 256 * kKiB + 2 * kPieceBytes)
    }
  })
}

test('100 streams whose windows open late get all that is theirs', options, async (t) => {
  const bodyOf = (/** @type {string} */ url) => Buffer.alloc(150_000, url)
  const { port } = await serve(t, (/** @type {any} */ req, /** @type {any} */ res) => {
    const body = bodyOf(req.url)
    for (let at = 0; at < body.length; at += 10_000) res.write(body.subarray(at, at + 10_000))
    res.end()
  })
  const wire = await Frames.connect(t, port, windowSetting(0))
  wire.send(windowUpdate(0, 2 ** 31 - 1 - 65535))
  for (const id of streamIds) wire.request(id, { ':path': `/${id}` })
  await readStreams(wire, streamIds, 0)
  await settled(wire)
  wire.send(streamIds.map((id) => windowUpdate(id, 200_000)))
  const bodies = await readStreams(wire, streamIds, 150_000, true)
  for (const id of streamIds) assert.ok(Buffer.concat(/** @type {Buffer[]} */ (bodies.get(id))).equals(bodyOf(`/${id}`)), `stream ${id}`)
})

test('streams that end give back what they had of the credit', options, async (t) => {
  const written = /** @type {Record<string, number>} */ ({})
  const { port } = await serve(t, endless(written))
  const wire = await Frames.connect(t, port, windowSetting(0))
  wire.send(windowUpdate(0, 2 ** 31 - 1 - 65535))
  const rounds = 5
  for (let round = 0; round < rounds; round++) {
    const ids = streamIds.map((id) => id + 2 * kStreams * round)
    for (const id of ids) wire.request(id, { ':path': `/${id}` })
    await readStreams(wire, ids, 0)
    await settled(wire)
    wire.send(ids.map((id) => frame(kType.reset, 0, id, Buffer.from([0, 0, 0, 8]))))
    await settled(wire)
  }
  // The first of each round has what a stream may have while nobody else wants it.
  const first = streamIds.map((id) => written[`/${id}`])
  const last = streamIds.map((id) => written[`/${id + 2 * kStreams * (rounds - 1)}`])
  assert.deepEqual(last, first)
})
