'use strict'

// Goal: req.maxRequestBodySize limits the body of one stream, and leaves the others of its connection alone.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const { once } = require('node:events')
const http2 = require('node:http2')
const { http, backend } = require('../helpers/backend')
const { certificate } = require('../helpers/certificates')
const { serve: listen } = require('../helpers/client')
const { freePort } = require('../helpers/free-port')
const { until } = require('../helpers/waiting')
const { Frames, frame } = require('./frames')
const { request, serve } = require('./kit')
const { hasHttp2 } = backend === 'node' ? { hasHttp2: false } : require('../../packages/core-native/lib/backend/binding').loadBinding()

const options = { skip: !hasHttp2 && 'no HTTP/2', timeout: 30_000 }
const { NGHTTP2_INTERNAL_ERROR } = http2.constants
const kDataType = 0
const kEndHeaders = 4

/** @typedef {{ got: number, error: any, hasEnded: boolean }} Seen */

/** Takes a limit from the path, reads, and answers with the number of bytes. @param {Seen[]} all */
const limited = (all) => (/** @type {any} */ req, /** @type {any} */ res) => {
  const limit = /limit=(\d+)/.exec(req.url)?.[1]
  if (limit !== undefined) req.maxRequestBodySize = Number(limit)
  if (req.url.startsWith('/begun')) res.write('begun')
  const seen = { got: 0, error: null, hasEnded: false }
  all.push(seen)
  req.on('data', (/** @type {Buffer} */ piece) => { seen.got += piece.length })
  req.on('error', (/** @type {any} */ error) => { seen.error = error })
  req.on('end', () => {
    seen.hasEnded = true
    res.end(String(seen.got))
  })
}

/** @param {Seen} seen @param {number} got */
async function assertRefused (seen, got) {
  await until(() => seen.error !== null, 'the request has failed')
  assert.deepEqual([seen.error.code, seen.error.message, seen.hasEnded, seen.got], ['ECONNRESET', 'aborted', false, got])
}

/** @param {http2.ClientHttp2Session} client @param {any} headers @param {any} body @returns {Promise<number>} the status, when the stream has ended */
async function refused (client, headers, body) {
  const stream = client.request({ ':method': 'POST', ...headers })
  stream.on('error', () => {}).resume()
  const response = once(stream, 'response')
  stream.write(body)
  const [got] = await response
  if (!stream.closed) await once(stream, 'close')
  return got[':status']
}

test('a stream with a longer body is answered with 413 and ends, its length known or not, and the connection goes on', options, async (t) => {
  /** @type {Seen[]} */
  const all = []
  const { client } = await serve(t, limited(all))
  const post = { ':method': 'POST', ':path': '/?limit=10' }
  assert.equal((await request(client, post, { body: '0123456789' })).text, '10')
  assert.equal((await request(client, { ...post, 'content-length': '10' }, { body: '0123456789' })).text, '10')
  assert.equal(await refused(client, { ':path': '/?limit=10', 'content-length': '11' }, 'x'), 413)
  assert.equal(await refused(client, { ':path': '/?limit=10' }, '01234567890'), 413)
  await assertRefused(all[2], 0)
  await assertRefused(all[3], 0)
  assert.equal((await request(client, { ':path': '/' })).text, '0')
  assert.equal(client.destroyed, false)
})

test('DATA of one byte behind the limit is refused, and later DATA of the stream is thrown away', options, async (t) => {
  /** @type {Seen[]} */
  const all = []
  const { port } = await serve(t, limited(all))
  const wire = await Frames.connect(t, port)
  wire.request(1, { ':method': 'POST', ':path': '/?limit=10' }, kEndHeaders)
  wire.send(frame(kDataType, 0, 1, '0123456789'))
  await until(() => all[0]?.got === 10, 'ten bytes are read')
  wire.send([frame(kDataType, 0, 1, 'x'), frame(kDataType, 0, 1, 'yz'), frame(kDataType, 1, 1, '')])
  const head = await wire.next((/** @type {any} */ { type, stream }) => type === 1 && stream === 1)
  assert.ok(head !== null)
  await assertRefused(all[0], 10)
  wire.request(3, { ':path': '/' })
  assert.ok(await wire.next((/** @type {any} */ { type, stream, payload }) => type === kDataType && stream === 3 && String(payload) === '0'))
})

