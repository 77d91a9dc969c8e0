'use strict'

// Goal: `Upgrade: h2c` where it is wanted, as RFC 7540 has it: the request becomes stream 1. Method: curl and nghttp, and bytes by hand.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const { execFile } = require('node:child_process')
const { once } = require('node:events')
const { promisify } = require('node:util')
const { frame, kEndStream, kType } = require('./frames')
const { serve } = require('./kit')
const { begin, bodyOf, goOn, kLines } = require('./upgrade-kit')
const https = require('../helpers/tls')
const { http, backend } = require('../helpers/backend')

const options = { skip: backend === 'node' && 'HTTP/2 without TLS on a server of node:http is ours' }
const kUpgrade = { http2: { upgrade: true } }
const kFlowControlError = 3
const run = promisify(execFile)

/** @param {any} req @param {any} res */
function tell (req, res) {
  let body = ''
  req.setEncoding('latin1').on('data', (/** @type {string} */ piece) => { body += piece })
  req.on('end', () => res.end(`${req.method} ${req.httpVersion} ${req.url} ${req.headers.upgrade} ${body}`))
}

test('curl and nghttp upgrade, and go on over HTTP/2', options, async (t) => {
  const { port } = await serve(t, tell, kUpgrade)
  const url = `http://127.0.0.1:${port}`
  const { stdout } = await run('curl', ['-s', '--http2', '-w', ' %{http_version}', `${url}/a`, '--next', '-s', '--http2', `${url}/b`])
  assert.equal(stdout, 'GET 2.0 /a undefined  2GET 2.0 /b undefined ')
  const { stdout: posted } = await run('curl', ['-s', '--http2', '-d', 'a=b', `${url}/c`])
  assert.equal(posted, 'POST 2.0 /c undefined a=b')
  const { stdout: nghttp } = await run('nghttp', ['--upgrade', '--no-dep', `${url}/d`, `${url}/e`])
  assert.deepEqual(nghttp.split('GET ').sort(), ['', '2.0 /d undefined ', '2.0 /e undefined '])
})

test('the request is stream 1, its answer a frame, and others follow on the connection', options, async (t) => {
  const { port } = await serve(t, tell, kUpgrade)
  const begun = await begin(t, port, `POST /one HTTP/1.1\r\n${kLines}Content-Length: 4\r\n\r\nbody`)
  assert.equal(begun.head, 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: h2c')
  const wire = goOn(begun)
  assert.equal(await bodyOf(wire, 1), 'POST 2.0 /one undefined body')
  wire.request(3, { ':path': '/three' })
  assert.equal(await bodyOf(wire, 3), 'GET 2.0 /three undefined ')
})

test('HEAD is answered without a body, and the client\'s settings count', options, async (t) => {
  // A window of nothing, and a request for a body.
  const closed = kLines.replace('AAMAAABkAAQAAP__', 'AAQAAAAA')
  const { port } = await serve(t, tell, kUpgrade)
  const head = goOn(await begin(t, port, `HEAD /a HTTP/1.1\r\n${kLines}\r\n`))
  const answer = await head.next((/** @type {any} */ each) => each.type === kType.headers && each.stream === 1)
  assert.equal(answer.flags & kEndStream, kEndStream)
  const wire = goOn(await begin(t, port, `GET /a HTTP/1.1\r\n${closed}\r\n`))
  await wire.next((/** @type {any} */ each) => each.type === kType.headers && each.stream === 1)
  wire.send(frame(kType.ping, 0, 0, Buffer.alloc(8)))
  const next = await wire.next((/** @type {any} */ each) => each.type === kType.ping || each.type === kType.data)
  assert.equal(next.type, kType.ping)
  wire.send(frame(kType.windowUpdate, 0, 1, Buffer.from([0, 0, 1, 0])))
  assert.equal(await bodyOf(wire, 1), 'GET 2.0 /a undefined ')
})

/** @type {Record<string, string>} */
const kOrdinary = {
  'no settings': `GET / HTTP/1.1\r\n${kLines.replace(/HTTP2-Settings: .*\r\n/, '')}\r\n`,
  'settings that are no base64url': `GET / HTTP/1.1\r\n${kLines.replace('AAMA', '!!!!')}\r\n`,
  'a setting that is cut off': `GET / HTTP/1.1\r\n${kLines.replace('AAMAAABkAAQAAP__', 'AAMA')}\r\n`,
  'settings without end': `GET / HTTP/1.1\r\n${kLines.replace('AAMAAABkAAQAAP__', 'A'.repeat(4000))}\r\n`,
  chunks: `POST / HTTP/1.1\r\n${kLines}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
  'an absolute target': `GET http://a/ HTTP/1.1\r\n${kLines}\r\n`,
  'a body that is too large': `POST / HTTP/1.1\r\n${kLines}Content-Length: 100000\r\n\r\n${'x'.repeat(100_000)}`
}

for (const [what, text] of Object.entries(kOrdinary)) {
  test(`a request with ${what} is answered over HTTP/1.1`, options, async (t) => {
    const { port } = await serve(t, (/** @type {any} */ req, /** @type {any} */ res) => res.end(req.resume().httpVersion), kUpgrade)
    const { head } = await begin(t, port, text)
    assert.match(head, /^HTTP\/1\.1 200 OK/)
  })
}

test('without the option, with TLS, and for a later request there is no upgrade', options, async (t) => {
  const { port } = await serve(t, tell)
  assert.match((await begin(t, port, `GET / HTTP/1.1\r\n${kLines}\r\n`)).head, /^HTTP\/1\.1 200 OK/)
  const secure = await https.serve(t, kUpgrade, tell)
  const socket = await https.connect(secure.port)
  socket.write(`GET / HTTP/1.1\r\n${kLines}\r\n`)
  assert.match(String(await once(socket, 'data')), /^HTTP\/1\.1 200 OK/)
  const later = await serve(t, tell, kUpgrade)
  const { socket: kept } = await begin(t, later.port, 'GET / HTTP/1.1\r\nHost: a\r\n\r\n')
  kept.write(`GET / HTTP/1.1\r\n${kLines}\r\n`)
  assert.match(String(await once(kept, 'data')), /^HTTP\/1\.1 200 OK/)
  assert.throws(() => http.createServer(/** @type {any} */ ({ http2: { upgrade: 'yes' } })), { code: 'ERR_INVALID_ARG_TYPE' })
})

test('settings that are refused end the connection, as within frames', options, async (t) => {
  const { port } = await serve(t, tell, kUpgrade)
  const wire = goOn(await begin(t, port, `GET / HTTP/1.1\r\n${kLines.replace('AAMAAABkAAQAAP__', 'AAT_____')}\r\n`))
  assert.equal(await wire.goaway(), kFlowControlError)
  await wire.closed
})

test('a client that is no client of HTTP/2 after the 101 is cut off', options, async (t) => {
  const { port } = await serve(t, tell, kUpgrade)
  const { socket } = await begin(t, port, `GET / HTTP/1.1\r\n${kLines}\r\n`)
  socket.write('GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n')
  await once(socket.resume(), 'close')
})
