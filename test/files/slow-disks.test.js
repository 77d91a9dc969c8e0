'use strict'

// Goal: a file that takes its time, or cannot be read, concerns nobody but those who asked for it. Method: files whose reads are answered by
// another process, late or with an error (FUSE).

const { test } = require('node:test')
const assert = require('node:assert/strict')
const net = require('node:net')
const path = require('node:path')
const { Buffer } = require('node:buffer')
const { once } = require('node:events')
const { Worker } = require('node:worker_threads')
const { startChild } = require('../helpers/child')
const { http } = require('../helpers/backend')
const { needs } = require('../helpers/capabilities')
const { kNoFuse, mountFuse } = require('../helpers/fuse')
const { until } = require('../helpers/waiting')
const { kProtocols } = require('./kit')
const { sendFile } = /** @type {any} */ (http)

const options = { ...needs('slowReaders', 'aborts'), ...(kNoFuse && { skip: kNoFuse }) }

const kReadMs = 1500
const kFiles = {
  small: { size: 1000 },
  large: { size: 3_000_000 },
  bad: { size: 1_000_000, failsAt: 400_000 },
  // The kernel reads ahead in several requests, which are answered one after the other.
  slow: { size: 5000, delayMs: kReadMs },
  slower: { size: 5000, delayMs: 60_000 }
}
const mounted = kNoFuse === false ? mountFuse(kFiles) : Promise.resolve('')

/** @param {number} size */
const pattern = (size) => Buffer.from(Uint8Array.from({ length: size }, (_, i) => i % 251))

/** @param {any} server @param {string} folder */
const handlerOf = (server, folder) => (/** @type {any} */ req, /** @type {any} */ res) => {
  if (req.url === '/text') return res.end('text')
  sendFile(res, path.join(folder, req.url), (/** @type {any} */ error) => server.told.push(error?.code ?? 'sent'))
}

for (const [protocol, start] of Object.entries(kProtocols)) {
  test(`${protocol}: files of which the file system says nothing arrive whole`, options, async (t) => {
    const told = { told: [] }
    const { get } = await start(t, handlerOf(told, await mounted))
    for (const name of /** @type {const} */ (['small', 'large', 'small', 'large'])) {
      const answer = await get(`/${name}`)
      assert.ok(answer.isWhole && answer.body.equals(pattern(kFiles[name].size)), name)
    }
    const both = await Promise.all(Array.from({ length: 20 }, () => get('/large')))
    for (const answer of both) assert.ok(answer.body.equals(pattern(kFiles.large.size)))
  })

  test(`${protocol}: others do not wait for a file that takes its time`, options, async (t) => {
    const told = { told: [] }
    const { get } = await start(t, handlerOf(told, await mounted))
    let isThere = false
    const slow = get('/slow').then((answer) => {
      isThere = true
      return answer
    })
    let answers = 0
    while (answers < 100) {
      assert.equal((await get('/text')).body.toString(), 'text')
      ++answers
    }
    // A hundred answers take some ten milliseconds: none of them can have waited.
    assert.equal(isThere, false)
    assert.ok((await slow).body.equals(pattern(kFiles.slow.size)))
  })

  test(`${protocol}: a file that cannot be read any further ends the message, and the callback hears why`, options, async (t) => {
    const told = { told: /** @type {string[]} */ ([]) }
    const { get } = await start(t, handlerOf(told, await mounted))
    const answer = await get('/bad')
    assert.equal(answer.isWhole, false)
    assert.ok(answer.body.length < kFiles.bad.failsAt + 1 && answer.body.equals(pattern(answer.body.length)))
    assert.equal((await get('/text')).body.toString(), 'text')
    await until(() => told.told.length > 0, 'the callback is called')
    assert.deepEqual(told.told, ['EIO'])
  })
}

test('a process ends although a file of its answers does not come', options, async (t) => {
  const child = startChild(({ http, report, args: [file] }) => {
    const server = http.createServer((_req, res) => {
      report({ isAsked: true })
      Reflect.get(http, 'sendFile')(res, file, () => {})
    })
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      report({ port: typeof address === 'object' && address?.port })
    })
    process.on('message', () => process.exit(7))
  }, { args: [path.join(await mounted, 'slower')] })
  t.after(() => child.kill())
  const port = await child.message('port')
  const client = net.connect(port, '127.0.0.1')
  client.on('error', () => {})
  client.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
  await child.message('isAsked')
  // The head comes, and the file does not.
  await once(client, 'data')
  const ended = once(child.process, 'exit')
  child.send('end')
  assert.equal((await ended)[0], 7)
})

test('a worker ends although a file of its answers does not come', options, async () => {
  const file = path.join(await mounted, 'slower')
  const worker = new Worker(`
    const { parentPort } = require('node:worker_threads')
    const http = require(${JSON.stringify(require.resolve('@httpsys/core-native'))})
    const server = http.createServer((_req, res) => http.sendFile(res, ${JSON.stringify(file)}, () => {}))
    server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port))
  `, { eval: true })
  const [port] = await once(worker, 'message')
  const client = net.connect(port, '127.0.0.1')
  client.on('error', () => {})
  client.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
  await once(client, 'data')
  await worker.terminate()
})
