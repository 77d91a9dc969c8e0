'use strict'

// Large messages: the memory that a lane uses again must be nobody's any more, and garbage must not cost a collection
// of everything. One lane, so that all share it.

process.env.HTTPSYS_IO_THREADS = '1'

const assert = require('node:assert/strict')
const { fork } = require('node:child_process')
const { once } = require('node:events')
const { test } = require('node:test')
const { setImmediate: turn } = require('node:timers/promises')
const v8 = require('node:v8')
const vm = require('node:vm')
const { WebSocket } = require('ws')
const core = require('@httpsys/core-native')
const { kFast, serve } = require('./support/columns')

const skip = core.backend === 'engine' ? false : 'stock Node has no I/O threads'
const kMiB = 1 << 20

v8.setFlagsFromString('--expose-gc')
const collect = vm.runInNewContext('gc')

/** @param {number} n @param {number} size */
const message = (n, size) => Buffer.alloc(size, `message ${n}, `)

/** Finalizers run in turns of their own. */
async function letGo () {
  for (let i = 0; i < 3; i++) {
    collect()
    await turn()
  }
}

test('a Buffer that is kept never changes, however many messages come and go after it', { skip, timeout: 60_000 }, async (t) => {
  const { wss, url } = await serve(t, kFast)
  /** @type {{ n: number, data: Buffer | ArrayBuffer | Uint8Array }[]} */
  const kept = []
  const lengths = [kMiB, kMiB, 900_000, 70_000, kMiB + 1]
  let count = 0
  wss.on('connection', (/** @type {any} */ socket) => {
    socket.on('message', (/** @type {Buffer} */ data) => {
      const n = count++
      assert.ok(data.equals(message(n, lengths[n % lengths.length])), `message ${n}`)
      // Each in another way; of most nothing.
      if (n % 7 === 0) kept.push({ n, data: [data, data.buffer, data.subarray(1000)][n % 3] })
      socket.send(data)
    })
  })
  const clients = [new WebSocket(url), new WebSocket(url)]
  for (const client of clients) await once(client, 'open')
  for (let n = 0; n < 150; n++) {
    const sent = message(n, lengths[n % lengths.length])
    const client = clients[n & 1]
    client.send(sent)
    const [answer] = await once(client, 'message')
    assert.ok(answer.equals(sent), `answer ${n}`)
    if (n % 10 === 0) await letGo()
  }
  for (const client of clients) client.close()
  await letGo()
  assert.equal(kept.length, 22)
  for (const { n, data } of kept) {
    const bytes = Buffer.from(/** @type {any} */ (data instanceof ArrayBuffer ? data : data.buffer))
    assert.ok(bytes.equals(message(n, lengths[n % lengths.length])), `message ${n} has changed`)
  }
})

test('large messages that nobody keeps are collected among the young', { skip, timeout: 60_000 }, async (t) => {
  const child = fork(require.resolve('./support/child'), ['sink'])
  t.after(() => child.kill())
  const [port] = await once(child, 'message')
  const client = new WebSocket(`ws://127.0.0.1:${port}`)
  await once(client, 'open')
  const data = message(1, kMiB)
  for (let n = 0; n < 300; n++) {
    client.send(data)
    await once(client, 'message')
  }
  client.send(Buffer.alloc(0))
  const [answer] = await once(client, 'message')
  const { minor, major } = JSON.parse(String(answer))
  assert.ok(minor >= 300 / 40, `${minor} minor collections`)
  // Two entries are one collection in steps: the program's own heap reaches 8 MB. The messages alone would make one for each 64 MiB.
  assert.ok(major <= 2, `${major} major collections`)
})
