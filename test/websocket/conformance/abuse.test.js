'use strict'

// Goal: clients that mean harm are closed with the right code, and cost a bounded amount of memory. Each
// server is a process of its own; the bounds are generous, what they keep out is a hundred times more.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const zlib = require('node:zlib')
const { startChild } = require('../../helpers/child')
const { kTried } = require('./support/columns')
const { Context, Reader, binary, frame, kOpcodes, more, ping, show, text } = require('./support/frames')
const { handshake } = require('./support/handshake')
const { Peer } = require('./support/play')

const kProgram = require.resolve('./support/server-program')
const kMiB = 1024 * 1024
/** 64 MiB of zeros, packed; more of them may follow. */
const kZeros = zlib.deflateRawSync(Buffer.alloc(64 * kMiB), { finishFlush: zlib.constants.Z_SYNC_FLUSH })
/** Of V8 and zlib for the first messages, whatever they are. */
const kWarmUpBytes = 60 * kMiB
/** What a client that is not read from goes on for. */
const kStalledMs = 2000

/** @param {import('node:test').TestContext} t @param {import('./support/columns').Column} column @param {object} options */
async function startServer (t, column, options) {
  const child = startChild(({ args: [program, name, options], report }) => require(program).run(name, options, report),
    { args: [kProgram, column.name, options], flags: ['--expose-gc'] })
  t.after(() => child.kill())
  const port = await child.message('port')
  return {
    port,
    /** @returns {Promise<{ rss: number, peak: number, clients: number, closes: Record<string, number>, errors: number }>} */
    look: () => {
      const answer = /** @type {Promise<any>} */ (new Promise((resolve) => child.process.on('message', (/** @type {any} */ message) => { if ('look' in message) resolve(message.look) })))
      child.send('look')
      return answer
    },
  }
}

/** @param {import('node:test').TestContext} t @param {number} port @param {string} [offer] */
async function open (t, port, offer) {
  const reader = new Reader(offer === undefined ? undefined : new Context())
  const peer = new Peer(port, reader)
  t.after(() => peer.socket.destroy())
  peer.socket.write(handshake('/', offer))
  await peer.until(() => peer.isOpen)
  assert.match(peer.head, /^HTTP\/1\.1 101/)
  return { peer, reader, closed: async () => { await peer.until(() => false); return reader.messages } }
}

const openMany = (/** @type {import('node:test').TestContext} */ t, /** @type {number} */ port, /** @type {number} */ count, /** @type {string} */ offer) =>
  Promise.all(Array.from({ length: count }, () => open(t, port, offer)))

