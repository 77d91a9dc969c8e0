'use strict'

// Goal: an application that forks itself with node:cluster works, and its workers come and go.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const { execFile } = require('node:child_process')
const { lookup } = require('node:dns/promises')
const path = require('node:path')
const { promisify } = require('node:util')
const { startFixture } = require('../helpers/child')
const { dial, get, request } = require('../helpers/client')

/**
 * @param {import('node:test').TestContext} t
 * @param {number} workers
 */
async function startCluster (t, workers) {
  const app = startFixture('cluster-app.js', [String(workers)])
  t.after(() => app.kill())
  return { app, port: await app.message('port') }
}

test('two workers share the connections of one port', async (t) => {
  const { app, port } = await startCluster(t, 2)
  const answers = await Promise.all(Array.from({ length: 20 }, () => request(port)))
  const served = answers.map(({ body }) => body)
  assert.deepEqual([...new Set(served)].sort(), ['1', '2'])
  assert.ok(answers.every(({ headers }) => headers['x-remote'] === '127.0.0.1'))
  app.send({ order: 'end' })
  const { code, stderr } = await app.exit
  assert.equal(code, 0, stderr)
})

test('a kept-alive connection stays with its worker', async (t) => {
  const { port } = await startCluster(t, 2)
  const wire = await dial(t, port)
  for (let i = 1; i <= 6; i++) {
    wire.write(get())
    await wire.until(/\r\n\r\n[12]/, i)
  }
  assert.equal(new Set(wire.text.match(/\r\n\r\n[12]/g)).size, 1)
})

test('disconnect() closes a worker\'s server; the other one serves', async (t) => {
  const { app, port } = await startCluster(t, 2)
  app.send({ order: 'disconnect', id: 1 })
  assert.deepEqual(await app.message('exit 1'), { code: 0, signal: null, voluntary: true })
  const answers = await Promise.all(Array.from({ length: 6 }, () => request(port)))
  assert.deepEqual([...new Set(answers.map(({ body }) => body))], ['2'])
})

test('disconnect() lets a worker answer what it has begun', async (t) => {
  const { app, port } = await startCluster(t, 1)
  const wire = await dial(t, port)
  wire.write(get())
  await wire.until('\r\n\r\n1')
  wire.write('GET /slow HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
  const other = request({ port, path: '/slow' })
  await app.message('slow 2')
  app.send({ order: 'disconnect', id: 1 })
  assert.match(await wire.untilClosed(), /slow$/)
  assert.equal((await other).body, 'slow')
  assert.deepEqual(await app.message('exit 1'), { code: 0, signal: null, voluntary: true })
})

test('a worker that exits after an answer is seen with its code, and a new one serves', async (t) => {
  const { app, port } = await startCluster(t, 1)
  assert.equal((await request({ port, path: '/exit' })).body, 'exiting')
  assert.deepEqual(await app.message('exit 1'), { code: 5, signal: null, voluntary: false })
})

test('a killed worker takes nobody with it', async (t) => {
  const { app, port } = await startCluster(t, 2)
  app.send({ order: 'kill', id: 1 })
  assert.deepEqual(await app.message('exit 1'), { code: null, signal: 'SIGKILL', voluntary: false })
  assert.equal((await request(port)).body, '2')
})

test('a worker out of descriptors refuses connections and serves again when it has some', async () => {
  const fixture = path.join(__dirname, '..', 'fixtures', 'cluster-descriptors.js')
  const { stdout } = await promisify(execFile)('/bin/sh', ['-c', 'ulimit -n 128; exec "$0" "$1"', process.execPath, fixture], {
    env: { ...process.env, NODE_TEST_CONTEXT: undefined }, timeout: 60_000
  })
  assert.equal(stdout, 'HTTP/1.1 200 OK\n')
})

test('a worker listens in every form that a process does, and hears what is wrong', async () => {
  const fixture = path.join(__dirname, '..', 'fixtures', 'cluster-listen-forms.js')
  const { stdout } = await promisify(execFile)(process.execPath, [fixture], {
    env: { ...process.env, NODE_TEST_CONTEXT: undefined }, timeout: 60_000
  })
  // 256.0.0.1 is a name, which nobody has; without a way to a name server the answer is another one.
  const noHost = await lookup('256.0.0.1').then(() => 'found', (error) => error.code)
  const everywhere = ['::', 'IPv6', true]
  const local = ['127.0.0.1', 'IPv4', true]
  const wrong = (/** @type {string} */ code, syscall = null, address = null, port = 'undefined') => [code, syscall, address, port]
  const inUse = (/** @type {any} */ address) => wrong('EADDRINUSE', /** @type {any} */ ('bind'), address, 'number')
  assert.deepEqual(JSON.parse(stdout), {
    nothing: everywhere,
    callback: everywhere,
    null: everywhere,
    undefined: everywhere,
    text: everywhere,
    host: local,
    backlog: local,
    portAndBacklog: everywhere,
    options: local,
    inherited: local,
    exclusive: local,
    ipv6Only: ['::1', 'IPv6', true],
    path: 'path',
    taken: inUse(null),
    takenAtHost: inUse('127.0.0.1'),
    noHost: wrong(noHost, /** @type {any} */ ('getaddrinfo')),
    badPort: wrong('ERR_SOCKET_BAD_PORT'),
    noPort: wrong('ERR_INVALID_ARG_VALUE'),
    wrong: wrong('ERR_INVALID_ARG_VALUE'),
    twice: everywhere,
    calls: 12,
    twoServers: inUse(null),
    closedBefore: 'ERR_SERVER_NOT_RUNNING',
    after: everywhere,
    end: [0, null, true]
  })
})
