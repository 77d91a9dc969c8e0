'use strict'

// A client that sends what it is told, byte by byte.

const { once } = require('node:events')
const net = require('node:net')

const kEndOfHead = '\r\n\r\n'

/**
 * A masked frame; `first` is the first byte.
 *
 * @param {number} first
 * @param {Buffer | string} payload
 * @param {{ mask?: boolean }} [options]
 */
function frame (first, payload, { mask = true } = {}) {
  const data = Buffer.from(payload)
  const head = [first]
  const bit = mask ? 0x80 : 0
  if (data.length < 126) head.push(bit | data.length)
  else if (data.length < 65536) head.push(bit | 126, data.length >> 8, data.length & 0xff)
  else head.push(bit | 127, 0, 0, 0, 0, data.length >>> 24, data.length >>> 16 & 0xff, data.length >>> 8 & 0xff, data.length & 0xff)
  if (!mask) return Buffer.concat([Buffer.from(head), data])
  const key = [1, 2, 3, 4]
  return Buffer.concat([Buffer.from([...head, ...key]), data.map((byte, i) => byte ^ key[i & 3])])
}

class RawClient {
  // Joined when somebody looks: with each piece, twenty megabytes would be copied hundreds of times.
  /** @type {Buffer[]} */
  #pieces = []
  #length = 0

  /** @param {net.Socket} socket */
  constructor (socket) {
    this.socket = socket
    this.hasEnded = false
    this.wake = () => {}
    socket.on('data', (chunk) => {
      this.#pieces.push(chunk)
      this.#length += chunk.length
      this.wake()
    })
    for (const event of ['end', 'close', 'error']) {
      socket.on(event, () => {
        this.hasEnded = true
        socket.end()
        this.wake()
      })
    }
  }

  /** @param {number} port @param {{ headers?: string[], head?: Buffer, endsAtOnce?: boolean }} [options] */
  static async connect (port, { headers = [], head = Buffer.alloc(0), endsAtOnce = false } = {}) {
    const socket = net.connect({ port, host: '127.0.0.1', allowHalfOpen: true })
    await once(socket, 'connect')
    const client = new RawClient(socket)
    socket.write(Buffer.concat([Buffer.from([
      'GET / HTTP/1.1', 'Host: a', 'Upgrade: websocket', 'Connection: Upgrade', 'Sec-WebSocket-Version: 13',
      'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==', ...headers
    ].join('\r\n') + kEndOfHead), head]))
    if (endsAtOnce) socket.end()
    while (!client.received.includes(kEndOfHead)) await client.until(client.received.length + 1)
    const at = client.received.indexOf(kEndOfHead) + kEndOfHead.length
    client.head = client.received.subarray(0, at).toString('latin1')
    client.#pieces = [client.received.subarray(at)]
    client.#length -= at
    return client
  }

  get received () {
    if (this.#pieces.length !== 1) this.#pieces = [Buffer.concat(this.#pieces)]
    return this.#pieces[0]
  }

  /** @param {Buffer[]} frames */
  write (...frames) {
    this.socket.write(Buffer.concat(frames))
  }

  /** Until so many bytes have come, or the end. @param {number} bytes */
  async until (bytes) {
    while (this.#length < bytes && !this.hasEnded) {
      await new Promise((/** @type {(value?: any) => void} */ resolve) => { this.wake = resolve })
    }
    return this.received
  }

  /** Until the server has ended. */
  async end () {
    await this.until(Infinity)
    return this.received
  }
}

module.exports = { RawClient, frame }
