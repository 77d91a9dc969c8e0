'use strict'

// Goal: a file that is piped into a response is named to HTTP.SYS in windows of 1 MiB, each in a call as documented, and nobody sees that
// no stream has read it. Whatever happens to those calls, both ends hear of it as of a client that has left, and no handle is left.

const { afterEach, test } = require('node:test')
const assert = require('node:assert/strict')
const crypto = require('node:crypto')
const fs = require('node:fs')
const nodeHttp = require('node:http')
const path = require('node:path')
const { once } = require('node:events')
const { pipeline } = require('node:stream')
const { http } = require('../helpers/backend')
const { dial, get, request, serve } = require('../helpers/client')
const { forget, notesOf, plan, report, slow } = require('../helpers/httpapi-double')
const { temporaryFile } = require('../helpers/temporary-file')
// Wine shows links as folders, each of which has modules of its own: this is the one that the server under test writes to.
const { piped } = require(path.join(path.dirname(require.resolve('@httpsys/core-native')), 'lib', 'http', 'piped'))

const kMoreData = 2 // HTTP_SEND_RESPONSE_FLAG_MORE_DATA

// System error codes.
const kHandleEof = 38
const kNetnameDeleted = 64
const kInvalidParameter = 87
const kConnectionInvalid = 1229

const kMiB = 1024 * 1024
const timed = { timeout: 20_000 }
const kContent = crypto.randomBytes(3.5 * kMiB)
const kShort = kContent.subarray(0, 100_000)

const { folder, file: short } = temporaryFile(kShort)
const long = path.join(folder, 'long')
fs.writeFileSync(long, kContent)
// More than any buffer on the way takes.
const huge = path.join(folder, 'huge')
const kHugeBytes = 32 * kMiB
fs.writeFileSync(huge, Buffer.alloc(kHugeBytes, 'huge'))

afterEach(async () => {
  await plan('')
  await slow(0)
})

/** @typedef {{ name: string, options?: object, prepare?: (res: any, source: fs.ReadStream) => void, pipe?: (source: fs.ReadStream, res: any) => void }} How */

/**
 * @param {import('node:test').TestContext} t
 * @param {How} how the response is made
 */
async function servePiped (t, { name, options, prepare = () => {}, pipe = (source, res) => source.pipe(res) }) {
  const heard = /** @type {string[]} */ ([])
  /** @type {fs.ReadStream[]} */
  const sources = []
  const server = http.createServer((req, res) => {
    if (req.url === '/after') return res.end('after')
    for (const event of ['finish', 'close']) res.on(event, () => heard.push(`response ${event}`))
    const source = fs.createReadStream(name, options)
    sources.push(source)
    for (const event of ['end', 'close']) source.on(event, () => heard.push(`stream ${event}`))
    source.on('error', (/** @type {NodeJS.ErrnoException} */ error) => heard.push(`stream error ${error.code}`))
    prepare(res, source)
    pipe(source, res)
  })
  const port = await serve(t, server)
  Object.assign(piped, { taken: 0, returned: 0, reason: '' })
  await forget()
  return { port, heard, server, sources }
}

/** @param {import('node:test').TestContext} t @returns {nodeHttp.Agent} that has one connection, and keeps it */
function keepAlive (t) {
  const agent = new nodeHttp.Agent({ keepAlive: true, maxSockets: 1 })
  t.after(() => agent.destroy())
  return agent
}

/** Until the kernel's handles, and ours, are closed. */
async function noFiles () {
  while ((await report()).open.files !== 0) await new Promise(setImmediate)
}

/** @param {string[]} heard @param {number} count */
async function hear (heard, count) {
  while (heard.length < count) await new Promise(setImmediate)
}

/** @returns {Promise<number[][]>} the parts of files that the kernel was told to send: where each begins, and its bytes */
async function partsOf () {
  return (await notesOf('fileFrom')).map(({ fileFrom, bytes }) => [fileFrom, bytes])
}

/** @param {string} body @param {Buffer} expected */
function isSame (body, expected) {
  assert.ok(Buffer.from(body, 'latin1').equals(expected), `${body.length} of ${expected.length} bytes`)
}

const kWindows = [[0, kMiB], [kMiB, kMiB], [2 * kMiB, kMiB], [3 * kMiB, kMiB / 2]]
const kWhole = ['stream end', 'response finish', 'response close', 'stream close']

