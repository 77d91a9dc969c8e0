'use strict'

// Goal: a file of sendFile() is named to HTTP.SYS as documented, in one call where that can be, and whatever happens to that
// call, both ends hear of it and no handle is left.

const { afterEach, test } = require('node:test')
const assert = require('node:assert/strict')
const fs = require('node:fs')
const nodeHttp = require('node:http')
const path = require('node:path')
const { once } = require('node:events')
const { http } = require('../helpers/backend')
const { dial, get, request, serve } = require('../helpers/client')
const { forget, notesOf, plan, report, slow } = require('../helpers/httpapi-double')
const { temporaryFile } = require('../helpers/temporary-file')
const { sendFile, setCachePolicy } = /** @type {any} */ (http)

// HTTP_SEND_RESPONSE_FLAG_...
const kDisconnect = 1
const kMoreData = 2

// System error codes.
const kHandleEof = 38
const kNetnameDeleted = 64
const kInvalidParameter = 87
const kConnectionInvalid = 1229

const timed = { timeout: 20_000 }
const kContent = Buffer.alloc(100_000, 'content ')

const { folder, file } = temporaryFile(kContent)
afterEach(async () => {
  await plan('')
  await slow(0)
})

/** @param {import('node:test').TestContext} t @param {(res: any) => void} [prepare] @param {string} [name] */
async function serveFile (t, prepare = () => {}, name = file) {
  const heard = /** @type {string[]} */ ([])
  const server = http.createServer((req, res) => {
    res.on('finish', () => heard.push('finish'))
    res.on('close', () => heard.push('close'))
    prepare(res)
    sendFile(res, name, { start: 8 }, (/** @type {any} */ error) => heard.push(error?.code ?? 'sent'))
  })
  const port = await serve(t, server)
  await forget()
  return { server, port, heard }
}

/** Until the kernel's handle, and ours, are closed. */
async function noFiles () {
  while ((await report()).open.files !== 0) await new Promise(setImmediate)
}

test('a file leaves with its head in one call, as a range of a handle', timed, async (t) => {
  const { port, heard } = await serveFile(t)
  assert.equal((await request(port)).body, kContent.subarray(8).toString())
  assert.deepEqual((await notesOf('fileFrom')).map(({ fileFrom, bytes }) => [fileFrom, bytes]), [[8, kContent.length - 8]])
  assert.deepEqual((await notesOf('status')).map(({ flags }) => flags & kMoreData), [0])
  await noFiles()
  while (heard.length < 3) await new Promise(setImmediate)
  assert.deepEqual(heard.sort(), ['close', 'finish', 'sent'])
})

test('the last file of a connection leaves with its end', timed, async (t) => {
  const { port } = await serveFile(t, (res) => res.setHeader('Connection', 'close'))
  const wire = await dial(t, port)
  wire.write(get('/'))
  assert.ok((await wire.untilClosed()).endsWith(kContent.subarray(8).toString()))
  const [{ flags }] = await notesOf('status')
  assert.equal(flags & kDisconnect, kDisconnect)
})

test('a file is kept by the response cache', timed, async (t) => {
  const { port, server } = await serveFile(t, (res) => {
    res.setHeader('Content-Type', 'text/plain')
    setCachePolicy(res, { policy: 'timeToLive', seconds: 60 })
  })
  let asked = 0
  server.on('request', () => asked++)
  for (let i = 0; i < 3; i++) assert.equal((await request({ port, path: '/kept' })).body, kContent.subarray(8).toString())
  assert.equal(asked, 1)
})

test('a request of HTTP/2 gets its file, too, whole or behind what was written', timed, async (t) => {
  const headers = { 'X-Double-Version': '2' }
  const { port } = await serveFile(t, (res) => { if (res.req.url === '/behind') res.flushHeaders() })
  assert.equal((await request({ port, headers })).body, kContent.subarray(8).toString())
  const behind = await request({ port, headers, path: '/behind' })
  assert.deepEqual([behind.headers['transfer-encoding'], behind.body], [undefined, kContent.subarray(8).toString()])
  assert.equal((await notesOf('fileFrom')).length, 2)
})

