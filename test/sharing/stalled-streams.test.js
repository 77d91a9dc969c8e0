'use strict'

// Goal: streams of HTTP/2 that another process answers cost a bounded number of bytes while their client opens no window.
// Method: frames by hand, and an owner that writes as long as it may and counts what was accepted.

const assert = require('node:assert/strict')
const { test } = require('node:test')
const { startChild } = require('../helpers/child')
const { freePort } = require('../helpers/free-port')
const { Frames, frame, kType } = require('../http2/frames')
const { loadBinding } = require('../../packages/core-native/lib/backend/binding')
const { kSkip, silence } = require('./kit')

const kPieceBytes = 8 * 1024
const kStreams = 50
// What a stream may have: its credit and Node's buffer with a piece that fills them up, what the process reads that has the
// connection, and twice what the kernel was told (limits.h: kRelayStreamBufferBytes).
const kStreamBytesMax = 2 * (16 * 1024 + kPieceBytes) + 32 * 1024 + 32 * 1024
// Nothing more was accepted for so long.
const kQuietMs = 1000

/** @param {number} port @param {string} path */
function startMember (port, path) {
  return startChild(({ http, report, args: [prefix, bytes] }) => {
    const piece = Buffer.alloc(bytes, 'x')
    let accepted = 0
    let begun = 0
    const server = http.createServer(/** @type {any} */ ({ http2: true }), (_req, res) => {
      const more = () => {
        do accepted += bytes
        while (res.write(piece))
      }
      res.on('drain', more)
      more()
      begun++
    })
    process.on('message', () => { report({ accepted, begun }) })
    const { listen } = /** @type {any} */ (server)
    listen.call(server, prefix, () => report({ isListening: true }))
  }, { args: [`http://*:${port}${path}`, kPieceBytes] })
}

test('relayed streams whose client opens no window have a bounded number of bytes accepted',
  { skip: kSkip || (loadBinding().hasHttp2 ? false : 'this Node has no nghttp2'), timeout: 120_000 }, async (t) => {
    const port = await freePort()
    const first = startMember(port, '/a/')
    t.after(() => first.kill())
    await first.message('isListening')
    const noWindow = Buffer.from([0, 4, 0, 0, 0, 0])
    const wire = await Frames.connect(t, port, noWindow)
    const owner = startMember(port, '/b/')
    t.after(() => owner.kill())
    await owner.message('isListening')
    for (let id = 1; id < 2 * kStreams; id += 2) wire.request(id, { ':path': '/b/' })
    for (let heads = 0; heads < kStreams; heads++) await wire.next((/** @type {any} */ { type }) => type === kType.headers)
    wire.send(frame(kType.ping, 0, 0, Buffer.alloc(8, 1)))
    /** @type {{ accepted: number, begun: number }} */
    let told = { accepted: 0, begun: 0 }
    owner.process.on('message', (/** @type {any} */ message) => { if ('accepted' in message) told = message })
    for (let before = -1; told.accepted !== before || told.begun !== kStreams;) {
      before = told.accepted
      owner.send('count')
      await silence(kQuietMs)
    }
    assert.ok(told.accepted <= kStreams * kStreamBytesMax, `${told.accepted / kStreams} bytes of each stream`)
  })
