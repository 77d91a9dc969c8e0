'use strict'

// Goal: frames of all lengths and kinds, control frames, reserved bits and opcodes get the answers that
// ws gives on node:http, however their bytes are cut (Autobahn's sections 1 to 4).

const { conform } = require('./support/play')
const { binary, close, frame, kOpcodes, ping, pong, show, text } = require('./support/frames')

const kLengths = [0, 1, 125, 126, 127, 128, 65535, 65536]
const kBadBits = 'WS_ERR_UNEXPECTED_RSV_2_3'
const kBadBit1 = 'WS_ERR_UNEXPECTED_RSV_1'
const kBadOpcode = 'WS_ERR_INVALID_OPCODE'

conform([
  ...kLengths.map((length) => ({
    name: `a text of ${length} bytes comes back`,
    send: [text('*'.repeat(length))],
    expect: [`text ${show(Buffer.alloc(length, '*'))}`],
  })),
  ...kLengths.map((length) => ({
    name: `binary data of ${length} bytes comes back`,
    send: [binary(Buffer.alloc(length, 0xfe))],
    expect: [`binary ${show(Buffer.alloc(length, 0xfe))}`],
  })),
  ...[[5, 2], [5, 8], [200, 8]].map(([length, lengthBytes]) => ({
    name: `a length of ${length} in ${lengthBytes} bytes, which is not the shortest form, is taken`,
    send: [binary(Buffer.alloc(length, 1), { lengthBytes: /** @type {any} */ (lengthBytes) })],
    expect: [`binary ${show(Buffer.alloc(length, 1))}`],
  })),
  {
    name: 'a mask of zeros leaves the bytes as they are',
    send: [text('plain', { mask: Buffer.alloc(4) })],
    expect: ['text "plain"'],
  },
  {
    name: 'each frame has a mask of its own',
    send: [1, 2, 3].map((n) => text(`mask ${n}`, { mask: Buffer.from([n, n * 7, n * 31, n * 63]) })),
    expect: ['text "mask 1"', 'text "mask 2"', 'text "mask 3"'],
  },
  {
    name: 'messages of all lengths in a row come back in their order',
    send: Array.from({ length: 140 }, (_, n) => binary(Buffer.alloc(n, n))),
    expect: Array.from({ length: 140 }, (_, n) => `binary ${show(Buffer.alloc(n, n))}`),
  },

  { name: 'an empty ping is answered', send: [ping('')], expect: ['pong ""'] },
  { name: 'a ping is answered with its bytes', send: [ping('Hello, world!')], expect: ['pong "Hello, world!"'] },
  { name: 'a ping that is not UTF-8 is answered', send: [ping(Buffer.from('00fffefdfcfb00ff', 'hex'))], expect: ['pong <00fffefdfcfb00ff>'] },
  { name: 'a ping of 125 bytes is answered', send: [ping(Buffer.alloc(125, 0xfe))], expect: [`pong ${show(Buffer.alloc(125, 0xfe))}`] },
  { name: 'a ping of 126 bytes is refused', send: [ping(Buffer.alloc(126, 0xfe))], expect: ['close 1002'], error: 'WS_ERR_INVALID_CONTROL_PAYLOAD_LENGTH' },
  { name: 'a pong of 126 bytes is refused', send: [pong(Buffer.alloc(126))], expect: ['close 1002'], error: 'WS_ERR_INVALID_CONTROL_PAYLOAD_LENGTH' },
  { name: 'a ping whose length is in 8 bytes is refused', send: [ping('abc', { lengthBytes: 8 })], expect: ['close 1002'], error: 'WS_ERR_INVALID_CONTROL_PAYLOAD_LENGTH' },
  { name: 'a pong that nobody asked for is taken', send: [pong('')], expect: [] },
  { name: 'a pong with bytes that nobody asked for is taken', send: [pong('unsolicited')], expect: [] },
  { name: 'a ping after such a pong is answered', send: [pong('unsolicited'), ping('asked')], expect: ['pong "asked"'] },
  { name: 'ten pings are answered in their order', send: Array.from({ length: 10 }, (_, n) => ping(`${n}`)), expect: Array.from({ length: 10 }, (_, n) => `pong "${n}"`) },
  {
    name: 'pings between messages are answered in their place',
    send: [text('a'), ping('1'), binary('b'), ping('2'), text('c')],
    expect: ['text "a"', 'pong "1"', 'binary "b"', 'pong "2"', 'text "c"'],
  },
  {
    name: 'with autoPong off a ping is not answered',
    options: { autoPong: false },
    send: [ping('a'), text('b')],
    expect: ['text "b"'],
  },

  ...[1, 2, 3, 4, 5, 6, 7].flatMap((rsv) => Object.entries(kOpcodes).map(([name, opcode]) => ({
    name: `reserved bits ${rsv.toString(2).padStart(3, '0')} in a ${name} frame are refused`,
    send: [frame(opcode, opcode === kOpcodes.close ? Buffer.from('03e8', 'hex') : 'abc', { rsv })],
    expect: ['close 1002'],
    error: (rsv & 3) === 0 ? kBadBit1 : kBadBits,
  }))),
  {
    name: 'a message before reserved bits comes back',
    send: [text('before'), text('bits', { rsv: 2 }), ping('')],
    expect: ['text "before"', 'close 1002'],
    error: kBadBits,
  },

  ...[3, 4, 5, 6, 7, 11, 12, 13, 14, 15].flatMap((opcode) => [
    {
      name: `the reserved opcode ${opcode} is refused`,
      send: [frame(opcode)],
      expect: ['close 1002'],
      error: kBadOpcode,
    },
    {
      name: `the reserved opcode ${opcode} with a payload is refused after a message, and the ping behind it is not answered`,
      send: [text('before'), frame(opcode, 'reserved opcode'), ping('')],
      expect: ['text "before"', 'close 1002'],
      error: kBadOpcode,
    },
  ]),

  ...Object.entries(kOpcodes).filter(([, opcode]) => opcode !== 0).map(([name, opcode]) => ({
    name: `a ${name} frame that is not masked is refused`,
    send: [text('before'), frame(opcode, opcode === kOpcodes.close ? Buffer.from('03e8', 'hex') : 'abc', { mask: null })],
    expect: ['text "before"', 'close 1002'],
    error: 'WS_ERR_EXPECTED_MASK',
  })),
  {
    name: 'a fragment that is not masked is refused',
    send: [text('a', { fin: false }), frame(0, 'b', { mask: null })],
    expect: ['close 1002'],
    error: 'WS_ERR_EXPECTED_MASK',
  },
  {
    name: 'nothing after a refused frame is looked at',
    send: [text('bits', { rsv: 1 }), text('not seen'), close(4000)],
    expect: ['close 1002'],
    error: kBadBits,
  },
])
