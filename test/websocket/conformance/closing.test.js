'use strict'

// Goal: close frames of either side, their codes and reasons, and what comes after them, have the effect
// that they have with ws on node:http (Autobahn's section 7).

const { conform } = require('./support/play')
const { binary, close, frame, kOpcodes, more, ping, show, text } = require('./support/frames')

const kBadCode = 'WS_ERR_INVALID_CLOSE_CODE'
const kReason = 'r'.repeat(123)

conform([
  { name: 'a close frame is answered with its code', send: [close(1000)], expect: ['close 1000'] },
  { name: 'an empty close frame is answered with an empty one', send: [close()], expect: ['close'] },
  { name: 'a message before the close comes back', send: [text('Hello'), close(1000)], expect: ['text "Hello"', 'close 1000'] },
  { name: 'a second close frame is not answered', send: [close(1000), close(1001)], expect: ['close 1000'] },
  { name: 'a ping after the close is not answered', send: [close(1000), ping('late')], expect: ['close 1000'] },
  { name: 'a message after the close is not answered', send: [close(1000), text('late')], expect: ['close 1000'] },
  { name: 'a violation after the close has no effect', send: [close(1000), frame(15, 'late', { rsv: 7, mask: null })], expect: ['close 1000'] },
  { name: 'a close within a message in fragments ends both', send: [text('a', { fin: false }), close(1000), more('b')], expect: ['close 1000'] },
  { name: '256 KiB before the close come back', send: [binary(Buffer.alloc(256 * 1024, 1)), close(1000), ping('')], expect: [`binary ${show(Buffer.alloc(256 * 1024, 1))}`, 'close 1000'] },
  { name: 'a close frame of one byte is refused', send: [frame(kOpcodes.close, 'a')], expect: ['close 1002'], error: 'WS_ERR_INVALID_CONTROL_PAYLOAD_LENGTH' },
  { name: 'a reason comes back', send: [close(1000, 'Hello, world!')], expect: ['close 1000 "Hello, world!"'] },
  { name: 'a reason of 123 bytes comes back', send: [close(1000, kReason)], expect: [`close 1000 ${show(Buffer.from(kReason))}`] },
  { name: 'a reason of 124 bytes is refused', send: [close(1000, `${kReason}r`)], expect: ['close 1002'], error: 'WS_ERR_INVALID_CONTROL_PAYLOAD_LENGTH' },
  { name: 'a reason that is not UTF-8 is refused', send: [close(1000, Buffer.from('cebaeda080656469746564', 'hex'))], expect: ['close 1007'], error: 'WS_ERR_INVALID_UTF8' },
  { name: 'a reason that ends within a code point is refused', send: [close(1000, Buffer.from('ce', 'hex'))], expect: ['close 1007'], error: 'WS_ERR_INVALID_UTF8' },
  ...[1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 1012, 1013, 1014, 3000, 3999, 4000, 4999].flatMap((code) => [
    { name: `the code ${code} comes back`, send: [close(code)], expect: [`close ${code}`] },
    { name: `the code ${code} comes back with its reason`, send: [close(code, 'why')], expect: [`close ${code} "why"`] },
  ]),
  ...[0, 1, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999, 5000, 65535].flatMap((code) => [
    { name: `the code ${code} is refused`, send: [close(code)], expect: ['close 1002'], error: kBadCode },
    { name: `the code ${code} is refused with its reason`, send: [close(code, 'why')], expect: ['close 1002'], error: kBadCode },
  ]),

  {
    name: 'a server that closes gets the answer, and then the connection ends',
    app: function closes (socket) { socket.close(4001, 'enough') },
    send: [1, close(4001, 'enough')],
    expect: ['close 4001 "enough"'],
  },
  {
    name: 'a server that closes without a code gets the answer',
    app: function closesBare (socket) { socket.close() },
    send: [1, close()],
    expect: ['close'],
  },
  {
    name: 'the code of the client counts for the server that closed first',
    app: function closesFirst (socket) { socket.close(1001) },
    send: [1, close(4002, 'mine')],
    expect: ['close 1001'],
  },
  {
    name: 'messages that arrive while the close is not answered are still seen',
    app: function closesAndHears (socket) { socket.close(1000) },
    send: [1, text('still'), binary('there'), close(1000)],
    expect: ['close 1000'],
  },
  {
    name: 'a ping that arrives while the close is not answered is seen, not answered',
    app: function closesAndIsAsked (socket) { socket.close(1000) },
    send: [1, ping('late'), close(1000)],
    expect: ['close 1000'],
  },
  {
    name: 'a violation while the close is not answered is an error, and no second close frame',
    app: function closesAndIsViolated (socket) { socket.close(1000) },
    send: [1, text('bits', { rsv: 1 })],
    expect: ['close 1000'],
    error: 'WS_ERR_UNEXPECTED_RSV_2_3',
  },
  {
    name: 'what was sent before the close arrives before it',
    app: function speaksAndCloses (socket) {
      socket.send('one')
      socket.ping('two')
      socket.send(Buffer.from('three'))
      socket.close(1000, 'done')
    },
    send: [4, close(1000)],
    expect: ['text "one"', 'ping "two"', 'binary "three"', 'close 1000 "done"'],
  },
  {
    name: 'a server that terminates ends the connection without a word',
    app: function terminates (socket) { socket.on('message', () => socket.terminate()) },
    send: [text('go')],
    expect: ['end'],
  },
  {
    name: 'a server that closes on a message does not see the next one differently',
    app: function closesOnMessage (socket) { socket.on('message', () => socket.close(4000)) },
    send: [text('go'), 1, text('after'), close(4000)],
    expect: ['close 4000'],
  },
  {
    name: 'a server that never closes ends with closeTimeout when the client does not answer',
    options: { closeTimeout: 200 },
    app: function closesInVain (socket) { socket.close(1000) },
    send: [1],
    expect: ['close 1000'],
  },
])