test('a file whose length the client is told leaves with its head, and the end, in one call', timed, async (t) => {
  const { port, heard, sources } = await servePiped(t, {
    name: short, options: { start: 8 }, prepare: (res) => res.setHeader('Content-Length', kShort.length - 8)
  })
  isSame((await request({ port, agent: keepAlive(t) })).body, kShort.subarray(8))
  assert.deepEqual(await partsOf(), [[8, kShort.length - 8]])
  assert.deepEqual((await notesOf('status')).map(({ flags }) => flags & kMoreData), [0])
  await hear(heard, 4)
  assert.deepEqual(heard.slice(0, 3), kWhole.slice(0, 3))
  assert.deepEqual([piped.taken, sources[0].bytesRead], [1, kShort.length - 8])
  await noFiles()
})

test('a file in chunks leaves in one call, and the last chunk behind it', timed, async (t) => {
  const { port, heard } = await servePiped(t, { name: short })
  const { headers, body } = await request(port)
  isSame(body, kShort)
  assert.equal(headers['transfer-encoding'], 'chunked')
  assert.deepEqual(await partsOf(), [[0, kShort.length]])
  assert.deepEqual((await notesOf('status')).map(({ flags }) => flags & kMoreData), [kMoreData])
  await hear(heard, 4)
  assert.deepEqual(heard.slice(0, 3), kWhole.slice(0, 3))
  await noFiles()
})

test('the kernel reads the files, and their ranges, of unmodified express.static()', timed, async (t) => {
  const app = require('express')()
  app.use(require('express').static(folder))
  const port = await serve(t, http.createServer(app))
  Object.assign(piped, { taken: 0, returned: 0, reason: '' })
  await forget()
  const agent = keepAlive(t)
  isSame((await request({ port, agent, path: '/content' })).body, kShort)
  isSame((await request({ port, agent, path: '/content', headers: { Range: 'bytes=10-19' } })).body, kShort.subarray(10, 20))
  assert.equal((await request({ port, agent, path: '/none' })).status, 404)
  assert.deepEqual(await partsOf(), [[0, kShort.length], [10, 10]])
  assert.deepEqual(piped, { taken: 2, returned: 0, reason: '' })
  await noFiles()
})

test('the last file of a connection leaves before its end', timed, async (t) => {
  const { port, heard } = await servePiped(t, {
    name: short, prepare: (res) => res.writeHead(200, { Connection: 'close', 'Content-Length': kShort.length })
  })
  const wire = await dial(t, port)
  wire.write(get('/'))
  const text = await wire.untilClosed()
  isSame(text.slice(text.indexOf('\r\n\r\n') + 4), kShort)
  await hear(heard, 4)
  assert.deepEqual(heard.slice(0, 3), kWhole.slice(0, 3))
  assert.equal(piped.taken, 1)
})

for (const [title, prepare] of /** @type {[string, How['prepare']][]} */ ([
  ['with a length', (res) => res.setHeader('Content-Length', kContent.length)], ['in chunks', () => {}],
  ['behind its head', (res) => { res.setHeader('Content-Length', kContent.length); res.flushHeaders() }]
])) {
  for (const version of ['1.1', '2']) {
    test(`a long file ${title} leaves in windows, over HTTP/${version}, and the connection goes on`, timed, async (t) => {
      const { port, heard, sources } = await servePiped(t, { name: long, prepare })
      const agent = keepAlive(t)
      const headers = version === '2' ? { 'X-Double-Version': '2' } : {}
      const first = await request({ port, agent, headers })
      isSame(first.body, kContent)
      const next = await request({ port, agent, headers, path: '/after' })
      assert.equal(next.body, 'after')
      // The double ends a stream of unknown length with its connection.
      if (version === '1.1' || 'content-length' in first.headers) assert.equal(next.localPort, first.localPort)
      assert.deepEqual(await partsOf(), kWindows)
      await hear(heard, 4)
      assert.deepEqual(heard.slice(0, 3), kWhole.slice(0, 3))
      assert.deepEqual([piped.taken, piped.returned, sources[0].bytesRead], [1, 0, kContent.length])
      await noFiles()
    })
  }
}

test('the next request may come before HTTP.SYS says that the file was sent', timed, async (t) => {
  /** @type {string[] | undefined} */
  let heardBefore
  const { port, heard, server } = await servePiped(t, { name: short, prepare: (res) => res.setHeader('Content-Length', kShort.length) })
  server.on('request', (req) => { if (req.url === '/after') heardBefore = [...heard] })
  const agent = keepAlive(t)
  // What is under way by then takes so long, and what comes later does not.
  await slow(1000)
  const first = await request({ port, agent })
  await slow(0)
  const next = await request({ port, agent, path: '/after' })
  isSame(first.body, kShort)
  assert.deepEqual([next.body, next.localPort, heardBefore], ['after', first.localPort, []])
  await hear(heard, 4)
  assert.deepEqual(heard.slice(0, 3), kWhole.slice(0, 3))
  assert.equal(piped.taken, 1)
  await noFiles()
})

