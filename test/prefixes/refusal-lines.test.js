'use strict'

// The lines on stderr about requests that the engine refuses before JavaScript sees them.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const http2 = require('node:http2')
const net = require('node:net')
const os = require('node:os')
const path = require('node:path')
const tls = require('node:tls')
const { once } = require('node:events')
const { test } = require('node:test')
const { backend } = require('@httpsys/core-native')
const { certificate } = require('../helpers/certificates')
const { startChild } = require('../helpers/child')
const { freePort } = require('../helpers/free-port')
const { until } = require('../helpers/waiting')

const skip = backend === 'node' ? 'node:http refuses nothing by itself' : false

const kLine = /^httpsys: refused (\d+) requests? in \d+ s: ((?:[A-Z][A-Za-z_/]* \d+(?:, )?)+) \(https:\/\/[a-z./]+\/docs\/error-log\.md\)$/

/** @typedef {import('../helpers/child').ChildContext} ChildContext */

/** What all lines of a stderr together have counted; it must not have anything else. @param {string} stderr */
function counted (stderr) {
  const counts = /** @type {Record<string, number>} */ ({})
  for (const line of stderr.split('\n').slice(0, -1)) {
    const [, total, reasons] = kLine.exec(line) ?? assert.fail(`not a line of the engine: ${JSON.stringify(line)}`)
    let sum = 0
    for (const reason of reasons.split(', ')) {
      const [name, count] = reason.split(' ')
      counts[name] = (counts[name] ?? 0) + Number(count)
      sum += Number(count)
    }
    assert.equal(sum, Number(total))
  }
  return counts
}

/** Sends what is given, which must be answered with one status. @param {net.Socket} socket @param {string} text @param {number} status */
async function refused (socket, text, status) {
  let answer = ''
  socket.setEncoding('latin1').on('data', (data) => { answer += data })
  socket.write(text)
  await once(socket, 'close')
  assert.match(answer, new RegExp(`^HTTP/1\\.1 ${status} `))
}

/** Its JavaScript stands still for good from the first request on. @param {ChildContext} context */
function standingStill ({ http, report, args: [prefix, options, tls] }) {
  http.createServer(options, () => {
    require('node:fs').writeSync(1, 'still')
    for (;;);
  }).listen(prefix, tls, () => report({ listening: true }))
}

test('a line on stderr counts by reason what is refused, while JavaScript stands still; not what is the fault of the client', { skip }, async (t) => {
  const port = await freePort()
  const child = startChild(standingStill, { args: [`http://a.test:${port}/shop/`, { queueLimit: 1 }, {}] })
  t.after(() => child.kill())
  await child.message('listening')
  const get = (/** @type {string} */ target, host = 'a.test') => `GET ${target} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`
  const open = () => net.connect(port, '127.0.0.1')
  t.after(() => { for (const socket of kept) socket.destroy() })
  const kept = [open()]
  kept[0].write(get('/shop/'))
  await until(() => child.stdout === 'still', 'JavaScript stands still')
  // The queue takes some of them; the others have an answer.
  let full = 0
  for (let i = 0; i < 8; i++) {
    const socket = open()
    kept.push(socket)
    socket.on('data', () => {}).on('end', () => { full++ }).write(get('/shop/x'))
  }
  for (const target of ['/nobody', '/HTTPSYS\x7f%1b[2J']) await refused(open(), get(target), target === '/nobody' ? 404 : 400)
  await refused(open(), get('/shop/', 'b.test'), 400)
  await refused(open(), 'GET /shop/ HTTP/1.1\r\nConnection: close\r\n\r\n', 400)
  await refused(open(), 'no request\r\n\r\n', 400)
  await until(() => full >= 5 && counted(child.stderr).QueueFull === full && counted(child.stderr).Hostname === 1, 'a line has counted all')
  assert.deepEqual(counted(child.stderr), { QueueFull: full, NotFound: 1, Hostname: 1 })
})

