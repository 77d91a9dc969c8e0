'use strict'

// Goal: permessage-deflate is negotiated, taken apart and made as by ws on node:http, with every set of
// parameters (Autobahn's sections 12 and 13, smaller).

const { test } = require('node:test')
const assert = require('node:assert/strict')
const zlib = require('node:zlib')
const { kColumns } = require('./support/columns')
const { conform, negotiate } = require('./support/play')
const { Context, binary, close, fragments, kOpcodes, more, ping, show, text } = require('./support/frames')

/** @typedef {import('./support/play').Case} Case */

const kOffer = 'permessage-deflate'
const kOn = { perMessageDeflate: true }
const kRsv1 = { rsv: 4 }
const kJson = (/** @type {number} */ length) => JSON.stringify({ items: Array.from({ length }, (_, n) => ({ id: n, name: `item ${n}`, tags: ['one', 'two'] })) })
const kNoise = Buffer.from(Array.from({ length: 4000 }, (_, n) => (n * n * 31 + n * 17) >> 3 & 255))

/** @param {(string | Buffer)[]} messages @param {Context} [context] */
function packed (messages, context = new Context()) {
  return messages.map((message) => (typeof message === 'string' ? text : binary)(context.deflate(message), kRsv1))
}

/** @param {(string | Buffer)[]} messages */
const echoed = (messages) => messages.map((message) =>
  `${typeof message === 'string' ? 'text' : 'binary'} deflate ${show(Buffer.from(/** @type {any} */ (message)))}`)

const kMessages = [kJson(1), kJson(2), kJson(20), kNoise, kJson(3), kJson(300), 'short', '', Buffer.alloc(0), 'a'.repeat(100_000)]

/** @type {{ name: string, offer: string, options: object, client?: object, answers?: object }[]} */
const kSets = [
  { name: 'contexts taken over', offer: kOffer, options: {} },
  { name: 'no takeover by the client', offer: `${kOffer}; client_no_context_takeover`, options: {}, client: { takeover: false } },
  { name: 'no takeover by the server', offer: `${kOffer}; server_no_context_takeover`, options: { threshold: 0 }, answers: { takeover: false } },
  { name: 'no takeover at all', offer: `${kOffer}; server_no_context_takeover; client_no_context_takeover`, options: { threshold: 0 }, client: { takeover: false }, answers: { takeover: false } },
  { name: 'no takeover as the server wants it', offer: kOffer, options: { threshold: 0, serverNoContextTakeover: true, clientNoContextTakeover: true }, client: { takeover: false }, answers: { takeover: false } },
  ...[9, 10, 12, 15].flatMap((bits) => [
    { name: `a window of ${bits} bits for the server`, offer: `${kOffer}; server_max_window_bits=${bits}`, options: {}, answers: { windowBits: bits } },
    { name: `a window of ${bits} bits for the client`, offer: `${kOffer}; client_max_window_bits`, options: { clientMaxWindowBits: bits }, client: { windowBits: bits } },
  ]),
  { name: 'windows of 9 bits and no takeover', offer: `${kOffer}; client_max_window_bits; server_max_window_bits=9; server_no_context_takeover`, options: { threshold: 0, clientMaxWindowBits: 9, clientNoContextTakeover: true }, client: { windowBits: 9, takeover: false }, answers: { windowBits: 9, takeover: false } },
  { name: 'the fastest level', offer: kOffer, options: { zlibDeflateOptions: { level: 1 } } },
  { name: 'no level', offer: kOffer, options: { zlibDeflateOptions: { level: 0 } } },
  { name: 'little memory', offer: kOffer, options: { zlibDeflateOptions: { memLevel: 1 } } },
  { name: 'small chunks', offer: kOffer, options: { zlibInflateOptions: { chunkSize: 64 }, zlibDeflateOptions: { chunkSize: 64 } } },
]

/** @param {number} opcode @param {string} message @param {number} size of a fragment */
function packedFragments (opcode, message, size) {
  const payload = new Context().deflate(message)
  const pieces = Array.from({ length: Math.ceil(payload.length / size) }, (_, index) => payload.subarray(index * size, (index + 1) * size))
  return fragments(opcode, pieces, 4)
}

