'use strict'

// Goal: messages in fragments, with control frames between them, and fragments where none may be, get the
// answers that ws gives on node:http (Autobahn's section 5).

const { conform } = require('./support/play')
const { binary, close, fragments, kOpcodes, more, ping, pong, show, text } = require('./support/frames')

const kBadOpcode = 'WS_ERR_INVALID_OPCODE'
const kBadFin = 'WS_ERR_EXPECTED_FIN'

conform([
  { name: 'a ping in two fragments is refused', send: [ping('a', { fin: false }), more('b')], expect: ['close 1002'], error: kBadFin },
  { name: 'a pong in two fragments is refused', send: [pong('a', { fin: false }), more('b')], expect: ['close 1002'], error: kBadFin },
  { name: 'a close frame in two fragments is refused', send: [close(1000, 'a', { fin: false }), more('b')], expect: ['close 1002'], error: kBadFin },
  { name: 'a text in two fragments comes back as one', send: fragments(kOpcodes.text, ['fragment1', 'fragment2']), expect: ['text "fragment1fragment2"'] },
  { name: 'binary data in two fragments comes back as one', send: fragments(kOpcodes.binary, ['fragment1', 'fragment2']), expect: ['binary "fragment1fragment2"'] },
  {
    name: 'a ping between two fragments is answered before the message',
    send: [text('fragment1', { fin: false }), ping('between'), more('fragment2')],
    expect: ['pong "between"', 'text "fragment1fragment2"'],
  },
  {
    name: 'a ping between two fragments is answered although the message is not complete',
    send: [text('fragment1', { fin: false }), ping('between'), 1, more('fragment2')],
    expect: ['pong "between"', 'text "fragment1fragment2"'],
  },
  {
    name: 'a pong between two fragments is taken',
    send: [text('fragment1', { fin: false }), pong('between'), more('fragment2')],
    expect: ['text "fragment1fragment2"'],
  },
  ...[true, false].flatMap((fin) => [
    { name: `a continuation of nothing (FIN ${fin}) is refused`, send: [more('lost', { fin }), text('after')], expect: ['close 1002'], error: kBadOpcode },
    {
      name: `a continuation (FIN ${fin}) after a complete message is refused`,
      send: [...fragments(kOpcodes.text, ['a', 'b']), more('lost', { fin }), text('after')],
      expect: ['text "ab"', 'close 1002'],
      error: kBadOpcode,
    },
    {
      name: `a continuation (FIN ${fin}) after an unfragmented message is refused`,
      send: [text('a'), more('lost', { fin }), text('after'), more('lost', { fin })],
      expect: ['text "a"', 'close 1002'],
      error: kBadOpcode,
    },
    {
      name: `an empty continuation of nothing (FIN ${fin}) is refused`,
      send: [more('', { fin })],
      expect: ['close 1002'],
      error: kBadOpcode,
    },
  ]),
  ...[text, binary].flatMap((first) => [text, binary].map((second) => ({
    name: `a new ${second === text ? 'text' : 'binary message'} within a ${first === text ? 'text' : 'binary message'} is refused`,
    send: [first('fragment1', { fin: false }), second('fragment2')],
    expect: ['close 1002'],
    error: kBadOpcode,
  }))),
  {
    name: 'a new message in fragments within another is refused',
    send: [text('a', { fin: false }), more('b', { fin: false }), text('c', { fin: false }), more('d')],
    expect: ['close 1002'],
    error: kBadOpcode,
  },
  {
    name: 'a message in five fragments with pings between them comes back as one, after all pongs',
    send: [
      text('1', { fin: false }), more('2', { fin: false }), ping('a'), more('3', { fin: false }), more('4', { fin: false }), ping('b'), more('5'),
    ],
    expect: ['pong "a"', 'pong "b"', 'text "12345"'],
  },
  {
    name: 'two messages in fragments with waiting between them come back in their order',
    send: [
      text('1', { fin: false }), more('2', { fin: false }), ping('a'), 1, more('3'), 2,
      binary('4', { fin: false }), ping('b'), 3, more('5'),
    ],
    expect: ['pong "a"', 'text "123"', 'pong "b"', 'binary "45"'],
  },
  { name: 'empty fragments are an empty message', send: fragments(kOpcodes.text, ['', '', '']), expect: ['text ""'] },
  { name: 'empty binary fragments are an empty message', send: fragments(kOpcodes.binary, ['', '']), expect: ['binary ""'] },
  { name: 'empty fragments around bytes are left out', send: fragments(kOpcodes.text, ['', 'middle', '']), expect: ['text "middle"'] },
  { name: 'a fragment for each byte', send: fragments(kOpcodes.binary, [...Buffer.from('one byte each')].map((byte) => Buffer.of(byte))), expect: ['binary "one byte each"'] },
  {
    name: 'fragments of all length forms',
    send: fragments(kOpcodes.binary, [125, 126, 65535, 65536].map((length) => Buffer.alloc(length, 7))),
    expect: [`binary ${show(Buffer.alloc(125 + 126 + 65535 + 65536, 7))}`],
  },
  {
    name: 'a message that is not complete is dropped at the close',
    send: [text('not complete', { fin: false }), close(1000)],
    expect: ['close 1000'],
  },
  {
    name: 'so many fragments as maxFragments are taken',
    options: { maxFragments: 10 },
    send: [...fragments(kOpcodes.text, Array(10).fill('a')), ...fragments(kOpcodes.text, Array(10).fill(''))],
    expect: ['text "aaaaaaaaaa"', 'text ""'],
  },
  {
    name: 'one fragment more than maxFragments is refused with 1008',
    options: { maxFragments: 10 },
    send: fragments(kOpcodes.text, Array(11).fill('a')),
    expect: ['close 1008'],
    error: 'WS_ERR_TOO_MANY_BUFFERED_PARTS',
  },
  {
    name: 'empty fragments count, control frames between them do not',
    options: { maxFragments: 3 },
    send: [text('', { fin: false }), ping('a'), more('', { fin: false }), ping('b'), more('', { fin: false }), ping('c'), more('')],
    expect: ['pong "a"', 'pong "b"', 'pong "c"', 'close 1008'],
    error: 'WS_ERR_TOO_MANY_BUFFERED_PARTS',
  },
])