for (const column of kTried) {
  test(`${column.name}: 200 messages of 100 MiB that are only announced take no such memory`, async (t) => {
    const { port, look } = await startServer(t, column, {})
    const { rss: before } = await look()
    const clients = await openMany(t, port, 200)
    for (const { peer } of clients) await peer.write(frame(kOpcodes.binary, Buffer.alloc(1000), { length: BigInt(100 * kMiB) }))
    const { rss: after, clients: there } = await look()
    assert.equal(there, 200)
    assert.ok(after - before < kWarmUpBytes, `${(after - before) / kMiB} MiB`)
  })

  test(`${column.name}: a message beyond maxPayload is refused by its header, with 1009`, async (t) => {
    const { port, look } = await startServer(t, column, { maxPayload: 1000 })
    const clients = await openMany(t, port, 50)
    const lengths = [1001n, 2n ** 31n, 2n ** 40n, 2n ** 62n, 2n ** 64n - 1n]
    for (const [index, { peer }] of clients.entries()) await peer.write(frame(kOpcodes.text, '', { length: lengths[index % 5] }))
    for (const { closed } of clients) assert.deepEqual(await closed(), ['close 1009'])
    const { closes, errors } = await look()
    assert.deepEqual([closes, errors], [{ 1006: 50 }, 50])
  })

  test(`${column.name}: 1 GiB of zeros in 1 MiB of DEFLATE is refused with 1009 after what maxPayload allows`, async (t) => {
    const { port, look } = await startServer(t, column, { maxPayload: kMiB, perMessageDeflate: true })
    const bomb = Buffer.concat(Array(16).fill(kZeros)).subarray(0, kMiB)
    const { peak: before } = await look()
    for (const { peer, closed } of await openMany(t, port, 8, 'permessage-deflate')) {
      await peer.write(binary(bomb, { rsv: 4 }))
      assert.deepEqual(await closed(), ['close 1009'])
    }
    const { peak: after } = await look()
    assert.ok(after - before < kWarmUpBytes + 8 * 4 * kMiB, `${(after - before) / kMiB} MiB`)
  })

  test(`${column.name}: a bomb in small fragments is refused with 1009, too`, async (t) => {
    const { port, look } = await startServer(t, column, { maxPayload: kMiB, perMessageDeflate: true })
    const { peak: before } = await look()
    const { peer, closed } = await open(t, port, 'permessage-deflate')
    await peer.write(binary(kZeros.subarray(0, 100), { fin: false, rsv: 4 }))
    for (let at = 100; at < kZeros.length; at += 100) await peer.write(more(kZeros.subarray(at, at + 100), { fin: false }))
    assert.deepEqual(await closed(), ['close 1009'])
    const { peak: after } = await look()
    assert.ok(after - before < kWarmUpBytes, `${(after - before) / kMiB} MiB`)
  })

  test(`${column.name}: fifty clients that send a byte at a time are served`, async (t) => {
    const { port } = await startServer(t, column, {})
    const clients = await openMany(t, port, 50)
    const bytes = text('slow, but honest '.repeat(8))
    for (const byte of bytes) await Promise.all(clients.map(({ peer }) => peer.write(Buffer.of(byte))))
    for (const { peer, reader } of clients) {
      await peer.until(() => reader.messages.length === 1)
      assert.deepEqual(reader.messages, [`text ${show(Buffer.from('slow, but honest '.repeat(8)))}`])
    }
  })

  test(`${column.name}: 16,384 fragments of a byte are a message, one more is refused with 1008`, async (t) => {
    const { port } = await startServer(t, column, {})
    const begin = binary('a', { fin: false })
    const middle = more('a', { fin: false })
    const taken = await open(t, port)
    await taken.peer.write(Buffer.concat([begin, ...Array(16_382).fill(middle), more('a')]))
    await taken.peer.until(() => taken.reader.messages.length === 1)
    assert.deepEqual(taken.reader.messages, [`binary ${show(Buffer.alloc(16_384, 'a'))}`])
    const refused = await open(t, port)
    await refused.peer.write(Buffer.concat([begin, ...Array(16_384).fill(middle)]))
    assert.deepEqual(await refused.closed(), ['close 1008'])
  })

  test(`${column.name}: messages in 10,000 fragments that never end take bounded memory`, async (t) => {
    const { port, look } = await startServer(t, column, {})
    const { rss: before } = await look()
    const clients = await openMany(t, port, 20)
    const bytes = Buffer.concat([text('a', { fin: false }), ...Array(9999).fill(more('a', { fin: false }))])
    for (const { peer } of clients) await peer.write(bytes)
    const { rss: after, clients: there } = await look()
    assert.equal(there, 20)
    assert.ok(after - before < kWarmUpBytes + 200_000 * 300, `${(after - before) / kMiB} MiB`)
  })

  test(`${column.name}: a client that pings and does not read the answers takes bounded memory`, async (t) => {
    const { port, look } = await startServer(t, column, {})
    const { rss: before } = await look()
    const { peer } = await open(t, port)
    peer.socket.pause()
    const pings = Buffer.concat(Array(500).fill(ping(Buffer.alloc(125))))
    let written = 0
    while (!peer.isClosed && written < 256 * kMiB) {
      const isTaken = await Promise.race([
        new Promise((resolve) => peer.socket.write(pings, (error) => resolve(!error))),
        new Promise((resolve) => setTimeout(resolve, kStalledMs, false)),
      ])
      if (!isTaken) break
      written += pings.length
    }
    const { rss: after } = await look()
    assert.ok(after - before < kWarmUpBytes, `${(after - before) / kMiB} MiB after ${written / kMiB} MiB of pings`)
  })

  test(`${column.name}: 200 clients that leave within a message, a frame or a header leave nothing`, async (t) => {
    const { port, look } = await startServer(t, column, { perMessageDeflate: true })
    const { rss: before } = await look()
    const bytes = Buffer.concat([text('a'.repeat(300), { fin: false }), more(Buffer.alloc(300, 'b'))])
    for (const [index, { peer }] of (await openMany(t, port, 200, 'permessage-deflate')).entries()) {
      await peer.write(bytes.subarray(0, 1 + index * 3 % (bytes.length - 1)))
      if (index % 2 === 0) peer.socket.resetAndDestroy()
      else peer.socket.destroy()
    }
    let state = await look()
    for (let attempt = 0; state.clients > 0 && attempt < 50; attempt++) state = await look()
    assert.deepEqual([state.clients, state.closes], [0, { 1006: 200 }])
    assert.ok(state.rss - before < kWarmUpBytes, `${(state.rss - before) / kMiB} MiB`)
  })
}
