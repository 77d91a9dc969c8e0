'use strict'

// Goal: whoever stops getting a file closes no descriptor but those that are its own. Method: responses that Node's own stream fills, because
// others are before them, whose clients leave within the file; then the descriptor is used.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const fs = require('node:fs')
const net = require('node:net')
const { Buffer } = require('node:buffer')
const { once } = require('node:events')
const { http } = require('../helpers/backend')
const { needs } = require('../helpers/capabilities')
const { request, serve } = require('../helpers/client')
const { temporaryFile } = require('../helpers/temporary-file')
const { sendFile } = /** @type {any} */ (http)

const kBytes = 50_000_000
const { file } = temporaryFile(Buffer.alloc(kBytes, 'a'))

/**
 * Serves a file behind another answer on the same connection, to a client that leaves within the file.
 *
 * @param {import('node:test').TestContext} t
 * @param {unknown} what the argument of sendFile()
 * @returns {Promise<number>} the port, which answers with the whole file at `/whole`
 */
async function leaveWithin (t, what) {
  /** @type {(error: unknown) => void} */
  let resolve = () => {}
  const promise = new Promise((_resolve) => { resolve = _resolve })
  const server = http.createServer((req, res) => {
    if (req.url === '/first') setTimeout(() => res.end('first'), 50)
    else if (req.url === '/whole') sendFile(res, what, { end: 9 }, () => {})
    else sendFile(res, what, {}, resolve)
  })
  const port = await serve(t, server)
  const client = net.connect(port, '127.0.0.1')
  client.write('GET /first HTTP/1.1\r\nHost: a\r\n\r\nGET /second HTTP/1.1\r\nHost: a\r\n\r\n')
  for (let bytes = 0; bytes < 500_000;) bytes += (await once(client, 'data'))[0].length
  client.destroy()
  assert.ok(await promise instanceof Error)
  return port
}

test('a descriptor of the application stays open when a client leaves', needs('aborts', 'pipelines'), async (t) => {
  const fd = fs.openSync(file, 'r')
  await leaveWithin(t, fd)
  assert.equal(fs.fstatSync(fd).size, kBytes)
  fs.closeSync(fd)
})

test('the file that others get is the same after a client has left', needs('aborts', 'pipelines'), async (t) => {
  const port = await leaveWithin(t, file)
  // Whoever opens something now gets numbers that were closed.
  const { file: secret } = temporaryFile(Buffer.alloc(kBytes, 's'))
  const others = Array.from({ length: 20 }, () => fs.openSync(secret, 'r'))
  for (let i = 0; i < 5; ++i) {
    assert.equal((await request({ port, path: '/whole' })).body, 'a'.repeat(10))
  }
  for (const fd of others) fs.closeSync(fd)
})
