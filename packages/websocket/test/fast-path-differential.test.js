'use strict'

// Goal: what a review of the fast path found stays as it is with ws. Method: as in differential.test.js, each program
// runs with ws on node:http, with ws on the engine and with this package, and the answers are compared.

const assert = require('node:assert/strict')
const { once } = require('node:events')
const fs = require('node:fs')
const net = require('node:net')
const os = require('node:os')
const path = require('node:path')
const { test } = require('node:test')
const { setTimeout: sleep } = require('node:timers/promises')
const { Sender } = require('ws')
const { columns, serve } = require('./support/columns')
const { RawClient, frame } = require('./support/raw-client')
const { readByPeer, until } = require('../../../test/helpers/waiting')

const kFin = 0x80

/**
 * @param {string} name
 * @param {(t: import('node:test').TestContext, column: typeof columns[number]) => Promise<unknown>} run
 */
function compare (name, run) {
  test(`as ws on node:http: ${name}`, { timeout: 30_000 }, async (t) => {
    const [reference, ...others] = columns
    const wanted = await run(t, reference)
    for (const column of others) assert.deepEqual(await run(t, column), wanted, column.name)
  })
}

/** The WebSockets of so many raw clients. @param {any} wss @param {number} port @param {number} count @param {any} [options] */
async function connect (wss, port, count, options) {
  const pairs = []
  for (let i = 0; i < count; i++) {
    const served = once(wss, 'connection')
    const client = await RawClient.connect(port, options)
    const [socket] = await served
    pairs.push({ client, socket })
  }
  return pairs
}

for (const zlibDeflateOptions of [{ level: 42 }, { memLevel: 0 }, { strategy: 9 }]) {
  compare(`zlib refuses ${JSON.stringify(zlibDeflateOptions)}`, async (t, column) => {
    const { wss, port } = await serve(t, column, { perMessageDeflate: { threshold: 0, zlibDeflateOptions } })
    const pairs = await connect(wss, port, 1, { headers: ['Sec-WebSocket-Extensions: permessage-deflate'] })
    assert.throws(() => pairs[0].socket.send('x'.repeat(2000)), { code: 'ERR_OUT_OF_RANGE' }, column.name)
  })
}

for (const threshold of [Infinity, 2 ** 32, 99.5]) {
  compare(`what is below a threshold of ${threshold} is not compressed`, async (t, column) => {
    const { wss, port } = await serve(t, column, { perMessageDeflate: { threshold, serverNoContextTakeover: true } })
    const [{ client, socket }] = await connect(wss, port, 1, { headers: ['Sec-WebSocket-Extensions: permessage-deflate'] })
    socket.send('x'.repeat(99))
    await client.until(2 + 99)
    socket.close()
    await client.until(2 + 99 + 2)
    return client.received
  })
}

compare('a client that pings while it is always behind stays, as long as it gets its pongs', async (t, column) => {
  const at = path.join(os.tmpdir(), `httpsys-edges-${process.pid}-${columns.indexOf(column)}.sock`)
  t.after(() => fs.rmSync(at, { force: true }))
  const server = column.createServer()
  const wss = new column.WebSocketServer({ server, maxPendingAutoPongs: 20 })
  server.listen(at)
  await once(server, 'listening')
  const served = once(wss, 'connection')
  // A Unix socket's buffer does not grow: some output always waits.
  const client = net.connect(at)
  t.after(() => client.destroy())
  // The end resets a connection whose last ping is unread; an earlier one would leave pongs out.
  client.on('error', () => {})
  client.write(['GET / HTTP/1.1', 'Host: a', 'Upgrade: websocket', 'Connection: Upgrade', 'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==', '', ''].join('\r\n'))
  let pongs = 0
  let rest = ''
  client.on('data', (piece) => {
    const text = rest + piece.toString('latin1')
    pongs += text.split('\x8a\x01p').length - 1
    rest = text.slice(-2)
    client.pause()
    setTimeout(() => client.resume(), 2)
  })
  const [socket] = await served
  const chunk = Buffer.alloc(30_000, 1)
  const timer = setInterval(() => {
    while (socket.bufferedAmount < 200_000 && socket.readyState === socket.OPEN) socket.send(chunk)
  }, 2)
  await until(() => socket.bufferedAmount > 0, 'output waits')
  for (let i = 0; i < 60; i++) {
    client.write(frame(kFin | 9, 'p'))
    // At most ten pings are on their way at a time, fewer than are allowed, however slow the machine is.
    await until(() => pongs > i - 10, 'pongs')
    // The next ping finds the client behind again.
    await until(() => socket.bufferedAmount > 0, 'output waits')
  }
  clearInterval(timer)
  const state = socket.readyState
  const closed = new Promise((resolve) => server.close(resolve))
  socket.terminate()
  wss.close()
  await closed
  assert.equal(state, socket.OPEN, column.name)
})

