'use strict'

// The limit of a server's request queue, what clients learn from a 503, and the error log.

const assert = require('node:assert/strict')
const { spawn } = require('node:child_process')
const { once } = require('node:events')
const fs = require('node:fs')
const net = require('node:net')
const os = require('node:os')
const path = require('node:path')
const { test } = require('node:test')
const { createServer, backend } = require('@httpsys/core-native')
const { until } = require('../helpers/waiting')

const skip = backend === 'node' ? 'node:http has no request queue' : false

// A server whose JavaScript stands still after the first request, in a process of its own.
const kBlocking = `
const { createServer } = require('@httpsys/core-native')
const server = createServer(JSON.parse(process.argv[1]), (req, res) => {
  if (req.url === '/block') {
    process.stdout.write('blocked\\n')
    const until = Date.now() + 1500
    while (Date.now() < until);
  }
  res.end('served')
})
process.on('SIGTERM', () => process.exit())
server.listen(0, '127.0.0.1', () => process.stdout.write(server.address().port + '\\n'))
`

/** @param {import('node:test').TestContext} t @param {object} options @param {NodeJS.ProcessEnv} [env] */
async function blockingServer (t, options, env) {
  const child = spawn(process.execPath, ['-e', kBlocking, JSON.stringify(options)], {
    stdio: ['ignore', 'pipe', 'inherit'], env: { ...process.env, ...env }, cwd: __dirname
  })
  t.after(() => child.kill('SIGKILL'))
  const [port] = await once(child.stdout, 'data')
  return { child, port: Number(port) }
}

/** @param {number} port @param {string} url @returns {Promise<{ text: string, code: string | undefined }>} what the client got */
function get (port, url) {
  return new Promise((resolve) => {
    const socket = net.connect(port, '127.0.0.1')
    let text = ''
    socket.setEncoding('latin1').on('data', (data) => { text += data })
    socket.on('error', (/** @type {any} */ error) => resolve({ text, code: error.code }))
    socket.on('close', () => resolve({ text, code: undefined }))
    socket.write(`GET ${url} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`)
  })
}

/**
 * One request that blocks JavaScript, then more than the queue takes.
 *
 * @param {{ child: any, port: number }} server
 * @param {number} count
 */
async function overload ({ child, port }, count) {
  const first = get(port, '/block')
  await once(child.stdout, 'data')
  const answers = await Promise.all(Array.from({ length: count }, () => get(port, '/queued?x=1')))
  return [await first, ...answers]
}

const tally = (/** @type {{ text: string, code: string | undefined }[]} */ answers) => ({
  served: answers.filter(({ text }) => text.startsWith('HTTP/1.1 200')).length,
  refused: answers.filter(({ text }) => text.startsWith('HTTP/1.1 503')).length,
  reset: answers.filter(({ text, code }) => text === '' && code === 'ECONNRESET').length
})

test('requests beyond the limit of the queue get 503, those within it are served', { skip }, async (t) => {
  const answers = await overload(await blockingServer(t, { queueLimit: 10 }), 30)
  const { served, refused, reset } = tally(answers)
  assert.deepEqual({ total: served + refused, reset }, { total: 31, reset: 0 })
  // Another I/O thread may not have seen yet that the one that blocks was begun.
  assert.ok(served >= 10 && served <= 12, `${served} served`)
  assert.ok(answers.some(({ text }) => /503 Service Unavailable[^]*<h1>Service Unavailable<\/h1>\n<p>QueueFull<\/p>\n$/.test(text)))
})

test("'limited' does not tell the reason", { skip }, async (t) => {
  const answers = await overload(await blockingServer(t, { queueLimit: 1, http503Verbosity: 'limited' }), 5)
  assert.ok(answers.some(({ text }) => text.endsWith('<h1>Service Unavailable</h1>\n')))
})

test("'basic' resets the connection", { skip }, async (t) => {
  const { refused, reset } = tally(await overload(await blockingServer(t, { queueLimit: 1, http503Verbosity: 'basic' }), 5))
  assert.equal(refused, 0)
  assert.ok(reset >= 4, `${reset} reset`)
})

test('0 is no limit', { skip }, async (t) => {
  assert.equal(tally(await overload(await blockingServer(t, { queueLimit: 0 }), 30)).served, 31)
})

test('values that mean nothing are refused', { skip }, () => {
  assert.throws(() => createServer(/** @type {any} */ ({ queueLimit: -1 })), { code: 'ERR_OUT_OF_RANGE' })
  assert.throws(() => createServer(/** @type {any} */ ({ queueLimit: '10' })), { code: 'ERR_INVALID_ARG_TYPE' })
  assert.throws(() => createServer(/** @type {any} */ ({ http503Verbosity: 'loud' })), { code: 'ERR_INVALID_ARG_VALUE' })
})

test('what is refused before JavaScript is in the error log, in its form', { skip }, async (t) => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'httpsys-log-'))
  t.after(() => fs.rmSync(folder, { recursive: true }))
  const file = path.join(folder, 'httperr.log')
  const server = await blockingServer(t, { queueLimit: 1 }, { HTTPSYS_ERROR_LOG: file })
  await overload(server, 5)
  const socket = net.connect(server.port, '127.0.0.1')
  socket.write('GET / HTTP/1.1\r\nHost : a\r\n\r\n')
  await once(socket.resume(), 'close')
  const [software, version, fields, ...lines] = fs.readFileSync(file, 'latin1').trimEnd().split('\n')
  assert.deepEqual([software, version], ['#Software: httpsys', '#Version: 1.0'])
  assert.equal(fields.split(' ').length - 1, 12)
  const full = lines.filter((line) => line.endsWith(' QueueFull'))
  assert.ok(full.length >= 4, lines.join('\n'))
  assert.match(full[0], /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d 127\.0\.0\.1 \d+ 127\.0\.0\.1 \d+ HTTP\/1\.1 GET \/queued\?x=1 503 \d+ QueueFull$/)
  assert.match(lines.at(-1) ?? '', / - - - 400 \d+ BadRequest$/)
})

