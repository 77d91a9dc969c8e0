'use strict'

// Requests in the queue of a server whose JavaScript ends: nobody begins them, and their clients are told so.

const assert = require('node:assert/strict')
const http2 = require('node:http2')
const net = require('node:net')
const { test } = require('node:test')
const { backend } = require('@httpsys/core-native')
const { BlockingServer } = require('../helpers/blocking-server')
const { freePort } = require('../helpers/free-port')

const skip = backend === 'node' ? 'node:http has no request queue' : false

// It stands still in /block until it is told to go on, and ends then. In a worker it ends by terminate().
const kServer = `
const fs = require('node:fs')
const { Worker, isMainThread, workerData } = require('node:worker_threads')
const { where, how } = isMainThread ? JSON.parse(process.argv[1]) : workerData
const say = (text) => fs.writeSync(1, text + '\\n')
function serve () {
  const { createServer } = require('@httpsys/core-native')
  const server = createServer({ http2: true }, (req, res) => {
    if (req.url.endsWith('/late')) return
    if (!req.url.endsWith('/block')) return res.end('served')
    say('blocked')
    if (how === 'terminate') for (;;);
    fs.readSync(0, Buffer.alloc(1))
    if (how === 'exit') process.exit(0)
    throw new Error('of the handler')
  })
  server.listen(where, () => say('port ' + server.address().port))
}
if (how !== 'terminate') serve()
else if (!isMainThread) serve()
else {
  const worker = new Worker(__filename === '[eval]' ? process.argv[2] : __filename, { eval: true, workerData: { where, how } })
  process.stdin.once('data', async () => { await worker.terminate(); say('terminated') })
}
`

/** @param {number} port @param {string} text */
function send (port, text) {
  const socket = net.connect(port, '127.0.0.1')
  let received = ''
  socket.setEncoding('latin1').on('data', (data) => { received += data })
  const end = new Promise((resolve) => {
    socket.on('error', (/** @type {any} */ error) => resolve(error.code))
    socket.on('close', () => resolve(received))
  })
  return { end, written: new Promise((resolve) => socket.write(text, resolve)) }
}

const get = (/** @type {string} */ url) => `GET ${url} HTTP/1.1\r\nHost: a\r\n\r\n`

for (const how of ['exit', 'throw', 'terminate']) {
  test(`requests that were not begun get 503 when their server's JavaScript ends (${how})`, { skip }, async (t) => {
    const port = await freePort()
    const server = new BlockingServer(t, kServer, { where: `http://*:${port}/a/`, how }, { stderr: how === 'throw' ? 'ignore' : 'inherit' })
    await server.says(/port/)
    const client = http2.connect(`http://127.0.0.1:${port}`)
    client.on('error', () => {})
    t.after(() => client.destroy())
    const stream = (/** @type {string} */ path) => new Promise((resolve) => {
      const asked = client.request({ ':path': path })
      asked.on('response', (headers) => resolve(headers[':status'])).on('error', (/** @type {any} */ error) => resolve(error.code)).resume()
    })
    assert.equal(await stream('/a/'), 200)
    const begun = send(port, get('/a/late'))
    await begun.written
    const blocked = send(port, get('/a/block'))
    await server.says(/blocked/)
    const waiting = [get('/a/1'), get('/a/2') + get('/a/3')].map((text) => send(port, text))
    await Promise.all(waiting.map(({ written }) => written))
    const streamed = stream('/a/4')
    // They are with the I/O thread then: it answers a request for nobody behind them.
    assert.match(String(await send(port, get('/nobody') + 'x\r\n\r\n').end), /^HTTP\/1\.1 404 /)
    server.goOn()
    for (const { end } of waiting) {
      assert.match(String(await end), /^HTTP\/1\.1 503 [^]*<p>AppOffline<\/p>\n$/)
    }
    assert.equal(await streamed, 503)
    for (const { end } of [begun, blocked]) assert.doesNotMatch(String(await end), /HTTP/)
  })
}

test('without a prefix they are reset, as on Node', { skip }, async (t) => {
  const server = new BlockingServer(t, kServer, { where: 0, how: 'exit' })
  const port = Number((await server.says(/port (\d+)/))[1])
  send(port, get('/block'))
  await server.says(/blocked/)
  const waiting = send(port, get('/1'))
  await waiting.written
  assert.match(String(await send(port, '\x00').end), /^HTTP\/1\.1 400 /)
  server.goOn()
  assert.doesNotMatch(String(await waiting.end), /HTTP/)
})
