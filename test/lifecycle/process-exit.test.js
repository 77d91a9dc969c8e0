'use strict'

// Goal: a process may end at any moment, in any way, with the exit code that Node gives.
// Method: a server process is brought to each step of its life and ended there in each way.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const { spawnSync } = require('node:child_process')
const path = require('node:path')
const tls = require('node:tls')
require('../helpers/backend')
const { certificate } = require('../helpers/certificates')
const { startChild } = require('../helpers/child')
const { Wire, get } = require('../helpers/client')
const { temporaryFile } = require('../helpers/temporary-file')
const { someOf } = require('../helpers/thorough')

const kUpgrade = 'GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n'

/**
 * What a client does to bring a listening server to a step. Steps without an entry need no client.
 *
 * @type {Record<string, (wire: Wire) => void>}
 */
const kClients = {
  'during a request': (wire) => wire.write(get()),
  'between two requests': (wire) => wire.write(get('/answer')),
  'during a request head': (wire) => wire.write('GET / HTTP/1.1\r\nHo'),
  'during an upload': (wire) => wire.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\nsome'),
  'during a response': (wire) => wire.write(get('/stream')),
  'after an upgrade': (wire) => wire.write(kUpgrade),
  'while closing': (wire) => wire.write(get('/close'))
}

const kSteps = ['after require', 'after createServer', 'while listening', ...Object.keys(kClients)]

const kEndings = {
  'process.exit(6)': { code: 6, signal: null },
  'process.exit() in an "exit" listener': { code: 8, signal: null },
  'an uncaught exception': { code: 1, signal: null },
  'process.abort()': { code: null, signal: 'SIGABRT' },
  SIGTERM: { code: null, signal: 'SIGTERM' },
  SIGKILL: { code: null, signal: 'SIGKILL' },
  'a SIGTERM handler that closes everything': { code: 0, signal: null }
}

/** @param {string} step @param {string} ending */
function startServer (step, ending) {
  return startChild(({ http, report, args: [step, ending] }) => {
    let closing = () => {}
    const end = () => {
      if (ending === 'process.exit(6)') process.exit(6)
      if (ending === 'an uncaught exception') throw new Error('on purpose')
      if (ending === 'process.abort()') process.abort()
      if (ending === 'process.exit() in an "exit" listener') {
        process.on('exit', () => process.exit(8))
        process.exit(6)
      }
      if (ending.startsWith('a SIGTERM')) {
        process.on('SIGTERM', () => {
          closing()
          process.disconnect()
        })
      }
      // The rest is the test's to do.
      report({ ready: true })
      if (!ending.startsWith('a SIGTERM')) setInterval(() => {}, 1000)
    }
    // Keeps the process for the signals until the test has sent them.
    process.on('message', () => {})
    if (step === 'after require') return end()
    const sockets = new Set()
    const reached = () => setImmediate(end)
    const server = http.createServer((req, res) => {
      if (req.url === '/stream') {
        const piece = Buffer.alloc(100_000)
        const pump = () => {
          while (res.write(piece));
          res.once('drain', pump)
        }
        pump()
      } else if (req.url === '/answer') {
        res.on('close', reached)
        return res.end('x')
      } else if (req.url === '/close') {
        server.close()
      }
      reached()
    })
    if (step === 'after createServer') return end()
    closing = () => {
      server.close()
      server.closeAllConnections()
      for (const socket of sockets) socket.destroy()
    }
    server.on('upgrade', (req, socket) => {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.write('HTTP/1.1 101 Switching Protocols\r\n\r\n')
      reached()
    })
    // Nothing tells of half a head; where it comes after all the end is that of an idle connection.
    if (step === 'during a request head') server.on('connection', () => setTimeout(reached, 20))
    server.listen(0, '127.0.0.1', () => {
      report({ port: /** @type {any} */ (server.address()).port })
      if (step === 'while listening') end()
    })
  }, { args: [step, ending] })
}

for (const [row, [ending, expected]] of Object.entries(kEndings).entries()) {
  // Under a sanitizer an abort is a finding (tools/sanitized.js).
  const skip = ending === 'process.abort()' && process.env.HTTPSYS_SANITIZER !== undefined && 'aborts count as findings here'
  for (const step of someOf(kSteps, 3, row)) {
    test(`${ending} ${step}`, { skip }, async (t) => {
      const child = startServer(step, ending)
      t.after(() => child.kill())
      const client = kClients[step]
      if (client !== undefined) {
        const wire = new Wire({ port: await child.message('port'), host: '127.0.0.1' })
        t.after(() => wire.destroy())
        client(wire)
      }
      if (ending.includes('SIG')) {
        await child.message('ready')
        child.process.kill(/** @type {NodeJS.Signals} */ (ending.match(/SIG\w+/)?.[0]))
      }
      const { code, signal, stderr } = await child.exit
      assert.deepEqual({ code, signal }, expected, stderr)
      if (ending === 'an uncaught exception') assert.match(stderr, /Error: on purpose/)
      else if (ending !== 'process.abort()') assert.equal(stderr, '')
    })
  }
}