test('somebody who listens to the data in the middle gets the rest from Node\'s stream', timed, async (t) => {
  let seen = 0
  const { port, sources } = await servePiped(t, {
    name: huge,
    prepare: (res, source) => {
      res.setHeader('Content-Length', kHugeBytes)
      const timer = setInterval(() => {
        if (source.bytesRead === 0) return
        clearInterval(timer)
        source.on('data', (piece) => { seen += piece.length })
      }, 1)
    }
  })
  const hash = await new Promise((resolve, reject) => {
    const all = crypto.createHash('sha256')
    nodeHttp.get({ port, host: '127.0.0.1', agent: false }, (res) => {
      res.on('data', (piece) => all.update(piece)).on('end', () => resolve(all.digest('hex'))).on('error', reject)
    }).on('error', reject)
  })
  assert.equal(hash, crypto.createHash('sha256').update(fs.readFileSync(huge)).digest('hex'))
  assert.deepEqual([piped.taken, piped.returned, piped.reason], [1, 1, 'data listener'])
  assert.ok(seen > 0 && seen % kMiB === 0, `${seen} bytes were left to the stream`)
  assert.equal(sources[0].bytesRead, kHugeBytes)
  await noFiles()
})

for (const fault of [
  `HttpSendHttpResponse:1:${kInvalidParameter}`, `HttpSendHttpResponse:1:${kNetnameDeleted}:1:late`,
  `HttpSendResponseEntityBody:1:${kHandleEof}:1:late`, `HttpSendResponseEntityBody:1:${kConnectionInvalid}`
]) {
  test(`${fault}: the application hears of a client that has left, and no handle is left`, timed, async (t) => {
    const { port, heard } = await servePiped(t, {
      name: long,
      prepare: (res) => res.setHeader('Content-Length', kContent.length),
      pipe: (source, res) => pipeline(source, res, (error) => heard.push(`pipeline ${error?.code}`))
    })
    await plan(fault)
    await assert.rejects(request(port))
    await hear(heard, 4)
    // Versions of Node call back before or behind 'error'.
    assert.deepEqual(heard.sort(), ['pipeline ERR_STREAM_PREMATURE_CLOSE', 'response close', 'stream close', 'stream error ERR_STREAM_PREMATURE_CLOSE'])
    await noFiles()
    assert.equal(piped.taken, 1)
    assert.equal((await report()).faultsLeft, 0)
    assert.equal((await request({ port, path: '/after' })).body, 'after')
  })
}

for (const how of ['the client', 'destroy() of the response', 'destroy() of the stream']) {
  test(`${how} ends a file in the middle, and no handle is left`, timed, async (t) => {
    /** @type {any} */
    let sent
    const { port, heard, sources } = await servePiped(t, {
      name: huge,
      prepare: (res) => { sent = res },
      pipe: (source, res) => pipeline(source, res, (error) => heard.push(`pipeline ${error?.code}`))
    })
    const client = nodeHttp.get({ port, host: '127.0.0.1', agent: false })
    t.after(() => client.destroy())
    client.on('error', () => {})
    const [res] = await once(client, 'response')
    res.on('error', () => {})
    await once(res, 'readable')
    assert.equal(piped.taken, 1)
    if (how === 'the client') client.destroy()
    else if (how === 'destroy() of the response') sent.destroy()
    else sources[0].destroy()
    const expected = ['pipeline ERR_STREAM_PREMATURE_CLOSE', 'response close', 'stream close']
    // pipeline() destroys the stream, which says so.
    if (how !== 'destroy() of the stream') expected.push('stream error ERR_STREAM_PREMATURE_CLOSE')
    await hear(heard, expected.length)
    assert.deepEqual(heard.sort(), expected)
    await noFiles()
  })
}

test('a file that becomes shorter ends the connection', timed, async (t) => {
  const shrinking = path.join(folder, 'shrinking')
  fs.copyFileSync(huge, shrinking)
  const { port, heard, sources } = await servePiped(t, {
    name: shrinking,
    prepare: (res, source) => {
      res.setHeader('Content-Length', kHugeBytes)
      res.on('close', () => source.destroy())
    }
  })
  const failed = new Promise((resolve) => {
    const client = nodeHttp.get({ port, host: '127.0.0.1', agent: false }, (res) => {
      res.on('error', resolve)
      res.once('readable', () => {
        fs.truncateSync(shrinking, 20 * kMiB)
        res.resume()
      })
    })
    client.on('error', resolve)
  })
  assert.equal((await failed).code, 'ECONNRESET')
  await hear(heard, 2)
  assert.deepEqual(heard, ['response close', 'stream close'])
  assert.equal(piped.taken, 1)
  assert.ok(sources[0].bytesRead <= 20 * kMiB)
  await noFiles()
})
