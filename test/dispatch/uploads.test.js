'use strict'

// Goal: a chunk belongs to the application for good. Method: a server keeps every chunk of 10,000
// uploads and hashes them at the end, when any memory that was lent would long be used again.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const { createHash } = require('node:crypto')
require('../helpers/backend')
const { startChild } = require('../helpers/child')
const { dial } = require('../helpers/client')
const { bodyOf } = require('../fixtures/upload-body')

const kUploads = 10_000
const kConnections = 16
const kPipelined = 5

test('every chunk of 10,000 uploads, kept and hashed at the end, is what was sent', async (t) => {
  const child = startChild(({ http, report }) => {
    const { createHash } = require('node:crypto')
    const { bodyOf } = require('./test/fixtures/upload-body')
    const kept = new Map()
    const server = http.createServer((req, res) => {
      const chunks = /** @type {Buffer[]} */ ([])
      kept.set(Number(String(req.url).slice(1)), chunks)
      req.on('data', (chunk) => chunks.push(chunk))
      req.on('end', () => res.end(`<${req.url}>`))
    })
    const hash = (/** @type {Buffer[]} */ chunks) => {
      const sum = createHash('sha256')
      for (const chunk of chunks) sum.update(chunk)
      return sum.digest('hex')
    }
    process.on('message', () => {
      const wrong = [...kept].filter(([n, chunks]) => hash(chunks) !== hash([bodyOf(n)])).map(([n]) => n)
      report({ verdict: { uploads: kept.size, wrong } })
    })
    server.listen(0, '127.0.0.1', () => report({ port: /** @type {any} */ (server.address()).port }))
  })
  t.after(() => child.kill())
  const port = await child.message('port')
  let next = 0
  await Promise.all(Array.from({ length: kConnections }, async () => {
    const wire = await dial(t, port)
    let answered = 0
    while (next < kUploads) {
      const numbers = Array.from({ length: Math.min(kPipelined, kUploads - next) }, () => next++)
      wire.write(Buffer.concat(numbers.flatMap((n) => {
        const body = bodyOf(n)
        return [Buffer.from(`POST /${n} HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n`), body]
      })))
      answered += numbers.length
      await wire.until('>', answered)
      assert.equal(wire.text.match(/<\/(\d+)>/g)?.at(-1), `</${numbers.at(-1)}>`)
      wire.text = ''
      answered = 0
    }
  }))
  child.send('verdict')
  assert.deepEqual(await child.message('verdict'), { uploads: kUploads, wrong: [] })
})

test('writing into a received chunk changes nothing that arrives later', async (t) => {
  const child = startChild(({ http, report }) => {
    const server = http.createServer((req, res) => {
      let text = ''
      req.on('data', (chunk) => {
        text += chunk
        chunk.fill(0x21)
      })
      req.on('end', () => res.end(`<${text.length} ${/^a*$/.test(text)} ${req.headers['x-line']} ${req.url}>`))
    })
    server.listen(0, '127.0.0.1', () => report({ port: /** @type {any} */ (server.address()).port }))
  })
  t.after(() => child.kill())
  const wire = await dial(t, await child.message('port'))
  const one = `POST /path HTTP/1.1\r\nHost: a\r\nX-Line: value\r\nContent-Length: 500\r\n\r\n${'a'.repeat(500)}`
  wire.write(one.repeat(50))
  await wire.until('<500 true value /path>', 50)
})

test('a chunk may be transferred to another thread', async (t) => {
  const child = startChild(({ http, report }) => {
    const server = http.createServer((req, res) => {
      const sums = /** @type {number[]} */ ([])
      req.on('data', (chunk) => {
        const copy = structuredClone(chunk)
        sums.push(copy.length)
      })
      req.on('end', () => res.end(`<${sums.reduce((a, b) => a + b, 0)}>`))
    })
    server.listen(0, '127.0.0.1', () => report({ port: /** @type {any} */ (server.address()).port }))
  })
  t.after(() => child.kill())
  const wire = await dial(t, await child.message('port'))
  wire.write(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 300000\r\n\r\n${'a'.repeat(300000)}`)
  await wire.until('<300000>')
})

// Each read of a body that the application consumes at once may take more than a block.
for (const chunkBytes of [2 ** 24, 2 ** 20 + 1, 100_000, 65_537]) {
  test(`a chunked body of 32 MiB in chunks of ${chunkBytes} bytes arrives as it was sent, in pieces of 64 KiB at most`, async (t) => {
    const child = startChild(({ http, report }) => {
      const { createHash } = require('node:crypto')
      const server = http.createServer((req, res) => {
        const sum = createHash('sha256')
        let longest = 0
        req.on('data', (chunk) => {
          longest = Math.max(longest, chunk.length)
          sum.update(chunk)
        })
        req.on('end', () => res.end(`<${longest <= 2 ** 16} ${sum.digest('hex')}>`))
      })
      server.listen(0, '127.0.0.1', () => report({ port: /** @type {any} */ (server.address()).port }))
    })
    t.after(() => child.kill())
    const body = Buffer.alloc(2 ** 25)
    for (let at = 0; at < body.length; at += 4) body.writeUInt32LE((at * 2654435761) >>> 0, at)
    const pieces = [Buffer.from('POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n')]
    for (let at = 0; at < body.length; at += chunkBytes) {
      const chunk = body.subarray(at, at + chunkBytes)
      pieces.push(Buffer.from(`${chunk.length.toString(16)}\r\n`), chunk, Buffer.from('\r\n'))
    }
    const wire = await dial(t, await child.message('port'))
    wire.write(Buffer.concat([...pieces, Buffer.from('0\r\n\r\n')]))
    await wire.until('>')
    assert.ok(wire.text.endsWith(`<true ${createHash('sha256').update(body).digest('hex')}>`), wire.text)
  })
}
