'use strict'

// Goal: what was written before the process or worker ends arrives whole.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const { backend } = require('../helpers/backend')
const { startChild } = require('../helpers/child')
const { dial, get } = require('../helpers/client')

const kBytes = { small: 3, '1 MB': 1024 * 1024 }

/** @param {string} text a raw answer @returns {number} bytes of its body */
function bodyLength (text) {
  return text.length - text.indexOf('\r\n\r\n') - 4
}

// How the process ends in the handler, right after res.end(), and the exit code that follows.
const kEndings = {
  'process.exit(0)': 0,
  'process.exit(9)': 9,
  'an uncaught exception': 1,
  'an unhandled rejection': 1,
  'process.exit() in a nextTick': 0,
  'process.exit() in an exit listener of its own': 4,
  'the natural end': 0
}

/** @param {string} ending @param {number} length */
function startServer (ending, length) {
  return startChild(({ http, report, args: [ending, length] }) => {
    /** @type {Record<string, (server: import('node:http').Server) => void>} */
    const endings = {
      'process.exit(0)': () => process.exit(0),
      'process.exit(9)': () => process.exit(9),
      'an uncaught exception': () => { throw new Error('uncaught') },
      'an unhandled rejection': () => { Promise.reject(new Error('unhandled')) },
      'process.exit() in a nextTick': () => process.nextTick(() => process.exit(0)),
      'process.exit() in an exit listener of its own': () => {
        process.on('exit', () => process.exit(4))
        process.exit(0)
      },
      'the natural end': (server) => server.close()
    }
    const body = 'x'.repeat(length)
    const server = http.createServer((req, res) => {
      res.setHeader('Connection', 'close')
      res.end(body)
      endings[ending](server)
    })
    server.listen(0, '127.0.0.1', () => report({ port: /** @type {any} */ (server.address()).port }))
  }, { args: [ending, length] })
}

for (const [size, length] of Object.entries(kBytes)) {
  for (const [ending, expectedCode] of Object.entries(kEndings)) {
    test(`an answer of ${size} before ${ending} arrives whole`, async (t) => {
      const child = startServer(ending, length)
      const wire = await dial(t, await child.message('port'))
      wire.write(get())
      const text = await wire.untilClosed()
      assert.equal(bodyLength(text), length)
      const { code, signal, stderr } = await child.exit
      assert.deepEqual({ code, signal }, { code: expectedCode, signal: null }, stderr)
    })
  }
}

test('an answer of 1 MB before process.exit() arrives at a client that begins to read 200 ms later', {
  skip: backend === 'node' && 'node:http gives up what the kernel did not take'
}, async (t) => {
  const child = startServer('process.exit(0)', 1024 * 1024)
  const wire = await dial(t, await child.message('port'))
  wire.socket.pause()
  wire.write(get())
  // Time is the subject: less than the second that a process waits for its last answers.
  setTimeout(() => wire.socket.resume(), 200)
  assert.equal(bodyLength(await wire.untilClosed()), 1024 * 1024)
  assert.equal((await child.exit).code, 0)
})

test('a client that never reads does not hold up process.exit()', async (t) => {
  const child = startServer('process.exit(0)', 64 * 1024 * 1024)
  const wire = await dial(t, await child.message('port'))
  wire.socket.pause()
  wire.write(get())
  // A process waits a second for its last answers. One that waits for ever is killed after a minute.
  const { code, signal } = await child.exit
  assert.deepEqual({ code, signal }, { code: 0, signal: null })
})

test('answers to 50 connections before process.exit() all arrive', async (t) => {
  const child = startChild(({ http, report }) => {
    const held = /** @type {any[]} */ ([])
    const server = http.createServer((req, res) => {
      if (held.push(res) < 50) return
      for (const res of held) res.end('y'.repeat(10_000))
      process.exit(0)
    })
    server.listen(0, '127.0.0.1', () => report({ port: /** @type {any} */ (server.address()).port }))
  })
  const port = await child.message('port')
  const wires = await Promise.all(Array.from({ length: 50 }, () => dial(t, port)))
  for (const wire of wires) wire.write(get())
  for (const wire of wires) assert.equal(bodyLength(await wire.untilClosed()), 10_000)
})

for (const [ending, how] of Object.entries({
  'process.exit() in the worker': 'process.exit(0)',
  'an exception in the worker': 'throw new Error("in the worker")',
  'terminate() by the main thread': 'parentPort.postMessage("terminate"); while (true);'
})) {
  test(`an answer of 1 MB before ${ending} arrives whole`, async (t) => {
    const child = startChild(({ report, args: [how] }) => {
      const { Worker } = require('node:worker_threads')
      const worker = new Worker(`
        const http = require('@httpsys/core-native')
        const { parentPort } = require('node:worker_threads')
        const server = http.createServer((req, res) => {
          res.setHeader('Connection', 'close')
          res.end('x'.repeat(1024 * 1024))
          ${how}
        })
        server.listen(0, '127.0.0.1', () => parentPort.postMessage({ port: server.address().port }))`, { eval: true })
      worker.on('message', (message) => message === 'terminate' ? worker.terminate() : report(message))
      worker.on('error', () => {})
      worker.on('exit', () => report({ ended: true }))
    }, { args: [how] })
    t.after(() => child.kill())
    const wire = await dial(t, await child.message('port'))
    wire.write(get())
    assert.equal(bodyLength(await wire.untilClosed()), 1024 * 1024)
    await child.message('ended')
    const { code, stderr } = await child.exit
    assert.equal(code, 0, stderr)
  })
}