test('it counts requests of TLS and HTTP/2', { skip }, async (t) => {
  const port = await freePort()
  const [a, b] = [certificate('a.test'), certificate('b.test')]
  const child = startChild(({ http, report, args: [port, a, b] }) => {
    http.createServer().listen(`https://a.test:${port}/shop/`, a, () =>
      http.createServer().listen(`https://b.test:${port}/`, b, () => report({ listening: true })))
    process.on('message', () => process.exit())
  }, { args: [port, a, b] })
  t.after(() => child.kill())
  await child.message('listening')
  const socket = tls.connect({ port, host: '127.0.0.1', servername: 'a.test', ca: a.cert })
  await refused(socket, 'GET / HTTP/1.1\r\nHost: b.test\r\nConnection: close\r\n\r\n', 421)
  const client = http2.connect(`https://a.test:${port}`, { ca: a.cert, lookup: (_, options, done) => done(null, [{ address: '127.0.0.1', family: 4 }]) })
  const [headers] = await once(client.request({ ':path': '/nobody' }).resume(), 'response')
  assert.equal(headers[':status'], 404)
  client.destroy()
  child.send('end')
  assert.deepEqual(counted((await child.exit).stderr), { Hostname: 1, NotFound: 1 })
})

/** Has one request of its own refused, and ends at once. @param {ChildContext} context */
function endingAtOnce ({ http, args: [port, ending] }) {
  const { Worker, isMainThread } = require('node:worker_threads')
  if (ending === 'worker' && isMainThread) {
    const source = `(${endingAtOnce})({ http: require('@httpsys/core-native'), args: ${JSON.stringify([port, ending])} })`
    return new Worker(source, { eval: true })
  }
  const server = http.createServer().listen(`http://127.0.0.1:${port}/shop/`, () => {
    http.get({ port, host: '127.0.0.1', path: '/nobody', agent: false }, (res) => {
      res.resume().on('end', () => ending === 'exit' ? process.exit() : server.close())
    })
  })
}

/** @param {'exit' | 'close' | 'worker'} ending @param {NodeJS.ProcessEnv} [env] */
async function stderrOfOne (ending, env = {}) {
  const { code, signal, stderr } = await startChild(endingAtOnce, { args: [await freePort(), ending], env }).exit
  assert.deepEqual({ code, signal }, { code: 0, signal: null }, stderr)
  return stderr
}

for (const ending of /** @type {const} */ (['exit', 'close', 'worker'])) {
  test(`the line is there when the process ends in the same second (${ending})`, { skip }, async () => {
    assert.deepEqual(counted(await stderrOfOne(ending)), { NotFound: 1 })
  })
}

test('there is no line with HTTPSYS_REFUSAL_LINES=0, or beside an error log', { skip }, async (t) => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'httpsys-log-'))
  t.after(() => fs.rmSync(folder, { recursive: true }))
  const file = path.join(folder, 'error.log')
  assert.equal(await stderrOfOne('exit', { HTTPSYS_REFUSAL_LINES: '0' }), '')
  assert.equal(await stderrOfOne('exit', { HTTPSYS_ERROR_LOG: file }), '')
  assert.match(fs.readFileSync(file, 'latin1'), / NotFound\n$/)
})

test('another value of HTTPSYS_REFUSAL_LINES is refused when a server starts to listen', { skip }, async () => {
  const child = startChild(({ http, report }) => {
    try {
      http.createServer().listen(0)
    } catch ({ code, message }) {
      report({ error: { code, message } })
    }
    process.disconnect()
  }, { env: { HTTPSYS_REFUSAL_LINES: 'yes' } })
  const { code, message } = await child.message('error')
  assert.equal(code, 'ERR_HTTPSYS_ENVIRONMENT')
  assert.match(message, /HTTPSYS_REFUSAL_LINES must be 1, or 0 for none\. Received "yes"/)
  assert.equal((await child.exit).code, 0)
})
