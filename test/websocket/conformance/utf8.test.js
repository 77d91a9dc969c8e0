'use strict'

// Goal: texts are UTF-8 or refused with 1007, wherever their fragments and segments part them
// (Autobahn's section 6).

const { conform } = require('./support/play')
const { binary, close, fragments, kOpcodes, more, ping, show, text } = require('./support/frames')

/** @typedef {import('./support/play').Case} Case */

const kInvalid = 'WS_ERR_INVALID_UTF8'
const kGreek = Buffer.from('κόσμε')
const hex = (/** @type {string} */ digits) => Buffer.from(digits.replaceAll(' ', ''), 'hex')
const bytewise = (/** @type {Buffer} */ bytes) => fragments(kOpcodes.text, [...bytes].map((byte) => Buffer.of(byte)))
const range = (/** @type {number} */ from, /** @type {number} */ to) => Array.from({ length: to - from + 1 }, (_, index) => from + index)

/** @param {string} what @param {Buffer} bytes @returns {Case[]} */
const valid = (what, bytes) => [
  { name: `${what} is a text`, send: [text(bytes)], expect: [`text ${show(bytes)}`] },
  { name: `${what}, a fragment for each byte, is a text`, send: bytewise(bytes), expect: [`text ${show(bytes)}`] },
]

/** @param {string} what @param {Buffer} bytes @returns {Case[]} */
const invalid = (what, bytes) => [
  { name: `${what} is refused`, send: [text(bytes)], expect: ['close 1007'], error: kInvalid },
  { name: `${what} behind text is refused`, send: [text(Buffer.concat([Buffer.from('Hello µ@'.repeat(9)), bytes]))], expect: ['close 1007'], error: kInvalid },
  ...bytes.length > 1
    ? [{ name: `${what}, a fragment for each byte, is refused`, send: bytewise(bytes), expect: ['close 1007'], error: kInvalid }]
    : [],
]

conform([
  ...valid('Hello-µ@ßöäüàá-UTF-8!!', Buffer.from('Hello-µ@ßöäüàá-UTF-8!!')),
  { name: 'two fragments that part a text between code points', send: fragments(kOpcodes.text, ['Hello-µ@ßöä', 'üàá-UTF-8!!']), expect: ['text "Hello-µ@ßöäüàá-UTF-8!!"'] },
  ...range(1, kGreek.length - 1).map((at) => ({
    name: `two fragments that part a text after byte ${at}`,
    send: fragments(kOpcodes.text, [kGreek.subarray(0, at), kGreek.subarray(at)]),
    expect: ['text "κόσμε"'],
  })),
  ...invalid('a surrogate in a text', Buffer.concat([kGreek, hex('eda080'), Buffer.from('edited')])),
  ...range(1, kGreek.length).flatMap((length) => /^\p{L}*$/u.test(kGreek.toString('utf8', 0, length))
    ? valid(`${length} bytes of a Greek word`, kGreek.subarray(0, length))
    : invalid(`${length} bytes of a Greek word, which part a code point,`, kGreek.subarray(0, length))),
  // First and last code points of each length, and around what is no code point.
  ...['00', 'c280', 'e0a080', 'f0908080', '7f', 'dfbf', 'efbfbf', 'f48fbfbf', 'ed9fbf', 'ee8080', 'efbfbd', 'efbbbf'].flatMap((digits) => valid(`the code point ${digits}`, hex(digits))),
  ...['efbfbe', 'efbfbf', ...range(0, 16).flatMap((plane) => ['fe', 'ff'].map((low) => Buffer.from(String.fromCodePoint(plane * 0x10000 + parseInt(`ff${low}`, 16))).toString('hex'))), 'efb790', 'efb7af', 'efbfb9']
    .filter((digits, index, all) => all.indexOf(digits) === index)
    .map((digits) => valid(`the noncharacter or special ${digits}`, hex(digits))[0]),
  ...['f8 88 80 80 80', 'fc 84 80 80 80 80', 'f7bfbfbf', 'fbbfbfbfbf', 'fdbfbfbfbfbf', 'f4908080', 'f5808080'].flatMap((digits) => invalid(`${digits}, beyond Unicode,`, hex(digits))),
  ...[1, 2, 3, 4, 5, 6, 7, 64].flatMap((count) => invalid(`${count} continuation bytes`, Buffer.from(range(0, count - 1).map((n) => 0x80 + n % 64)))),
  ...range(0xc0, 0xff).map((byte) => invalid(`${byte.toString(16)} and a space`, Buffer.of(byte, 0x20))[0]),
  ...['c0', 'e080', 'f08080', 'f8808080', 'fc80808080', 'df', 'efbf', 'f7bfbf', 'fbbfbfbf', 'fdbfbfbfbf', 'c2', 'e0a0', 'f09080', 'f48fbf']
    .flatMap((digits) => invalid(`${digits}, whose last byte is missing,`, hex(digits))),
  ...invalid('a chain of incomplete sequences', hex('c0e080f08080f8808080fc80808080dfefbff7bfbffbbfbfbffdbfbfbfbf')),
  ...['fe', 'ff', 'fefeffff'].flatMap((digits) => invalid(`the impossible ${digits}`, hex(digits))),
  ...['c0af', 'e080af', 'f08080af', 'f8808080af', 'fc80808080af', 'c1bf', 'e09fbf', 'f08fbfbf', 'f887bfbfbf', 'fc83bfbfbfbf', 'c080', 'e08080', 'f0808080', 'f880808080', 'fc8080808080']
    .flatMap((digits) => invalid(`the overlong ${digits}`, hex(digits))),
  ...['eda080', 'edadbf', 'edae80', 'edafbf', 'edb080', 'edbe80', 'edbfbf', 'eda080edb080', 'eda080edbfbf', 'edadbfedb080', 'edadbfedbfbf', 'edae80edb080', 'edae80edbfbf', 'edafbfedb080', 'edafbfedbfbf']
    .flatMap((digits) => invalid(`the surrogate ${digits}`, hex(digits))),

  { name: 'what is no text may be anything', send: [binary(hex('fffefdc080eda080'))], expect: ['binary <fffefdc080eda080>'] },
  { name: 'a text is refused although its fragments end well', send: fragments(kOpcodes.text, [kGreek, hex('f4908080'), 'edited']), expect: ['close 1007'], error: kInvalid },
  { name: 'a code point is not completed by the next message', send: [text(hex('ceba').subarray(0, 1)), text(hex('ba'))], expect: ['close 1007'], error: kInvalid },
  {
    name: 'a code point goes on behind a ping',
    send: [text(hex('f09f'), { fin: false }), ping('between'), more(hex('9880'))],
    expect: ['pong "between"', 'text "😀"'],
  },
  { name: 'an invalid byte far behind in a long text is found', send: [text(Buffer.concat([Buffer.alloc(70_000, 'a'), hex('ff'), Buffer.alloc(70_000, 'a')]))], expect: ['close 1007'], error: kInvalid },
  { name: 'a long text of three bytes a code point, in fragments of 1000 bytes, comes back', send: fragments(kOpcodes.text, range(0, 29).map((n) => Buffer.from('€'.repeat(10_000)).subarray(n * 1000, (n + 1) * 1000))), expect: [`text ${show(Buffer.from('€'.repeat(10_000)))}`] },
  {
    name: 'with skipUTF8Validation a text may be anything',
    options: { skipUTF8Validation: true },
    send: [text(hex('fffe')), close(1000, hex('ff'))],
    expect: ['text <fffe>', 'close 1000 <ff>'],
  },
])