test('a stream whose response has begun is reset', options, async (t) => {
  /** @type {Seen[]} */
  const all = []
  const { client } = await serve(t, limited(all))
  const stream = client.request({ ':method': 'POST', ':path': '/begun?limit=10' })
  stream.on('error', () => {}).resume()
  stream.write('0123456789')
  const [headers] = await once(stream, 'response')
  assert.equal(headers[':status'], 200)
  await until(() => all[0].got === 10, 'ten bytes are read')
  const closed = new Promise((resolve) => stream.on('close', resolve))
  stream.write('x')
  await closed
  assert.equal(stream.rstCode, NGHTTP2_INTERNAL_ERROR)
  await assertRefused(all[0], 10)
})

test('bodies that are refused give the window of the connection back', options, async (t) => {
  /** @type {Seen[]} */
  const all = []
  const { client } = await serve(t, limited(all))
  for (let i = 0; i < 40; i++) assert.equal(await refused(client, { ':path': '/?limit=10' }, Buffer.alloc(100_000)), 413)
  assert.equal((await request(client, { ':method': 'POST', ':path': '/' }, { body: Buffer.alloc(3_000_000) })).text, '3000000')
})

test('a handler may raise the limit of a stream up to maxRequestBodySizeCeiling', options, async (t) => {
  /** @type {Seen[]} */
  const all = []
  const { client } = await serve(t, limited(all), { maxRequestBodySize: 10, maxRequestBodySizeCeiling: 100 })
  const post = { ':method': 'POST', ':path': '/?limit=100' }
  assert.equal((await request(client, post, { body: 'x'.repeat(100) })).text, '100')
  assert.equal(await refused(client, { ':path': '/?limit=100' }, 'x'.repeat(101)), 413)
  assert.equal(await refused(client, { ':path': '/' }, '01234567890'), 413)
  assert.equal(await refused(client, { ':path': '/', 'content-length': '11' }, 'x'), 413)
  const { length } = all
  assert.equal(await refused(client, { ':path': '/', 'content-length': '101' }, 'x'), 413)
  assert.equal(all.length, length) // The I/O thread has refused it.
})

test('streams over TLS are limited alike', options, async (t) => {
  const { https } = /** @type {any} */ (http)
  const port = await listen(t, https.createServer(certificate('a.test'), limited([])))
  const client = http2.connect(`https://127.0.0.1:${port}`, { rejectUnauthorized: false })
  t.after(() => client.destroy())
  await once(client, 'remoteSettings')
  assert.equal((await request(client, { ':method': 'POST', ':path': '/?limit=10' }, { body: '0123456789' })).text, '10')
  assert.equal(await refused(client, { ':path': '/?limit=10' }, '01234567890'), 413)
})

test('the limit of a server is not that of a URL that is nobody\'s, over HTTP/1.1 and HTTP/2', options, async (t) => {
  const server = http.createServer({ maxRequestBodySize: 10, http2: true }, (req, res) => res.end('shop'))
  const port = await freePort()
  t.after(() => server.close())
  await once(server.listen(`http://127.0.0.1:${port}/shop/`), 'listening')
  const client = http2.connect(`http://127.0.0.1:${port}`)
  t.after(() => client.destroy())
  for (const [url, length, expected] of /** @type {[string, boolean, number][]} */ ([
    ['/other', true, 404], ['/other', false, 404], ['/shop/', true, 413]])) {
    const fields = length ? { 'content-length': '100' } : {}
    const { status } = await fetch(`http://127.0.0.1:${port}${url}`, { method: 'POST', body: length ? 'x'.repeat(100) : new Blob(['x'.repeat(100)]).stream(), ...{ duplex: 'half' } })
    assert.equal(status, expected, `HTTP/1.1 ${url} ${length}`)
    assert.equal(await refused(client, { ':path': url, ...fields }, 'x'.repeat(100)), expected, `HTTP/2 ${url} ${length}`)
  }
})
