'use strict'

// A client that asks for HTTP/2 by `Upgrade: h2c`, by hand.

const { once } = require('node:events')
const net = require('node:net')
const { apart } = require('../helpers/waiting')
const { Frames, frame, kAck, kEndStream, kPreface, kType } = require('./frames')

const kLines = 'Host: a\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n'

/** @param {import('node:test').TestContext} t @param {number} port @param {...string} pieces of the request */
async function begin (t, port, ...pieces) {
  const socket = net.connect(port, '127.0.0.1')
  t.after(() => socket.destroy())
  socket.on('error', () => {}).setNoDelay()
  for (const [i, piece] of pieces.entries()) {
    if (i !== 0) await apart(5)
    socket.write(piece)
  }
  let head = ''
  while (!head.includes('\r\n\r\n')) head += (await once(socket, 'data'))[0].toString('latin1')
  return { socket, head: head.slice(0, head.indexOf('\r\n\r\n')), rest: Buffer.from(head.slice(head.indexOf('\r\n\r\n') + 4), 'latin1') }
}

/** As a client of HTTP/2 from here on. @param {{ socket: net.Socket, rest: Buffer }} begun */
function goOn ({ socket, rest }) {
  const wire = new Frames(socket)
  socket.emit('data', rest)
  socket.write(Buffer.concat([Buffer.from(kPreface), frame(kType.settings, 0, 0), frame(kType.settings, kAck, 0)]))
  return wire
}

/** @param {Frames} wire @param {number} stream */
async function bodyOf (wire, stream) {
  const pieces = []
  for (;;) {
    const { flags, payload } = await wire.next((/** @type {any} */ each) => each.type === kType.data && each.stream === stream)
    pieces.push(payload)
    if ((flags & kEndStream) !== 0) return Buffer.concat(pieces).toString()
  }
}

module.exports = { begin, bodyOf, goOn, kLines }
