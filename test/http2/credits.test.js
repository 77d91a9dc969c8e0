'use strict'

// Goal: what the streams of a connection have unsent is bounded for all of them together, costs no more than on stock Node, and
// none holds up another one. Method: frames by hand, so that windows open when the test says so.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const { once } = require('node:events')
const { Frames, block, fieldsOf, frame, kType } = require('./frames')
const { serve } = require('./kit')
const { backend } = require('../helpers/backend')
const { startChild } = require('../helpers/child')

const options = { skip: backend === 'node' && 'HTTP/2 without TLS on a server of node:http is ours', timeout: 120_000 }
const kKiB = 1024
const kPieceBytes = 8 * kKiB
const kStreams = 100
// What Node's streams buffer, each, before they ask to wait: 16 KiB, and the piece that fills them up. Beside that a client
// that reads nothing has 128 KiB (stream-credit.js: kAheadBytes).
const kUnsentBytesMax = 128 * kKiB + kStreams * (16 * kKiB + kPieceBytes)
// What the test reads of a stream, more than any stream may have unsent.
const kReadBytes = 8 * kKiB * kKiB

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

/** A handler that writes as long as it may, and counts what was accepted. @param {any} written bytes by path @param {number} bytes of a piece */
function endless (written, bytes = kPieceBytes) {
  const piece = Buffer.alloc(bytes, 'x')
  return (/** @type {any} */ req, /** @type {any} */ res) => {
    written[req.url] = 0
    const more = () => {
      do written[req.url] += bytes
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

/**
 * Opens the window of a stream, reads all that comes through it, and waits until the handler has written as far ahead as it may.
 *
 * @param {Frames} wire
 * @param {number} id
 * @param {Record<string, number>} written
 * @returns {Promise<number>} bytes that the stream has accepted and not sent: these, and how long a round takes, are its speed
 */
async function readAhead (wire, id, written) {
  wire.send(windowUpdate(id, kReadBytes))
  await readStreams(wire, [id], kReadBytes, true)
  await settled(wire)
  return written[`/${id}`] - kReadBytes
}

/** @type {[number, number, string][]} */
const kStalled = [
  [0, kPieceBytes, 'closed windows'],
  [64 * kKiB - 1, kPieceBytes, 'windows that have filled up'],
  [64 * kKiB - 1, 30 * kKiB, 'windows that have filled up, and larger pieces,']
]

for (const [windowBytes, pieceBytes, name] of kStalled) {
  test(`streams with ${name} share their credit, and one that is read goes on as if it were alone`, options, async (t) => {
    const written = /** @type {Record<string, number>} */ ({})
    const { port } = await serve(t, endless(written, pieceBytes))
    const open = async (/** @type {number[]} */ ids) => {
      const wire = await Frames.connect(t, port, windowSetting(windowBytes))
      wire.send(windowUpdate(0, 2 ** 31 - 1 - 65535))
      for (const id of ids) wire.request(id, { ':path': `/${id}` })
      await readStreams(wire, ids, windowBytes)
      await settled(wire)
      return wire
    }
    const fast = streamIds[kStreams - 1]
    const ahead = await readAhead(await open([fast]), fast, written) - windowBytes
    assert.ok(ahead >= 128 * kKiB, `alone it is ${ahead} bytes ahead`)
    const wire = await open(streamIds)
    const unsent = total(written) - kStreams * windowBytes
    if (pieceBytes === kPieceBytes) assert.ok(unsent <= kUnsentBytesMax, `${unsent} bytes are unsent`)
    const besideStalled = await readAhead(wire, fast, written) - windowBytes
    // The lane tells of what has left in steps of 64 KiB.
    assert.ok(besideStalled >= ahead / 2, `${besideStalled} bytes ahead, ${ahead} alone`)
    for (const id of streamIds) {
      if (id !== fast) assert.ok(written[`/${id}`] <= windowBytes + 256 * kKiB + 2 * pieceBytes)
    }
  })
}

const kConnections = 40
// What two runs of the same program differ by.
const kNoisePart = 0.15

/** @param {import('node:test').TestContext} t @param {boolean} isStock @param {string} kind @returns {Promise<number>} MiB */
async function stalledGrowth (t, isStock, kind) {
  const child = startChild(({ http, report, args: [isStock, kind, bytes] }) => {
    const { gc } = /** @type {any} */ (globalThis)
    const shared = Buffer.alloc(bytes, 'x')
    const pieces = /** @type {Record<string, () => any>} */ ({
      'one Buffer': () => shared,
      text: () => shared.latin1Slice()
    })
    const piece = pieces[kind]
    const handler = (/** @type {any} */ _req, /** @type {any} */ res) => {
      const more = () => { while (res.write(piece())); }
      res.on('drain', more)
      more()
    }
    const server = isStock ? require('node:http2').createServer(handler) : http.createServer(/** @type {any} */ ({ http2: true }), handler)
    const rss = () => {
      gc()
      return process.memoryUsage.rss() / 2 ** 20
    }
    process.on('message', () => report({ rss: rss() }))
    server.listen(0, '127.0.0.1', () => report({ port: /** @type {any} */ (server.address()).port, before: rss() }))
  }, { args: [isStock, kind, kPieceBytes], flags: ['--expose-gc'] })
  t.after(() => child.kill())
  const port = await child.message('port')
  for (let i = 0; i < kConnections; i++) {
    const wire = await Frames.connect(t, port, windowSetting(0))
    wire.send(streamIds.map((id) => frame(kType.headers, 5, id, block(fieldsOf({ ':path': `/${id}` })))))
    await readStreams(wire, streamIds, 0)
  }
  child.send('rss')
  const growth = await child.message('rss') - await child.message('before')
  await child.kill()
  return growth
}

for (const kind of ['one Buffer', 'text']) {
  test(`${kConnections} connections that open no window cost no more than on stock Node: ${kind}`, options, async (t) => {
    const stock = await stalledGrowth(t, true, kind)
    const ours = await stalledGrowth(t, false, kind)
    t.diagnostic(`${ours.toFixed(1)} MiB, stock ${stock.toFixed(1)}`)
    assert.ok(ours <= stock * (1 + kNoisePart), `${ours} MiB, stock ${stock}`)
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

test('100 streams that wait for each other and for windows that open little by little get all that is theirs', options, async (t) => {
  const bodyBytes = 100_000
  const stepBytes = 10_000
  const bodyOf = (/** @type {string} */ url) => Buffer.alloc(bodyBytes, url)
  const finished = /** @type {Promise<any>[]} */ ([])
  const { port } = await serve(t, async (/** @type {any} */ req, /** @type {any} */ res) => {
    const body = bodyOf(req.url)
    finished.push(once(res, 'finish'))
    // Text, small pieces and ones that are not copied.
    for (let at = 0, bytes = 500; at < bodyBytes; at += bytes, bytes = bytes * 3 % 7001) {
      const piece = body.subarray(at, at + bytes)
      if (!res.write(bytes % 2 === 0 ? piece : piece.latin1Slice())) await once(res, 'drain')
    }
    res.end()
  })
  const wire = await Frames.connect(t, port, windowSetting(0))
  wire.send(windowUpdate(0, 2 ** 31 - 1 - 65535))
  for (const id of streamIds) wire.request(id, { ':path': `/${id}` })
  await readStreams(wire, streamIds, 0)
  const bodies = new Map(streamIds.map((id) => [id, /** @type {Buffer[]} */ ([])]))
  for (let at = 0; at < bodyBytes; at += stepBytes) {
    wire.send(streamIds.map((id) => windowUpdate(id, stepBytes)))
    for (const [id, pieces] of await readStreams(wire, streamIds, stepBytes, true)) bodies.get(id)?.push(...pieces)
  }
  for (const id of streamIds) assert.ok(Buffer.concat(/** @type {Buffer[]} */ (bodies.get(id))).equals(bodyOf(`/${id}`)), `stream ${id}`)
  assert.equal(finished.length, kStreams)
  await Promise.all(finished)
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
