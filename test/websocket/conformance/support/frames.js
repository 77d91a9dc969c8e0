'use strict'

// Frames of RFC 6455 as bytes, those of a client made by hand and those of a server taken apart, and
// permessage-deflate (RFC 7692) with contexts that are kept as dictionaries.

const { createHash } = require('node:crypto')
const zlib = require('node:zlib')

const kOpcodes = /** @type {const} */ ({ continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 })
const kMask = Buffer.from('a1b2c3d4', 'hex')
const kTail = Buffer.from('0000ffff', 'hex')
const kWindow = 32 * 1024
const kShownBytes = 60

/**
 * @param {number} opcode
 * @param {string | Buffer} [payload]
 * @param {object} [options]
 * @param {boolean} [options.fin]
 * @param {number} [options.rsv] three bits, 4 is RSV1
 * @param {Buffer | null} [options.mask] null: not masked, as a client must not send it
 * @param {0 | 2 | 8} [options.lengthBytes] by default the shortest form
 * @param {bigint} [options.length] that is announced, by default that of the payload
 * @returns {Buffer}
 */
function frame (opcode, payload = '', { fin = true, rsv = 0, mask = kMask, lengthBytes, length } = {}) {
  const data = Buffer.from(/** @type {any} */ (payload))
  const announced = length ?? BigInt(data.length)
  const form = lengthBytes ?? (announced < 126n ? 0 : announced < 65536n ? 2 : 8)
  const header = Buffer.alloc(2 + form)
  header[0] = (fin ? 0x80 : 0) | rsv << 4 | opcode
  header[1] = (mask === null ? 0 : 0x80) | (form === 0 ? Number(announced) : form === 2 ? 126 : 127)
  if (form === 2) header.writeUInt16BE(Number(announced), 2)
  if (form === 8) header.writeBigUInt64BE(announced, 2)
  if (mask === null) return Buffer.concat([header, data])
  return Buffer.concat([header, mask, data.map((byte, index) => byte ^ mask[index % 4])])
}

/** @typedef {Parameters<typeof frame>[2]} FrameOptions */

const text = (/** @type {string | Buffer} */ payload, /** @type {FrameOptions} */ options) => frame(kOpcodes.text, payload, options)
const binary = (/** @type {string | Buffer} */ payload, /** @type {FrameOptions} */ options) => frame(kOpcodes.binary, payload, options)
const more = (/** @type {string | Buffer} */ payload, /** @type {FrameOptions} */ options) => frame(kOpcodes.continuation, payload, options)
const ping = (/** @type {string | Buffer} */ payload, /** @type {FrameOptions} */ options) => frame(kOpcodes.ping, payload, options)
const pong = (/** @type {string | Buffer} */ payload, /** @type {FrameOptions} */ options) => frame(kOpcodes.pong, payload, options)

/** @param {number} [code] none: an empty close frame @param {string | Buffer} [reason] @param {FrameOptions} [options] */
function close (code, reason = '', options = {}) {
  if (code === undefined) return frame(kOpcodes.close, '', options)
  const head = Buffer.alloc(2)
  head.writeUInt16BE(code)
  return frame(kOpcodes.close, Buffer.concat([head, Buffer.from(/** @type {any} */ (reason))]), options)
}

/**
 * @param {number} opcode of the message
 * @param {(string | Buffer)[]} pieces
 * @param {number} [rsv] of the first frame
 * @returns {Buffer[]} a frame for each
 */
function fragments (opcode, pieces, rsv = 0) {
  return pieces.map((piece, index) =>
    frame(index === 0 ? opcode : 0, piece, { fin: index === pieces.length - 1, rsv: index === 0 ? rsv : 0 }))
}

/** @param {Buffer} payload @returns {string} what of it is compared: all, or its length and hash */
function show (payload) {
  if (payload.length > kShownBytes) return `${payload.length} bytes ${createHash('sha1').update(payload).digest('hex').slice(0, 8)}`
  const string = payload.toString()
  return Buffer.from(string).equals(payload) ? JSON.stringify(string) : `<${payload.toString('hex')}>`
}

/** One direction of a compressed connection. */
class Context {
  #history = Buffer.alloc(0)
  #windowBits
  #takeover

