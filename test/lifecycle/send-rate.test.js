'use strict'

// Goal: a client that takes less than minSendRate of what it has asked for is disconnected, a slow one is not. Method:
// clients with a small receive buffer, and a server whose averaging time is a twentieth of the real one.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const { spawn } = require('node:child_process')
const { once } = require('node:events')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { createServer } = require('@httpsys/core-native')
const { loadBinding } = require('../../packages/core-native/lib/backend/binding')
const { backend } = require('../helpers/backend')
const { startChild } = require('../helpers/child')
const { freePort } = require('../helpers/free-port')
const tls = require('../helpers/tls')

const options = {
  skip: (backend === 'node' && 'minSendRate is ours') || (process.platform !== 'linux' && 'needs what Linux tells of a socket'),
  timeout: 120_000
}
// Instead of 60,000: here time runs 20 times as fast, and so do the readers.
const kFaster = 20
const kAverageMs = 60_000 / kFaster
const kSlowRate = 1024 * kFaster
const kReader = path.join(__dirname, '..', 'fixtures', 'slow-reader.py')

/** @param {any} where of listen() @param {any} [serverOptions] @param {NodeJS.ProcessEnv} [env] */
function startServer (where, serverOptions = {}, env = {}) {
  return startChild(({ http, report, args: [where, serverOptions, averageMs] }) => {
    const { kListener } = require(`${process.cwd()}/packages/core-native/lib/http/symbols`)
    const body = Buffer.alloc(16 * 1024 * 1024)
    const server = /** @type {any} */ (http.createServer(serverOptions, (req, res) => {
      res.on('close', () => report({ [`closed ${req.url}`]: true }))
      if (req.url !== '/events') return res.end(body)
      res.write('first')
    }))
    server[kListener].sendRateMs = averageMs
    server.listen(where, () => report({ port: server.address().port ?? 0 }))
  }, { args: [where, serverOptions, kAverageMs], env })
}

/** A program that knows nothing but node:http. @param {any} where of listen() */
function startRegistered (where) {
  return startChild(({ report, args: [where, averageMs] }) => {
    const { kListener } = require(`${process.cwd()}/packages/core-native/lib/http/symbols`)
    const body = Buffer.alloc(16 * 1024 * 1024)
    const server = /** @type {any} */ (require('node:http').createServer((req, res) => { res.end(body) }))
    server[kListener].sendRateMs = averageMs
    server.listen(where, () => report({ port: server.address().port }))
  }, { args: [where, kAverageMs], flags: ['-r', '@httpsys/core-native/register'] })
}

/**
 * @param {import('node:test').TestContext} t
 * @param {number | string} where port or path of a Unix socket
 * @param {string} url
 * @param {number} rate
 * @param {string[]} [flags]
 */
function startReader (t, where, url, rate, flags = []) {
  const reader = spawn('python3', [kReader, ...flags, String(where), url, String(rate)], { stdio: ['ignore', 'pipe', 'inherit'] })
  t.after(() => reader.kill('SIGKILL'))
  const state = { isEnded: false, ended: once(reader, 'exit').then(() => { state.isEnded = true }) }
  return state
}

/** @param {import('node:test').TestContext} t */
function temporaryFolder (t) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'httpsys-send-rate-'))
  t.after(() => fs.rmSync(folder, { recursive: true }))
  return folder
}

/**
 * Bytes that the kernel has taken from the server and that its client has not acknowledged, of each connection.
 *
 * @param {number} port of the server
 */
function bytesInSockets (port) {
  const local = `:${port.toString(16).toUpperCase().padStart(4, '0')}`
  return ['tcp', 'tcp6'].flatMap((name) => fs.readFileSync(`/proc/net/${name}`, 'latin1').split('\n'))
    .map((line) => line.trim().split(/\s+/))
    .filter((fields) => fields[1]?.endsWith(local) && fields[3] === '01')
    .map((fields) => parseInt(fields[4], 16))
}

test('who takes nothing or 10 bytes a second is disconnected, who takes 1 KB a second is not, nor is an idle event stream', options, async (t) => {
  const log = path.join(temporaryFolder(t), 'error.log')
  const port = await freePort()
  const server = startServer({ prefix: `http://localhost:${port}/` }, { minSendRate: 150 * kFaster }, { HTTPSYS_ERROR_LOG: log })
  t.after(() => server.kill())
  await server.message('port')
  const slow = startReader(t, port, '/slow', 1024 * kFaster)
  const events = startReader(t, port, '/events', 1024 * kFaster)
  const slower = startReader(t, port, '/slower', 10 * kFaster)
  const silent = startReader(t, port, '/silent', 0)
  await Promise.all([slower.ended, silent.ended])
  await Promise.all(['closed /slower', 'closed /silent'].map((name) => server.message(name)))
  // As long again, for those that are to live.
  await startReader(t, port, '/again', 0).ended
  assert.equal(slow.isEnded, false)
  assert.equal(events.isEnded, false)
  const lines = fs.readFileSync(log, 'latin1').split('\n').filter((line) => line.endsWith(' Timer_MinBytesPerSecond'))
  assert.equal(lines.length, 3)
  assert.match(lines[0], / 127\.0\.0\.1 \d+ 127\.0\.0\.1 \d+ - - - - 1 Timer_MinBytesPerSecond$/)
})

