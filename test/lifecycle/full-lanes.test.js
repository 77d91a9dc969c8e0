'use strict'

// Goal: while JavaScript is slower than its clients, every connection has its turn, and none is ended because it waits.
// Method: one lane, and requests that are several times as much as its segments hold, to a server that takes its time.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const { startChild } = require('../helpers/child')
const { dial, get } = require('../helpers/client')

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

// The time between two requests is over when the second one comes, not when the server has time to read it.
test('keepAliveTimeout does not end a connection whose next request waits for the lane', async (t) => {
  const { port } = await startServer(t, 15, { keepAliveTimeout: 200, keepAliveTimeoutBuffer: 0 })
  const wires = await connect(t, port)
  await Promise.all(wires.map((wire) => wire.write(get('/')).until('\r\n\r\nok')))
  for (const wire of wires) wire.write(kPost)
  await Promise.all(wires.map((wire) => wire.until('\r\n\r\nok', 2)))
})

test('headersTimeout and requestTimeout do not refuse a request whose rest waits for the lane', async (t) => {
  const { port } = await startServer(t, 30, { headersTimeout: 1000, requestTimeout: 1000, connectionsCheckingInterval: 50 })
  const begun = await connect(t, port, 20)
  const others = await connect(t, port, 120)
  // The lane has read these beginnings with the requests before them.
  await Promise.all(begun.map((wire) => wire.write(get('/') + kHead.slice(0, 20)).until('\r\n\r\nok')))
  for (const wire of others) wire.write(kPost)
  for (const wire of begun) wire.write(kPost.slice(20))
  // A refusal would end the connection.
  await Promise.all(begun.map((wire) => wire.until('\r\n\r\nok', 2)))
  await Promise.all(others.map((wire) => wire.until('\r\n\r\nok')))
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
