'use strict'

// Goal: while JavaScript is slower than its clients, every connection has its turn.
// Method: one lane, and requests that are several times as much as its segments hold, to a server that takes its time.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const { startChild } = require('../helpers/child')
const { dial } = require('../helpers/client')

const kConnections = 160
const kBodyBytes = 15_000

/** @typedef {import('../helpers/client').Wire} Wire */

const kHead = `POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${kBodyBytes}\r\n\r\n`
const kPost = kHead + 'b'.repeat(kBodyBytes)

/**
 * A server with one lane, whose JavaScript works `ms` for each request with a body. It ends its connections when it gets a message.
 *
 * @param {import('node:test').TestContext} t
 * @param {number} ms
 * @param {any} [options]
 */
async function startServer (t, ms, options) {
  const child = startChild(({ http, args: [ms, options], report }) => {
    const server = http.createServer(options, (req, res) => {
      const end = performance.now() + (req.method === 'POST' ? ms : 0)
      while (performance.now() < end);
      req.resume()
      req.on('end', () => res.end('ok'))
    })
    process.on('message', () => {
      server.closeAllConnections()
      report({ ended: true })
    })
    server.listen(0, '127.0.0.1', () => report({ port: /** @type {any} */ (server.address()).port }))
  }, { env: { HTTPSYS_IO_THREADS: '1' }, args: [ms, options] })
  t.after(() => child.kill())
  return { child, port: await child.message('port') }
}

/** @param {import('node:test').TestContext} t @param {number} port @param {number} [count] @returns {Promise<Wire[]>} */
async function connect (t, port, count = kConnections) {
  const wires = []
  for (let i = 0; i < count; i++) wires.push(await dial(t, port))
  return wires
}

test('a lane whose memory is full reads its connections in turn', async (t) => {
  const kAnswers = 6
  const { port } = await startServer(t, 1)
  const wires = await connect(t, port)
  const counts = new Array(kConnections).fill(0)
  let left = kConnections * kAnswers
  await Promise.all(wires.map(async (wire, i) => {
    while (left > 0) {
      wire.write(kPost)
      await wire.until('\r\n\r\nok', counts[i] + 1)
      counts[i]++
      left--
    }
  }))
  assert.ok(Math.min(...counts) >= kAnswers - 2, `answers of each connection: ${counts.join(' ')}`)
})

test('connections that end while they wait for the lane leave the others their turns', async (t) => {
  const { child, port } = await startServer(t, 2)
  const wires = await connect(t, port)
  for (const wire of wires) wire.write(kPost)
  await wires[0].until('\r\n\r\nok')
  child.send('end')
  assert.equal(await child.message('ended'), true)
  await Promise.all(wires.map((wire) => wire.untilClosed()))
  const next = await connect(t, port)
  for (const wire of next) wire.write(kPost)
  await Promise.all(next.map((wire) => wire.until('\r\n\r\nok')))
})