test('behind what has left the kernel reads the file, and what Node is to count is streamed', timed, async (t) => {
  const { port } = await serveFile(t, (res) => {
    if (res.req.url === '/left') res.write('before ')
    else res.strictContentLength = true
  })
  assert.equal((await request({ port, path: '/left' })).body, `before ${kContent.subarray(8)}`)
  assert.equal((await notesOf('fileFrom')).length, 1)
  assert.equal((await request({ port, path: '/counted' })).body, kContent.subarray(8).toString())
  assert.equal((await notesOf('fileFrom')).length, 1)
})

for (const fault of [
  `HttpSendHttpResponse:1:${kInvalidParameter}`, `HttpSendHttpResponse:1:${kHandleEof}:1:late`,
  `HttpSendHttpResponse:1:${kNetnameDeleted}:1:late`, `HttpSendHttpResponse:1:${kConnectionInvalid}`
]) {
  test(`${fault}: both ends hear that the file was not sent, and no handle is left`, timed, async (t) => {
    const { port, heard } = await serveFile(t)
    await plan(fault)
    await assert.rejects(request(port))
    while (heard.length < 2) await new Promise(setImmediate)
    assert.deepEqual(heard.sort(), ['ERR_STREAM_PREMATURE_CLOSE', 'close'])
    await noFiles()
    assert.equal((await report()).faultsLeft, 0)
    assert.equal((await request(port)).status, 200)
  })
}

test('a file is not finished before HTTP.SYS says that it was sent', timed, async (t) => {
  /** @type {any} */
  let sent
  const { port, heard } = await serveFile(t, (res) => { sent = res })
  await slow(300)
  const client = nodeHttp.get({ port, host: '127.0.0.1', agent: false })
  const [res] = await once(client, 'response')
  res.resume()
  await once(res, 'end')
  assert.deepEqual([sent.writableEnded, sent.writableFinished, heard], [true, false, []])
  await once(sent, 'finish')
  assert.equal(sent.writableFinished, true)
})

test('a client that leaves, and destroy(), cancel the call, and no handle is left', timed, async (t) => {
  const large = path.join(folder, 'large')
  fs.writeFileSync(large, '')
  fs.truncateSync(large, 50 * 1024 * 1024)
  for (const how of ['client', 'server']) {
    /** @type {any} */
    let sent
    const { port, heard } = await serveFile(t, (res) => { sent = res }, large)
    const client = nodeHttp.get({ port, host: '127.0.0.1', agent: false })
    client.on('error', () => {})
    const [res] = await once(client, 'response')
    res.on('error', () => {})
    await once(res, 'readable')
    assert.equal((await notesOf('fileFrom')).length, 1)
    if (how === 'client') client.destroy()
    else sent.destroy()
    while (heard.length < 2) await new Promise(setImmediate)
    assert.deepEqual(heard.sort(), ['ERR_STREAM_PREMATURE_CLOSE', 'close'])
    await noFiles()
    client.destroy()
  }
})

test('a process that ends within a file leaves nothing open', timed, async (t) => {
  const { startChild } = require('../helpers/child')
  const output = path.join(folder, 'report.json')
  const large = path.join(folder, 'very large')
  fs.writeFileSync(large, '')
  fs.truncateSync(large, 50 * 1024 * 1024)
  const child = startChild(({ http, report }) => {
    const server = http.createServer((req, res) => {
      if (req.url === '/file') return /** @type {any} */ (http).sendFile(res, process.env.TEST_FILE, () => {})
      res.end()
      // The client has the head of the file and reads nothing behind it: after this time the file is stuck in the middle, whatever the kernel
      // has taken.
      setTimeout(() => {
        process.disconnect()
        server.close()
        server.closeAllConnections()
      }, 200)
    })
    server.listen(0, '127.0.0.1', () => report({ port: /** @type {any} */ (server.address()).port }))
  }, { env: { HTTPAPI_DOUBLE_REPORT: output, TEST_FILE: large } })
  const port = await child.message('port')
  const wire = await dial(t, port)
  wire.write(get('/file'))
  await wire.until('\r\n\r\n')
  wire.socket.pause()
  await request({ port, path: '/end' })
  assert.equal((await child.exit).code, 0)
  assert.deepEqual(new Set(Object.values(JSON.parse(fs.readFileSync(output, 'utf8')).open)), new Set([0]))
})
