'use strict'

// Goal: long messages, long fragments and many messages come back whole; what is longer than the server's
// limits is refused before it is there (Autobahn's section 9, smaller).

const { conform } = require('./support/play')
const { binary, fragments, frame, kOpcodes, more, show, text } = require('./support/frames')

const kMany = 300
const kTooLong = 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH'
const pattern = (/** @type {number} */ length) => Buffer.from(Array.from({ length }, (_, index) => index * 31 % 251))
const cut = (/** @type {Buffer} */ bytes, /** @type {number} */ size) =>
  Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) => bytes.subarray(index * size, (index + 1) * size))

const kMegabyte = pattern(1024 * 1024)

conform([
  ...[64 * 1024, 256 * 1024, 1024 * 1024].flatMap((length) => [
    { name: `a text of ${length} bytes comes back`, send: [text(Buffer.alloc(length, 'ab€€'))], expect: [`text ${show(Buffer.alloc(length, 'ab€€'))}`] },
    { name: `binary data of ${length} bytes comes back`, send: [binary(kMegabyte.subarray(0, length))], expect: [`binary ${show(kMegabyte.subarray(0, length))}`] },
  ]),
  ...[64, 1024, 4096, 65536].map((size) => ({
    name: `256 KiB in fragments of ${size} bytes come back as one message`,
    send: fragments(kOpcodes.binary, cut(kMegabyte.subarray(0, 256 * 1024), size)),
    expect: [`binary ${show(kMegabyte.subarray(0, 256 * 1024))}`],
  })),
  ...[0, 16, 125, 1024, 16384].map((length) => ({
    name: `${kMany} messages of ${length} bytes come back in their order`,
    send: Array.from({ length: kMany }, (_, n) => text(`${n} ${'x'.repeat(length)}`)),
    expect: Array.from({ length: kMany }, (_, n) => `text ${show(Buffer.from(`${n} ${'x'.repeat(length)}`))}`),
  })),

  { name: 'a message as long as maxPayload comes back', options: { maxPayload: 1000 }, send: [binary(pattern(1000))], expect: [`binary ${show(pattern(1000))}`] },
  { name: 'a message longer than maxPayload is refused', options: { maxPayload: 1000 }, send: [binary(pattern(1001))], expect: ['close 1009'], error: kTooLong },
  { name: 'a message longer than maxPayload is refused by its announcement', options: { maxPayload: 1000 }, send: [frame(kOpcodes.text, '', { length: 1001n })], expect: ['close 1009'], error: kTooLong },
  {
    name: 'fragments that are longer than maxPayload together are refused',
    options: { maxPayload: 1000 },
    send: [text('a'.repeat(600), { fin: false }), more('a'.repeat(401))],
    expect: ['close 1009'],
    error: kTooLong,
  },
  {
    name: 'maxPayload counts each message anew',
    options: { maxPayload: 1000 },
    send: [...fragments(kOpcodes.binary, [pattern(500), pattern(500)]), ...fragments(kOpcodes.binary, [pattern(500), pattern(500)])],
    expect: Array(2).fill(`binary ${show(Buffer.concat([pattern(500), pattern(500)]))}`),
  },
  { name: 'a control frame is not held against maxPayload', options: { maxPayload: 10 }, send: [frame(kOpcodes.ping, 'more than ten')], expect: ['pong "more than ten"'] },
  { name: 'more than 100 MiB are refused by their announcement', send: [frame(kOpcodes.binary, '', { length: 100n * 1024n * 1024n + 1n })], expect: ['close 1009'], error: kTooLong },
  ...[2n ** 32n, 2n ** 53n - 1n].map((length) => ({
    name: `an announced length of ${length} is refused`, send: [frame(kOpcodes.binary, '', { length })], expect: ['close 1009'], error: kTooLong,
  })),
  ...[2n ** 53n, 2n ** 63n - 1n, 2n ** 63n, 2n ** 64n - 1n].map((length) => ({
    name: `an announced length of ${length} is refused`, send: [frame(kOpcodes.binary, '', { length })], expect: ['close 1009'], error: 'WS_ERR_UNSUPPORTED_DATA_PAYLOAD_LENGTH',
  })),
])