test('servers of prefixes disconnect who takes nothing by default, others when they are told to', options, async (t) => {
  const port = await freePort()
  const ofPrefix = startServer({ prefix: `http://localhost:${port}/` })
  const ofPort = startServer({ port: 0, host: '127.0.0.1' })
  const told = startServer({ port: 0, host: '127.0.0.1' }, { minSendRate: 150 })
  const freed = startServer({ prefix: `http://localhost:${port}/freed/` }, { minSendRate: 0 })
  const servers = [ofPrefix, ofPort, told, freed]
  for (const server of servers) t.after(() => server.kill())
  const ports = await Promise.all(servers.map((server) => server.message('port')))
  const [byDefault, allowed, asked] = ports.slice(0, 3).map((each) => startReader(t, each, '/', 0))
  const alsoAllowed = startReader(t, port, '/freed/', 0)
  await Promise.all([byDefault.ended, asked.ended])
  assert.equal(allowed.isEnded, false)
  assert.equal(alsoAllowed.isEnded, false)
})

/** @type {Record<string, string[]>} flags of the reader */
const kProtocols = {
  'HTTP/1.1 over TLS': ['--tls'],
  'HTTP/2': ['--http2'],
  'HTTP/2 over TLS': ['--tls', '--http2']
}

for (const [name, flags] of Object.entries(kProtocols)) {
  const skip = options.skip || (flags.includes('--http2') && !loadBinding().hasHttp2 && 'this Node has no nghttp2')
  test(`over ${name} too, and 1 KB a second is enough though the socket's buffer has megabytes`, { ...options, skip }, async (t) => {
    const log = path.join(temporaryFolder(t), 'error.log')
    const port = await freePort()
    const where = flags.includes('--tls')
      ? { prefix: `https://localhost:${port}/`, ...tls.localhost() }
      : { prefix: `http://localhost:${port}/` }
    const server = startServer(where, { minSendRate: 150 * kFaster, http2: flags.includes('--http2') }, { HTTPSYS_ERROR_LOG: log })
    t.after(() => server.kill())
    await server.message('port')
    const slow = startReader(t, port, '/slow', kSlowRate, flags)
    const slower = startReader(t, port, '/slower', 10 * kFaster, flags)
    const silent = startReader(t, port, '/silent', 0, flags)
    await Promise.all([slower.ended, silent.ended])
    await Promise.all(['closed /slower', 'closed /silent'].map((each) => server.message(each)))
    await startReader(t, port, '/again', 0, flags).ended
    assert.equal(slow.isEnded, false)
    const [bytes] = bytesInSockets(port)
    assert.ok(bytes > kSlowRate * kAverageMs / 1000 * 10, `${bytes} bytes in the socket's buffer, which leave within a few averages`)
    const lines = fs.readFileSync(log, 'latin1').split('\n').filter((line) => line.endsWith(' Timer_MinBytesPerSecond'))
    assert.equal(lines.length, 3)
    assert.match(lines[0], / 127\.0\.0\.1 \d+ 127\.0\.0\.1 \d+ - - - - 1 Timer_MinBytesPerSecond$/)
  })
}

test('a program under register and Unix sockets keep clients that take nothing, as Node does', options, async (t) => {
  const socket = path.join(temporaryFolder(t), 'socket')
  const asked = path.join(temporaryFolder(t), 'socket')
  const registered = startRegistered({ port: 0, host: '127.0.0.1' })
  const ofSocket = startServer({ path: socket })
  const ofSocketAsked = startServer({ path: asked }, { minSendRate: 150 })
  const ended = startServer({ prefix: `http://localhost:${await freePort()}/` })
  const servers = [registered, ofSocket, ofSocketAsked, ended]
  for (const server of servers) t.after(() => server.kill())
  const [port, , , endedPort] = await Promise.all(servers.map((server) => server.message('port')))
  const allowed = [port, socket, asked].map((each) => startReader(t, each, '/', 0))
  // Twice as long as it takes where there is a limit.
  await startReader(t, endedPort, '/', 0).ended
  await startReader(t, endedPort, '/', 0).ended
  assert.deepEqual(allowed.map((each) => each.isEnded), [false, false, false])
})

test('minSendRate has to be a whole number', options, () => {
  assert.throws(() => createServer(/** @type {any} */ ({ minSendRate: -1 })), { code: 'ERR_OUT_OF_RANGE' })
  assert.throws(() => createServer(/** @type {any} */ ({ minSendRate: '150' })), { code: 'ERR_INVALID_ARG_TYPE' })
})