test('requiring the module, and creating a server, keep no process alive', async () => {
  for (const run of [() => {}, (/** @type {any} */ { http }) => { http.createServer() }]) {
    const { code, signal, stderr } = await startChild(run).exit
    assert.deepEqual({ code, signal, stderr }, { code: 0, signal: null, stderr: '' })
  }
})

test('the exit listeners of the application may still answer and look at the server', async (t) => {
  // Repeated, because an I/O thread that happens to be awake hides a reply that woke nobody.
  for (let attempt = 0; attempt < 8; attempt++) {
    const child = startChild(({ http, report, args }) => {
      const server = http.createServer((req, res) => {
        process.on('exit', () => {
          res.end(`listening ${server.listening}`)
        })
        // In a turn of its own, when the I/O thread has gone to sleep.
        if (args[0]) setTimeout(() => process.exit(0), 20)
        else process.exit(0)
      })
      server.listen(0, '127.0.0.1', () => report({ port: /** @type {any} */ (server.address()).port }))
    }, { args: [attempt % 2 === 1] })
    const wire = new Wire({ port: await child.message('port'), host: '127.0.0.1' })
    t.after(() => wire.destroy())
    wire.write(get())
    assert.match(await wire.untilClosed(), /listening true$/)
    assert.equal((await child.exit).code, 0)
  }
})

// A library that keeps the process for a moment after all others have cleaned up: what still runs then is seen.
const kLinger = `
#include <stdlib.h>
#include <time.h>
static void Linger(void) {
  struct timespec a_while = {0, 200000000};
  nanosleep(&a_while, 0);
}
__attribute__((constructor)) static void Load(void) { atexit(Linger); }
`

/** @returns {string | null} the library; null where none can be made or loaded */
function lingerLibrary () {
  if (process.platform !== 'linux' || process.env.HTTPSYS_SANITIZER !== undefined) return null
  const { file, folder } = temporaryFile(Buffer.from(kLinger))
  const library = path.join(folder, 'linger.so')
  return spawnSync('cc', ['-shared', '-fPIC', '-x', 'c', '-o', library, file]).status === 0 ? library : null
}

test('no I/O thread is within OpenSSL when it cleans up at the exit', async (t) => {
  const library = lingerLibrary()
  // macOS has no LD_PRELOAD, the library of a sanitizer must be loaded first, and a machine with a prebuilt addon may have no compiler. The
  // test runs in continuous integration, where the addon is compiled on Debian.
  if (library === null) return t.skip('needs a compiler and LD_PRELOAD')
  // A signature takes milliseconds, so that most of the time one is being made.
  const pair = certificate('slow', { kind: 'rsa', bits: 3072 })
  for (const [ending, code] of /** @type {const} */ ([['process.exit(6)', 6], ['an uncaught exception', 1]])) {
    const child = startChild(({ http, report, args: [pair, ending] }) => {
      const server = /** @type {any} */ (http).https.createServer(pair, (/** @type {any} */ req, /** @type {any} */ res) => res.end('x'))
      server.listen(0, '127.0.0.1', () => report({ port: server.address().port }))
      process.on('message', () => {
        if (ending === 'process.exit(6)') process.exit(6)
        throw new Error('on purpose')
      })
    }, { args: [pair, ending], env: { LD_PRELOAD: library } })
    t.after(() => child.kill())
    const port = await child.message('port')
    let handshakes = 0
    const connect = () => {
      const socket = tls.connect({ port, host: '127.0.0.1', rejectUnauthorized: false }, () => {
        if (++handshakes === 32) child.send('end')
        socket.destroy()
      })
      socket.on('error', () => {}).on('close', () => { if (child.process.exitCode === null && child.process.signalCode === null) connect() })
    }
    for (let i = 0; i < 32; i++) connect()
    const exit = await child.exit
    assert.deepEqual({ code: exit.code, signal: exit.signal }, { code, signal: null }, exit.stderr)
  }
})