compare('frames that the application writes to the socket itself', async (t, column) => {
  const { wss, port } = await serve(t, column)
  const [{ client, socket }] = await connect(wss, port, 1)
  const parts = /** @type {Buffer[]} */ (/** @type {any} */ (Sender).frame(Buffer.alloc(50_000, 7), { fin: true, opcode: 2, mask: false, readOnly: true }))
  const kFrames = 20
  let bytes = 0
  for (let i = 0; i < kFrames; i++) {
    for (const part of parts) {
      bytes += part.length
      socket._socket.write(part)
    }
    // In turns of their own; how fast they leave does not matter.
    await sleep(1)
  }
  socket.send('last')
  // Beyond 256 KiB, what was written waited for ever.
  await Promise.race([client.until(bytes + 6), sleep(20_000, null, { ref: false })])
  assert.equal(client.received.length, bytes + 6, column.name)
})

compare('what a reset connection has left is told to a WebSocket that is closing, and every callback comes', async (t, column) => {
  const { wss, port } = await serve(t, column)
  const [{ client, socket }] = await connect(wss, port, 1)
  /** @type {string[]} */
  const notes = []
  const kSends = 400
  let calls = 0
  let late = 0
  socket.on('message', (/** @type {Buffer} */ data) => {
    notes.push(`${data} in ${socket.readyState}`)
    socket.send('late', (/** @type {any} */ error) => {
      late++
      notes.push(error.message)
    })
  })
  const closed = new Promise((resolve) => socket.on('close', (/** @type {number} */ code) => resolve(notes.push(`close ${code}`))))
  socket.pause()
  client.socket.pause()
  client.write(frame(kFin | 1, 'a'), frame(kFin | 1, 'b'))
  for (let i = 0; i < kSends; i++) socket.send(Buffer.alloc(60_000), () => { calls++ })
  await readByPeer(client.socket)
  client.socket.resetAndDestroy()
  await until(() => socket.readyState !== socket.OPEN, 'the reset is known')
  socket.resume()
  await closed
  await until(() => calls >= kSends && late >= 2, `the callbacks: ${calls}, ${late}`)
  assert.deepEqual([calls, late], [kSends, 2], column.name)
  assert.equal(socket.bufferedAmount, 2 * 'late'.length, column.name)
  return notes.sort()
})

compare('a client that reads is not taken for one that does not, whose neighbour does not', async (t, column) => {
  const { wss, port } = await serve(t, column)
  // The first send of something is no broadcast yet.
  const all = await connect(wss, port, 3)
  const [, reading, silent] = all
  silent.client.socket.pause()
  const data = Buffer.alloc(100_000, 'x')
  // More than the kernel takes for the silent one, in turns of their own. No event says that the kernel has taken something of each: the
  // pauses let it, and on a slow machine the wait below is longer.
  for (let i = 0; i < 200; i++) {
    for (const { socket } of all) socket.send(data)
    await sleep(3)
  }
  await until(() => reading.socket.bufferedAmount === 0, 'the one that reads has everything', 20_000)
  return { reading: reading.socket.bufferedAmount, isSilentBehind: silent.socket.bufferedAmount > 0 }
})
