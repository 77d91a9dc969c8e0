'use strict'

// Goal: a server in a worker thread is as good as one in the main thread, and may end at any moment.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const { Worker } = require('node:worker_threads')
const { once } = require('node:events')
const { http } = require('../helpers/backend')
const { startChild } = require('../helpers/child')
const { dial, get, request, serve } = require('../helpers/client')

const kPrelude = `'use strict'
const http = require('@httpsys/core-native')
const { parentPort, workerData, threadId } = require('node:worker_threads')
const listen = (server) => server.listen(0, '127.0.0.1', () => parentPort.postMessage({ port: server.address().port }))
`

/**
 * A worker that runs a piece of code with http, parentPort and listen().
 *
 * @param {import('node:test').TestContext} t
 * @param {string} code
 */
function startWorker (t, code) {
  const worker = new Worker(kPrelude + code, { eval: true })
  t.after(() => worker.terminate())
  return worker
}

/** @param {Worker} worker @returns {Promise<number>} */
async function portOf (worker) {
  return (await once(worker, 'message'))[0].port
}

test('a server in a worker answers', async (t) => {
  const worker = startWorker(t, 'listen(http.createServer((req, res) => res.end(["thread", threadId, req.url].join(" "))))')
  const port = await portOf(worker)
  assert.equal((await request({ port, path: '/a' })).body, `thread ${worker.threadId} /a`)
})

test('main thread and four workers serve side by side', async (t) => {
  const mainPort = await serve(t, http.createServer((req, res) => res.end('main')))
  const workers = Array.from({ length: 4 }, () => startWorker(t, 'listen(http.createServer((req, res) => res.end(String(threadId))))'))
  const ports = await Promise.all(workers.map(portOf))
  const answers = await Promise.all(Array.from({ length: 40 }, (_, i) => request(ports[i % 4])))
  for (const [i, { body }] of answers.entries()) assert.equal(body, String(workers[i % 4].threadId))
  assert.equal((await request(mainPort)).body, 'main')
})

test('terminate() ends the server and its connections; the others go on', async (t) => {
  const [ending, staying] = [0, 1].map(() => startWorker(t, 'listen(http.createServer((req, res) => { if (req.url === "/now") res.end("x") }))'))
  const [port, other] = await Promise.all([portOf(ending), portOf(staying)])
  const wire = await dial(t, port)
  wire.write(get('/now'))
  await wire.until('\r\n\r\nx')
  wire.write(get('/never'))
  await ending.terminate()
  await wire.untilClosed()
  await assert.rejects(request(port), { code: 'ECONNREFUSED' })
  assert.equal((await request({ port: other, path: '/now' })).body, 'x')
})

test('workers may be terminated under load, again and again', async (t) => {
  for (let round = 0; round < 5; round++) {
    const worker = startWorker(t, 'listen(http.createServer((req, res) => { req.resume(); res.end("x".repeat(10000)) }))')
    const port = await portOf(worker)
    let answered = 0
    const askUntilItFails = async () => {
      for (;;) {
        try {
          await request({ port, method: 'POST' }, 'y'.repeat(10000))
        } catch {
          return
        }
        if (++answered === 40) worker.emit('loaded')
      }
    }
    const clients = Promise.all(Array.from({ length: 8 }, askUntilItFails))
    await Promise.race([once(worker, 'loaded'), clients])
    assert.ok(answered >= 40)
    await worker.terminate()
    await clients
  }
})

test('a worker may be terminated while large bodies are under way in both directions', async (t) => {
  const piece = Buffer.alloc(100_000, 'u')
  for (let round = 0; round < 10; round++) {
    const worker = startWorker(t, `
      const piece = Buffer.alloc(100_000)
      listen(http.createServer((req, res) => {
        req.resume().on('error', () => {})
        const more = () => res.write(piece, more)
        more()
      }))`)
    const port = await portOf(worker)
    let received = 0
    const clients = await Promise.all(Array.from({ length: 12 }, async () => {
      const { socket } = await dial(t, port)
      socket.removeAllListeners('data').on('error', () => {})
      socket.on('data', (chunk) => {
        received += chunk.length
        if (received > 10_000_000) worker.emit('loaded')
      })
      socket.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000000\r\n\r\n')
      const push = () => socket.writable && socket.write(piece, push)
      push()
      return socket
    }))
    await once(worker, 'loaded')
    await worker.terminate()
    for (const socket of clients) socket.destroy()
  }
})

test('process.exit() in a worker ends the worker only, with its code', async (t) => {
  const worker = startWorker(t, 'listen(http.createServer((req, res) => { res.end("bye"); if (req.url === "/exit") process.exit(7) }))')
  const port = await portOf(worker)
  assert.equal((await request(port)).body, 'bye')
  const exited = once(worker, 'exit')
  const answer = request({ port, path: '/exit' }).catch((error) => error.code)
  assert.deepEqual(await exited, [7])
  await answer
  await assert.rejects(request(port), { code: 'ECONNREFUSED' })
})

test('an exception in a worker\'s handler is the worker\'s error', async (t) => {
  const worker = startWorker(t, 'listen(http.createServer(() => { throw new Error("in the worker") }))')
  const port = await portOf(worker)
  const failed = once(worker, 'error')
  await assert.rejects(request(port), { code: 'ECONNRESET' })
  assert.equal((await failed)[0].message, 'in the worker')
})

test('a worker whose server is closed ends by itself', async (t) => {
  const worker = startWorker(t, `
    const server = http.createServer((req, res) => { res.end("last"); server.close() })
    listen(server)`)
  const exited = once(worker, 'exit')
  assert.equal((await request(await portOf(worker))).body, 'last')
  assert.deepEqual(await exited, [0])
})

test('a worker with an unreferenced server ends by itself', async (t) => {
  const worker = startWorker(t, 'http.createServer().listen(0).unref()')
  assert.deepEqual(await once(worker, 'exit'), [0])
})

test('a worker that never listens, and one that only requires the module, end by themselves', async (t) => {
  const exits = await Promise.all(['http.createServer()', ''].map((code) => once(startWorker(t, code), 'exit')))
  assert.deepEqual(exits, [[0], [0]])
})

test('the process ends while workers serve', async () => {
  const child = startChild(({ report }) => {
    const { Worker } = require('node:worker_threads')
    const code = `
      const http = require('@httpsys/core-native')
      const server = http.createServer((req, res) => res.end('x')).listen(0, '127.0.0.1', () => require('node:worker_threads').parentPort.postMessage(server.address().port))`
    const workers = [0, 1].map(() => new Worker(code, { eval: true }))
    Promise.all(workers.map((worker) => new Promise((resolve) => worker.once('message', resolve)))).then((ports) => {
      report({ ports })
      process.once('message', () => process.exit(3))
    })
  })
  const ports = await child.message('ports')
  for (const port of ports) assert.equal((await request(port)).body, 'x')
  child.send('exit')
  const { code, signal, stderr } = await child.exit
  assert.deepEqual({ code, signal, stderr }, { code: 3, signal: null, stderr: '' })
})