// What ends the process while a worker serves a request.
const kWorkerEndings = {
  'process.exit(6) of the main thread': { code: 6, signal: null },
  'an uncaught exception of the main thread': { code: 1, signal: null },
  'an uncaught exception of the worker': { code: 1, signal: null },
  'process.exit(6) of the worker': { code: 0, signal: null },
  'terminate()': { code: 0, signal: null },
  SIGTERM: { code: null, signal: 'SIGTERM' }
}

for (const [ending, expected] of Object.entries(kWorkerEndings)) {
  test(`${ending} while a worker serves`, async (t) => {
    const child = startChild(({ report, args: [ending] }) => {
      const { Worker } = require('node:worker_threads')
      const ofWorker = ending.endsWith('of the worker')
      const worker = new Worker(`
        const http = require('@httpsys/core-native')
        const { parentPort } = require('node:worker_threads')
        const server = http.createServer((req, res) => {
          res.write('begun')
          parentPort.postMessage({ begun: true })
          if (${ofWorker && ending.startsWith('process')}) process.exit(6)
          if (${ofWorker && ending.startsWith('an')}) throw new Error('on purpose')
        })
        server.listen(0, '127.0.0.1', () => parentPort.postMessage({ port: server.address().port }))`, { eval: true })
      worker.on('message', (message) => {
        if ('port' in message) return report(message)
        report({ ready: true })
        if (ending === 'terminate()') worker.terminate()
        if (ending === 'process.exit(6) of the main thread') process.exit(6)
        if (ending === 'an uncaught exception of the main thread') throw new Error('on purpose')
      })
    }, { args: [ending] })
    t.after(() => child.kill())
    const wire = new Wire({ port: await child.message('port'), host: '127.0.0.1' })
    t.after(() => wire.destroy())
    wire.write(get())
    if (ending === 'SIGTERM') {
      await child.message('ready')
      child.process.kill('SIGTERM')
    }
    const { code, signal, stderr } = await child.exit
    assert.deepEqual({ code, signal }, expected, stderr)
    assert.match(stderr, ending.startsWith('an uncaught') ? /Error: on purpose/ : /^$/)
  })
}

// What closes the last thing that keeps a process: nothing else ends it.
for (const [step, bytes] of Object.entries({
  'a response ended after close()': get('/late'),
  'an upgraded socket ended after close()': kUpgrade,
  'an upload that was read to its end after close()': 'POST /read HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 4\r\n\r\nbody',
  'a request whose client has left after close()': null
})) {
  test(`a process ends naturally with ${step}`, async (t) => {
    const child = startChild(({ http, report }) => {
      const server = http.createServer((req, res) => {
        server.close()
        process.send?.({ closing: true })
        // The process would end meanwhile, were it not held.
        if (req.url === '/late') setTimeout(() => res.end('late'), 30)
        if (req.url === '/read') req.resume().on('end', () => res.end('read'))
      })
      server.keepAliveTimeout = 1
      server.on('upgrade', (req, socket) => {
        server.close()
        socket.write('HTTP/1.1 101 Switching Protocols\r\n\r\n')
        setTimeout(() => socket.end('over'), 30)
      })
      server.listen(0, '127.0.0.1', () => report({ port: /** @type {any} */ (server.address()).port }))
    })
    t.after(() => child.kill())
    const wire = new Wire({ port: await child.message('port'), host: '127.0.0.1' })
    t.after(() => wire.destroy())
    wire.write(bytes ?? get('/never'))
    if (bytes === null) {
      await child.message('closing')
      wire.destroy()
    }
    const { code, signal, stderr } = await child.exit
    assert.deepEqual({ code, signal, stderr }, { code: 0, signal: null, stderr: '' })
  })
}

test('a connection whose handler threw is idle once the request was answered', async () => {
  const child = startChild(async ({ http, report }) => {
    /** @type {any} */
    let unanswered
    process.on('uncaughtException', () => unanswered.end('sorry'))
    const server = http.createServer({ keepAliveTimeout: 600_000 }, (req, res) => {
      unanswered = res
      throw new Error('on purpose')
    })
    server.listen(0, '127.0.0.1', () => {
      const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
      const agent = new http.Agent({ keepAlive: true })
      http.request({ port, agent, method: 'POST', host: '127.0.0.1' }, (res) => {
        res.on('end', () => setImmediate(() => server.close(() => report({ closed: true })))).resume()
      }).end('a body')
    })
  })
  assert.equal(await child.message('closed'), true)
  await child.kill()
})