test('the error log takes a hundred lines a second and says how many it left out', { skip }, async (t) => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'httpsys-log-'))
  t.after(() => fs.rmSync(folder, { recursive: true }))
  const file = path.join(folder, 'httperr.log')
  const { port } = await blockingServer(t, {}, { HTTPSYS_ERROR_LOG: file })
  const bad = async () => {
    const socket = net.connect(port, '127.0.0.1').on('error', () => {})
    socket.write('\x00')
    await once(socket.resume(), 'close')
  }
  // More than a hundred in each of several seconds, however they fall, unless the machine is very slow.
  const began = Date.now()
  let sent = 0
  while (Date.now() - began < 2500) {
    await Promise.all(Array.from({ length: 50 }, bad))
    sent += 50
  }
  // Of seconds that are begun, the first and the last are in part.
  const most = 100 * (Math.floor((Date.now() - began) / 1000) + 2)
  const lines = fs.readFileSync(file, 'latin1').split('\n')
  const logged = lines.filter((line) => line.endsWith('BadRequest')).length
  const dropped = lines.flatMap((line) => Number(/^#Dropped: (\d+)/.exec(line)?.[1] ?? 0)).reduce((a, b) => a + b, 0)
  assert.ok(logged <= most, `${logged} lines, ${most} expected at most`)
  assert.ok(logged + dropped <= sent && (dropped > 0 || sent <= most), `${logged} + ${dropped} of ${sent}`)
})

/** What a log says of a burst: lines, and lines left out. @param {string} file */
function burstIn (file) {
  const lines = fs.readFileSync(file, 'latin1').split('\n')
  return {
    logged: lines.filter((line) => line.endsWith('BadRequest')).length,
    dropped: lines.flatMap((line) => Number(/^#Dropped: (\d+)/.exec(line)?.[1] ?? 0)).reduce((a, b) => a + b, 0)
  }
}

for (const end of ['goes on', 'ends']) {
  test(`the lines that a burst left out are counted although no further one comes and the process ${end}`, { skip }, async (t) => {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'httpsys-log-'))
    t.after(() => fs.rmSync(folder, { recursive: true }))
    const file = path.join(folder, 'httperr.log')
    const { child, port } = await blockingServer(t, {}, { HTTPSYS_ERROR_LOG: file })
    const kSent = 700
    // More than three seconds take.
    const began = Date.now()
    for (let i = 0; i < kSent; i += 100) {
      await Promise.all(Array.from({ length: 100 }, async () => {
        const socket = net.connect(port, '127.0.0.1').on('error', () => {})
        socket.write('\x00')
        await once(socket.resume(), 'close')
      }))
    }
    if (end === 'ends') {
      child.kill('SIGTERM')
      await once(child, 'exit')
    }
    const isAll = () => burstIn(file).logged + burstIn(file).dropped === kSent
    if (end === 'goes on') await until(isAll, `${kSent} lines, or their count`)
    const { logged, dropped } = burstIn(file)
    assert.equal(logged + dropped, kSent)
    assert.ok(dropped > 0 || Date.now() - began > 6000, 'nothing was left out: the test tests nothing')
  })
}

// Two engines, and the application's own process.env has no part in it.
const kTwoEngines = `
const { Worker, isMainThread } = require('node:worker_threads')
const { createServer, get } = require('@httpsys/core-native')
const server = createServer((req, res) => res.end('served'))
server.listen(0, '127.0.0.1', () => get({ port: server.address().port, host: '127.0.0.1', agent: false }, (res) => {
  if (isMainThread) new Worker(__filename).on('exit', () => process.stdout.write(String(res.statusCode)))
  res.resume().on('end', () => server.close())
}))
`

test('an error log that cannot be opened is a warning with its cause and cure, once; requests are served', { skip }, async (t) => {
  const folder = fs.mkdtempSync(path.join(__dirname, 'httpsys-log-'))
  t.after(() => fs.rmSync(folder, { recursive: true }))
  const script = path.join(folder, 'two-engines.js')
  fs.writeFileSync(script, kTwoEngines)
  const file = path.join(folder, 'missing', 'error.log')
  const child = spawn(process.execPath, [script], { env: { ...process.env, HTTPSYS_ERROR_LOG: file, NODE_TEST_CONTEXT: undefined } })
  const output = { stdout: '', stderr: '' }
  child.stdout.on('data', (piece) => { output.stdout += piece })
  child.stderr.on('data', (piece) => { output.stderr += piece })
  const [code] = await once(child, 'close')
  assert.deepEqual([code, output.stdout], [0, '200'])
  const warnings = output.stderr.split('\n').filter((line) => line.includes('[HTTPSYS_ERROR_LOG]'))
  assert.equal(warnings.length, 1, output.stderr)
  assert.ok(warnings[0].includes(`The error log ${file} cannot be opened: no such file or directory. `), warnings[0])
  assert.match(warnings[0], /let the environment variable HTTPSYS_ERROR_LOG name a file that this process may write/)
})