conform([
  ...kSets.map(({ name, offer, options, client, answers }) => ({
    name: `messages of all sizes with ${name}`,
    options: { perMessageDeflate: options },
    offer,
    answers,
    send: packed(kMessages, new Context(client)),
    expect: echoed(kMessages),
  })),
  ...[16, 64, 256, 1024, 4096, 8192, 16384, 32768, 65536, 131072].map((size) => ({
    name: `twenty messages of ${size} bytes`,
    options: kOn,
    offer: kOffer,
    send: packed(Array(20).fill(kJson(size).slice(0, size))),
    expect: echoed(Array(20).fill(kJson(size).slice(0, size))),
  })),
  ...[1, 7, 64].map((size) => ({
    name: `a compressed message in fragments of ${size} bytes`,
    options: kOn,
    offer: kOffer,
    send: packedFragments(kOpcodes.text, kJson(10), size),
    expect: echoed([kJson(10)]),
  })),
  {
    name: 'a ping between compressed fragments is answered',
    options: kOn,
    offer: kOffer,
    send: packedFragments(kOpcodes.text, kJson(1), 40).flatMap((each, index) => index === 1 ? [ping('between'), each] : [each]),
    expect: ['pong "between"', ...echoed([kJson(1)])],
  },
  {
    name: 'compressed fragments may be empty',
    options: kOn,
    offer: kOffer,
    send: fragments(kOpcodes.text, ['', new Context().deflate('a text'), ''], 4),
    expect: echoed(['a text']),
  },
  {
    name: 'a message that is not compressed is taken between others, and does not change the context',
    options: kOn,
    offer: kOffer,
    send: (() => {
      const context = new Context()
      return [text(context.deflate(kJson(5)), kRsv1), text('plain'), text(context.deflate(kJson(5)), kRsv1)]
    })(),
    expect: echoed([kJson(5), 'plain', kJson(5)]),
  },
  {
    name: 'messages below the threshold are not compressed when the context is not kept',
    options: { perMessageDeflate: { threshold: 100, serverNoContextTakeover: true } },
    offer: kOffer,
    answers: { takeover: false },
    send: [text('x'.repeat(99)), text('x'.repeat(100)), text('')],
    expect: [`text ${show(Buffer.alloc(99, 'x'))}`, `text deflate ${show(Buffer.alloc(100, 'x'))}`, 'text ""'],
  },
  {
    name: 'a server may send without compression',
    options: kOn,
    offer: kOffer,
    app: function sendsPlain (socket) {
      socket.on('message', (/** @type {Buffer} */ data, /** @type {boolean} */ binary) => {
        socket.send(data, { binary, compress: false })
        socket.send(data, { binary })
      })
    },
    send: packed(['some text', 'some text']),
    expect: ['text "some text"', 'text deflate "some text"', 'text "some text"', 'text deflate "some text"'],
  },
  {
    name: 'stored blocks are taken',
    options: kOn,
    offer: kOffer,
    send: [text(new Context().deflate('stored, not compressed', { level: 0 }), kRsv1)],
    expect: echoed(['stored, not compressed']),
  },
  {
    name: 'several blocks in a message are taken',
    options: kOn,
    offer: kOffer,
    send: [text(Buffer.concat([new Context().deflate('first '), Buffer.from('0000ffff', 'hex'), new Context().deflate('second')]), kRsv1)],
    expect: echoed(['first second']),
  },
  {
    name: 'a message that ends with a final block is taken, and the next one begins anew',
    options: kOn,
    offer: kOffer,
    send: Array(2).fill(text(Buffer.concat([zlib.deflateRawSync('final'), Buffer.of(0)]), kRsv1)),
    expect: echoed(['final', 'final']),
  },
  { name: 'a byte of an empty block is an empty message', options: kOn, offer: kOffer, send: [text(Buffer.of(0), kRsv1)], expect: echoed(['']) },
  { name: 'no byte at all is an empty message', options: kOn, offer: kOffer, send: [text('', kRsv1)], expect: echoed(['']) },

  { name: 'RSV1 in a continuation is refused', options: kOn, offer: kOffer, send: [text(new Context().deflate('a'), { fin: false, rsv: 4 }), more('', kRsv1)], expect: ['close 1002'], error: 'WS_ERR_UNEXPECTED_RSV_1' },
  { name: 'RSV1 in a ping is refused', options: kOn, offer: kOffer, send: [ping('', kRsv1)], expect: ['close 1002'], error: 'WS_ERR_UNEXPECTED_RSV_1' },
  { name: 'RSV1 in a close frame is refused', options: kOn, offer: kOffer, send: [close(1000, '', kRsv1)], expect: ['close 1002'], error: 'WS_ERR_UNEXPECTED_RSV_1' },
  { name: 'RSV2 is refused with an extension, too', options: kOn, offer: kOffer, send: [text('a', { rsv: 2 })], expect: ['close 1002'], error: 'WS_ERR_UNEXPECTED_RSV_2_3' },
  { name: 'bytes that are no DEFLATE are refused with 1007', options: kOn, offer: kOffer, send: [text(Buffer.from('ffffffff', 'hex'), kRsv1)], expect: ['close 1007'], error: 'Z_DATA_ERROR' },
  { name: 'a distance beyond the window is refused with 1007', options: kOn, offer: kOffer, send: packed(['abcabcabc abcabcabc', 'abcabcabc abcabcabc']).slice(1), expect: ['close 1007'], error: 'Z_DATA_ERROR' },
  { name: 'a message before bytes that are no DEFLATE comes back', options: kOn, offer: kOffer, send: [...packed(['good']), 1, text(Buffer.from('ffffffff', 'hex'), kRsv1)], expect: ['text deflate "good"', 'close 1007'], error: 'Z_DATA_ERROR' },
  { name: 'a compressed text that is not UTF-8 is refused with 1007', options: kOn, offer: kOffer, send: [text(new Context().deflate(Buffer.from('eda080', 'hex')), kRsv1)], expect: ['close 1007'], error: 'WS_ERR_INVALID_UTF8' },
  { name: 'a compressed message that is longer than maxPayload is refused', options: { ...kOn, maxPayload: 1000 }, offer: kOffer, send: packed(['a'.repeat(1001)]), expect: ['close 1009'], error: 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH' },
  { name: 'a compressed message as long as maxPayload comes back', options: { ...kOn, maxPayload: 1000 }, offer: kOffer, send: packed(['a'.repeat(1000)]), expect: echoed(['a'.repeat(1000)]) },
  {
    name: 'compressed fragments that are longer than maxPayload together are refused',
    options: { ...kOn, maxPayload: 1000 },
    offer: kOffer,
    send: fragments(kOpcodes.text, [Buffer.concat([new Context().deflate('a'.repeat(600)), Buffer.from('0000ffff', 'hex')]), new Context().deflate('b'.repeat(600))], 4),
    expect: ['close 1009'],
    error: 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH',
  },
  { name: 'a compressed message whose frame is longer than maxPayload is refused', options: { ...kOn, maxPayload: 1000 }, offer: kOffer, send: [binary(kNoise.subarray(0, 1001), kRsv1)], expect: ['close 1009'], error: 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH' },
])

/** Options of the server, offer, answer. @type {[object | boolean, string, string][]} */
const kNegotiations = [
  [false, kOffer, 'none'],
  [true, kOffer, kOffer],
  [true, `x-other, ${kOffer}`, kOffer],
  [true, 'x-other', 'none'],
  [true, `${kOffer}; client_max_window_bits`, kOffer],
  [true, `${kOffer}; client_max_window_bits=15`, `${kOffer}; client_max_window_bits=15`],
  ...[8, 9, 12, 15].map((bits) => /** @type {[boolean, string, string]} */ ([true, `${kOffer}; server_max_window_bits=${bits}`, `${kOffer}; server_max_window_bits=${bits}`])),
  [true, `${kOffer}; server_no_context_takeover; client_no_context_takeover`, `${kOffer}; server_no_context_takeover; client_no_context_takeover`],
  [true, `${kOffer}; server_max_window_bits=7`, '400'],
  [true, `${kOffer}; server_max_window_bits=16`, '400'],
  [true, `${kOffer}; server_max_window_bits`, '400'],
  [true, `${kOffer}; client_max_window_bits=1`, '400'],
  [true, `${kOffer}; client_no_context_takeover=1`, '400'],
  [true, `${kOffer}; unknown_parameter`, '400'],
  [true, `${kOffer}; server_max_window_bits=9; server_max_window_bits=9`, '400'],
  [true, `${kOffer};`, '400'],
  [{ serverMaxWindowBits: 12 }, kOffer, `${kOffer}; server_max_window_bits=12`],
  [{ serverMaxWindowBits: 12 }, `${kOffer}; server_max_window_bits=14`, `${kOffer}; server_max_window_bits=12`],
  [{ serverMaxWindowBits: 12 }, `${kOffer}; server_max_window_bits=10`, '400'],
  [{ serverMaxWindowBits: false }, `${kOffer}; server_max_window_bits=10`, '400'],
  [{ serverMaxWindowBits: false }, `${kOffer}; server_max_window_bits=10, ${kOffer}`, kOffer],
  [{ clientMaxWindowBits: 10 }, `${kOffer}; client_max_window_bits`, `${kOffer}; client_max_window_bits=10`],
  [{ clientMaxWindowBits: 10 }, kOffer, '400'],
  [{ serverNoContextTakeover: true }, kOffer, `${kOffer}; server_no_context_takeover`],
  [{ clientNoContextTakeover: true }, kOffer, `${kOffer}; client_no_context_takeover`],
  [{ serverNoContextTakeover: false }, `${kOffer}; server_no_context_takeover`, '400'],
]

for (const [perMessageDeflate, offer, answer] of kNegotiations) {
  test(`with ${JSON.stringify(perMessageDeflate)} the offer "${offer}" is answered ${answer}`, async () => {
    for (const column of kColumns) assert.equal(await negotiate(column, { perMessageDeflate }, offer), answer, column.name)
  })
}
