'use strict'

// Goal: an application that reads a body at once may be sent more of it ahead, one that does not keeps the window that it has asked
// for, and what nobody reads is bounded. Method: frames by hand, as much as the windows allow.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const { Frames, block, fieldsOf, frame, kEndHeaders, kType } = require('./frames')
const { serve } = require('./kit')
const { backend } = require('../helpers/backend')

const options = { skip: backend === 'node' && 'HTTP/2 without TLS on a server of node:http is ours', timeout: 60_000 }
const kKiB = 1024
const kUsual = 128 * kKiB
const kMost = kKiB * kKiB
const kPiece = Buffer.alloc(16 * kKiB, 'u')

/** A client that sends a body on stream 1. */
class Upload {
  /** @param {Frames} wire @param {number} windowBytes that the server gives a stream */
  constructor (wire, windowBytes) {
    this.wire = wire
    this.window = windowBytes
    this.connectionWindow = 64 * kKiB - 1
    this.sent = 0
    wire.socket.setNoDelay()
    wire.send(frame(kType.headers, kEndHeaders, 1, block(fieldsOf({ ':method': 'POST' }))))
  }

  /** Adds what the server has given since. */
  look () {
    for (const { type, stream, payload } of this.wire.received.splice(0)) {
      if (type !== kType.windowUpdate) continue
      if (stream === 1) this.window += payload.readUInt32BE(0)
      else this.connectionWindow += payload.readUInt32BE(0)
    }
  }

  /** Sends as much as it may. @returns {boolean} whether that was anything */
  push () {
    this.look()
    const before = this.sent
    while (this.window > 0 && this.connectionWindow > 0) {
      const piece = kPiece.subarray(0, Math.min(kPiece.length, this.window, this.connectionWindow))
      this.wire.send(frame(kType.data, 0, 1, piece))
      this.window -= piece.length
      this.connectionWindow -= piece.length
      this.sent += piece.length
    }
    return this.sent !== before
  }

  /** Sends until the server gives nothing more. @returns {Promise<number>} the bytes that were sent */
  async fill () {
    for (let still = 0; still < 10;) {
      still = this.push() ? 0 : still + 1
      await settled(this.wire)
    }
    return this.sent
  }
}

/** Whatever was sent before has been handled, and JavaScript had time to read it. @param {Frames} wire */
async function settled (wire) {
  const isAnswer = (/** @type {any} */ { type, flags }) => type === kType.ping && flags === 1
  wire.send(frame(kType.ping, 0, 0, Buffer.alloc(8, 1)))
  while (!wire.received.some(isAnswer)) {
    assert.ok(!wire.isClosed, 'the server has closed the connection')
    await new Promise((resolve) => { wire.waiting = () => resolve(undefined) })
  }
  wire.received.splice(wire.received.findIndex(isAnswer), 1)
  await turns()
}

async function turns () {
  for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate)
}

/** @param {import('node:test').TestContext} t @param {(req: any) => void} handler @param {number} [initialWindowSize] */
async function begin (t, handler, initialWindowSize) {
  const { port } = await serve(t, handler, initialWindowSize === undefined ? {} : { http2: { initialWindowSize } })
  return new Upload(await Frames.connect(t, port), initialWindowSize ?? kUsual)
}

/**
 * Sends until this is true. A server ends a connection with many more PINGs than the rest of the test sends.
 *
 * @param {Upload} upload
 * @param {() => boolean} isEnough
 */
async function pushUntil (upload, isEnough) {
  for (;;) {
    upload.look()
    if (isEnough()) return
    upload.push()
    await turns()
  }
}

test('an application that reads a body at once has up to 1 MiB sent ahead', options, async (t) => {
  const upload = await begin(t, (req) => req.resume())
  await pushUntil(upload, () => upload.window > 512 * kKiB)
  const { sent } = upload
  await pushUntil(upload, () => {
    assert.ok(upload.window <= kMost, `${upload.window} bytes`)
    return upload.sent >= sent + 32 * kMost
  })
})

test('a body that nobody reads ends with the usual window', options, async (t) => {
  const upload = await begin(t, () => {})
  assert.equal(await upload.fill(), kUsual)
})

test('a body that is not read any more has at most 1 MiB on its way', options, async (t) => {
  const read = { bytes: 0 }
  /** @type {any} */
  let request
  const upload = await begin(t, (req) => {
    request = req
    req.on('data', (/** @type {Buffer} */ piece) => { read.bytes += piece.length })
  })
  await pushUntil(upload, () => upload.window > 512 * kKiB)
  request.pause()
  const ahead = await upload.fill() - read.bytes
  assert.ok(ahead <= kMost, `${ahead} bytes are not read`)
  // Once somebody reads again, all of it arrives.
  request.resume()
  while (read.bytes < upload.sent) await settled(upload.wire)
})

test('a window that is smaller than usual stays as it is', options, async (t) => {
  const kSmall = 64 * kKiB
  const upload = await begin(t, (req) => req.resume(), kSmall)
  await pushUntil(upload, () => {
    assert.ok(upload.window <= kSmall, `${upload.window} bytes`)
    return upload.sent >= 16 * kMost
  })
})
