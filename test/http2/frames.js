'use strict'

// A client of HTTP/2 that does what it is told, right or wrong: frames as bytes, header blocks without compression.

const net = require('node:net')
const { once } = require('node:events')

const kPreface = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'

const kType = { data: 0, headers: 1, priority: 2, reset: 3, settings: 4, ping: 6, goaway: 7, windowUpdate: 8, continuation: 9 }
const kEndStream = 1
const kAck = 1
const kEndHeaders = 4

/** @param {number} type @param {number} flags @param {number} stream @param {Uint8Array | string} [payload] */
function frame (type, flags, stream, payload = '') {
  const body = Buffer.from(/** @type {any} */ (payload))
  const head = Buffer.alloc(9)
  head.writeUIntBE(body.length, 0, 3)
  head[3] = type
  head[4] = flags
  head.writeUInt32BE(stream, 5)
  return Buffer.concat([head, body])
}

/** HPACK integers with a prefix of seven bits. @param {number} value */
function integer (value) {
  if (value < 127) return [value]
  const bytes = [127]
  for (value -= 127; value >= 128; value = Math.floor(value / 128)) bytes.push(128 + value % 128)
  return [...bytes, value]
}

/** @param {string} text */
function literal (text) {
  const bytes = Buffer.from(text, 'latin1')
  return Buffer.concat([Buffer.from(integer(bytes.length)), bytes])
}

/** Each field literally, without indexing. @param {[string, string][]} fields */
function block (fields) {
  return Buffer.concat(fields.flatMap(([name, value]) => [Buffer.from([0]), literal(name), literal(value)]))
}

/** @param {Record<string, string>} headers @returns {[string, string][]} */
function fieldsOf (headers) {
  const all = { ':method': 'GET', ':scheme': 'http', ':path': '/', ':authority': 'a', ...headers }
  return Object.entries(all).filter(([, value]) => value !== undefined)
}

class Frames {
  /** @param {net.Socket} socket */
  constructor (socket) {
    this.socket = socket
    /** @type {{ type: number, flags: number, stream: number, payload: Buffer }[]} */
    this.received = []
    this.waiting = () => {}
    this.isClosed = false
    let rest = Buffer.alloc(0)
    socket.on('error', () => {})
    this.closed = once(socket, 'close').then(() => {
      this.isClosed = true
      this.waiting()
    })
    socket.on('data', (chunk) => {
      rest = Buffer.concat([rest, chunk])
      while (rest.length >= 9 && rest.length >= 9 + rest.readUIntBE(0, 3)) {
        const length = rest.readUIntBE(0, 3)
        this.received.push({ type: rest[3], flags: rest[4], stream: rest.readUInt32BE(5), payload: Buffer.from(rest.subarray(9, 9 + length)) })
        rest = rest.subarray(9 + length)
      }
      this.waiting()
    })
  }

  /**
   * Connected, with settings exchanged.
   *
   * @param {import('node:test').TestContext} t
   * @param {number} port
   * @param {Buffer} [settings] payload of the client's
   */
  static async connect (t, port, settings = Buffer.alloc(0)) {
    const socket = net.connect(port, '127.0.0.1')
    t.after(() => socket.destroy())
    const frames = new Frames(socket)
    socket.write(Buffer.concat([Buffer.from(kPreface), frame(kType.settings, 0, 0, settings)]))
    await frames.next((/** @type {any} */ { type, flags }) => type === kType.settings && flags === kAck)
    socket.write(frame(kType.settings, kAck, 0))
    return frames
  }

  /** @param {Buffer | Buffer[]} bytes */
  send (bytes) {
    this.socket.write(Array.isArray(bytes) ? Buffer.concat(bytes) : bytes)
  }

  /** @param {number} stream @param {Record<string, string>} headers @param {number} [flags] */
  request (stream, headers, flags = kEndStream | kEndHeaders) {
    this.send(frame(kType.headers, flags, stream, block(fieldsOf(headers))))
  }

  /**
   * The next frame like that; those before it are passed over. Null when the connection ends first.
   *
   * @param {(frame: any) => boolean} matches
   * @returns {Promise<any>}
   */
  async next (matches) {
    for (;;) {
      const at = this.received.findIndex(matches)
      if (at >= 0) {
        const [found] = this.received.splice(0, at + 1).slice(-1)
        return found
      }
      if (this.isClosed) return null
      await new Promise((resolve) => { this.waiting = () => resolve(undefined) })
    }
  }

  /** The code of the GOAWAY that ends the connection, or null without one. */
  async goaway () {
    const found = await this.next((frame) => frame.type === kType.goaway && frame.payload.readUInt32BE(4) !== 0)
    return found === null ? null : found.payload.readUInt32BE(4)
  }

  /** The code of the RST_STREAM for a stream. @param {number} stream */
  async reset (stream) {
    const found = await this.next((frame) => frame.type === kType.reset && frame.stream === stream)
    return found === null ? null : found.payload.readUInt32BE(0)
  }
}

module.exports = { Frames, block, fieldsOf, frame, kAck, kEndHeaders, kEndStream, kPreface, kType, literal }