  /** @param {{ windowBits?: number, takeover?: boolean }} [options] */
  constructor ({ windowBits = 15, takeover = true } = {}) {
    this.#windowBits = windowBits
    this.#takeover = takeover
  }

  get #options () {
    const dictionary = this.#history.length === 0 ? undefined : this.#history
    return { windowBits: this.#windowBits, finishFlush: zlib.constants.Z_SYNC_FLUSH, dictionary }
  }

  /** @param {Buffer} data */
  #keep (data) {
    if (!this.#takeover) return
    this.#history = Buffer.concat([this.#history, data]).subarray(-kWindow)
  }

  /** @param {string | Buffer} message @param {zlib.ZlibOptions} [options] @returns {Buffer} a payload */
  deflate (message, options = {}) {
    const data = Buffer.from(/** @type {any} */ (message))
    const packed = data.length === 0 ? Buffer.of(0) : zlib.deflateRawSync(data, { ...this.#options, ...options }).subarray(0, -4)
    this.#keep(data)
    return packed
  }

  /** @param {Buffer} payload @returns {Buffer} */
  inflate (payload) {
    const data = zlib.inflateRawSync(Buffer.concat([payload, kTail]), this.#options)
    this.#keep(data)
    return data
  }
}

/** Takes a server's bytes apart and notes each message: `text "a"`, `close 1000 "bye"`, `text deflate "a"`. */
class Reader {
  #bytes = Buffer.alloc(0)
  #context
  #message = /** @type {{ name: string, isCompressed: boolean, parts: Buffer[] } | null} */ (null)
  /** @type {string[]} */
  messages = []

  /** @param {Context} [context] where compression was negotiated */
  constructor (context) {
    this.#context = context
  }

  /** @param {Buffer} piece */
  push (piece) {
    this.#bytes = Buffer.concat([this.#bytes, piece])
    while (this.#take());
  }

  /** @returns {boolean} whether there was a whole frame */
  #take () {
    const bytes = this.#bytes
    if (bytes.length < 2) return false
    const form = bytes[1] < 126 ? 0 : bytes[1] === 126 ? 2 : 8
    if (bytes.length < 2 + form) return false
    const length = form === 0 ? bytes[1] : form === 2 ? bytes.readUInt16BE(2) : Number(bytes.readBigUInt64BE(2))
    const end = 2 + form + length
    if (bytes.length < end) return false
    if ((bytes[1] & 0x80) !== 0) this.messages.push('MASKED')
    if ((bytes[0] & 0x30) !== 0) this.messages.push('RSV2 OR RSV3')
    this.#bytes = bytes.subarray(end)
    this.#frame(bytes[0] & 0x0f, (bytes[0] & 0x80) !== 0, (bytes[0] & 0x40) !== 0, bytes.subarray(2 + form, end))
    return true
  }

  /** @param {number} opcode @param {boolean} fin @param {boolean} isCompressed @param {Buffer} payload */
  #frame (opcode, fin, isCompressed, payload) {
    if (opcode === kOpcodes.close) {
      this.messages.push(payload.length === 0 ? 'close' : `close ${payload.readUInt16BE(0)}${payload.length === 2 ? '' : ` ${show(payload.subarray(2))}`}`)
    } else if (opcode > kOpcodes.close) {
      this.messages.push(`${opcode === kOpcodes.ping ? 'ping' : 'pong'} ${show(payload)}`)
    } else {
      if (opcode !== 0) this.#message = { name: opcode === kOpcodes.text ? 'text' : 'binary', isCompressed, parts: [] }
      if (this.#message === null) {
        this.messages.push('A CONTINUATION OF NOTHING')
        return
      }
      this.#message.parts.push(payload)
      if (!fin) return
      const { name, isCompressed: isPacked, parts } = this.#message
      const data = Buffer.concat(parts)
      this.messages.push(`${name}${isPacked ? ' deflate' : ''} ${show(isPacked && this.#context !== undefined ? this.#context.inflate(data) : data)}`)
      this.#message = null
    }
  }
}

module.exports = { Context, Reader, binary, close, fragments, frame, kOpcodes, more, ping, pong, show, text }
