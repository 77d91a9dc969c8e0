'use strict'

// Goal: the Expect header: who answers it, when 100 is sent and when not.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const { once } = require('node:events')
const { http } = require('../helpers/backend')
const { dial, serve } = require('../helpers/client')

const kContinue = 'HTTP/1.1 100 Continue\r\n\r\n'

/** @param {string} [expectation] @param {string} [version] @returns {string} the head of a POST with 5 bytes of body */
function head (expectation = '100-continue', version = '1.1') {
  return `POST / HTTP/${version}\r\nHost: a\r\nExpect: ${expectation}\r\nContent-Length: 5\r\n\r\n`
}

/** @param {any} req @param {any} res */
function echo (req, res) {
  let body = ''
  req.on('data', (/** @type {Buffer} */ piece) => { body += piece })
  req.on('end', () => res.end(`<${body}>`))
}

/** @param {import('node:test').TestContext} t @param {any} server */
async function dialServer (t, server) {
  return dial(t, await serve(t, server))
}

test('100 is sent by itself before the request listener runs, then the body is read', async (t) => {
  const server = http.createServer(echo)
  const wire = await dialServer(t, server)
  wire.write(head())
  await wire.until(kContinue)
  assert.equal(wire.text, kContinue)
  wire.write('abcde')
  const text = await wire.until('<abcde>')
  assert.match(text.slice(kContinue.length), /^HTTP\/1\.1 200 OK\r\n/)
  assert.equal(text.match(/100 Continue/g)?.length, 1)
})

test('100 is sent also when the body comes along, and the connection serves on', async (t) => {
  const wire = await dialServer(t, http.createServer(echo))
  wire.write(head() + 'abcde')
  await wire.until('<abcde>')
  assert.ok(wire.text.startsWith(kContinue))
  wire.write(head() + 'fghij')
  await wire.until('<fghij>')
  assert.equal(wire.text.match(/100 Continue/g)?.length, 2)
})

test('the expectation is found in any case and beside other words', async (t) => {
  for (const expectation of ['100-Continue', '100-CONTINUE', 'x, 100-continue', '100-continue, x', '  100-continue  ']) {
    const wire = await dialServer(t, http.createServer(echo))
    wire.write(head(expectation))
    await wire.until(kContinue)
    wire.write('abcde')
    await wire.until('<abcde>')
  }
})

test('HTTP/1.0 gets no 100', async (t) => {
  const wire = await dialServer(t, http.createServer(echo))
  wire.write(head('100-continue', '1.0') + 'abcde')
  assert.match(await wire.untilClosed(), /^HTTP\/1\.1 200 OK\r\n/)
})

test('checkContinue takes the request instead of the request listener', async (t) => {
  const server = http.createServer(() => assert.fail('request'))
  server.on('checkContinue', (req, res) => {
    assert.equal(req.headers.expect, '100-continue')
    res.writeContinue()
    echo(req, res)
  })
  const wire = await dialServer(t, server)
  wire.write(head())
  await wire.until(kContinue)
  wire.write('abcde')
  await wire.until('<abcde>')
})

test('checkContinue that answers at once sends no 100', async (t) => {
  const server = http.createServer()
  server.on('checkContinue', (req, res) => {
    res.writeHead(401, { Connection: 'close', 'Content-Length': 2 })
    res.end('no')
  })
  const wire = await dialServer(t, server)
  wire.write(head())
  const text = await wire.untilClosed()
  assert.match(text, /^HTTP\/1\.1 401 Unauthorized\r\n/)
  assert.match(text, /\r\n\r\nno$/)
})

test('checkContinue may answer later, and sees a body that came unasked', async (t) => {
  const server = http.createServer()
  server.on('checkContinue', (req, res) => setImmediate(() => echo(req, res)))
  const wire = await dialServer(t, server)
  wire.write(head() + 'abcde')
  const text = await wire.until('<abcde>')
  assert.doesNotMatch(text, /100 Continue/)
})

test('checkContinue may hand over to the request listener', async (t) => {
  const server = http.createServer(echo)
  server.on('checkContinue', (req, res) => {
    res.writeContinue()
    server.emit('request', req, res)
  })
  const wire = await dialServer(t, server)
  wire.write(head())
  await wire.until(kContinue)
  wire.write('abcde')
  await wire.until('<abcde>')
})

test('a checkContinue listener added while serving is asked from then on, and no more once removed', async (t) => {
  const server = http.createServer(echo)
  const port = await serve(t, server)
  const ask = async (/** @type {string} */ wanted) => {
    const wire = await dial(t, port)
    wire.write(head() + 'abcde')
    return (await wire.until(wanted)).startsWith(kContinue)
  }
  assert.equal(await ask('<abcde>'), true)
  /** @param {any} req @param {any} res */
  const listener = (req, res) => {
    req.resume()
    res.end('checked')
  }
  server.on('checkContinue', listener)
  assert.equal(await ask('checked'), false)
  server.off('checkContinue', listener)
  assert.equal(await ask('<abcde>'), true)
})

test('a connection whose client was not told to continue is closed after the answer', async (t) => {
  const server = http.createServer()
  server.on('checkContinue', (req, res) => res.end('no'))
  const wire = await dialServer(t, server)
  wire.write(head())
  assert.match(await wire.untilClosed(), /\r\nConnection: close\r\n/)
})

test('another expectation is answered 417 and no listener runs', async (t) => {
  const server = http.createServer(() => assert.fail('request'))
  server.on('checkContinue', () => assert.fail('checkContinue'))
  const wire = await dialServer(t, server)
  wire.write(head('the-impossible') + 'abcde')
  assert.match(await wire.until('\r\n\r\n'), /^HTTP\/1\.1 417 Expectation Failed\r\n/)
})

test('another expectation goes to checkExpectation when there is a listener', async (t) => {
  const server = http.createServer(() => assert.fail('request'))
  server.on('checkExpectation', (req, res) => {
    assert.equal(req.headers.expect, 'meaning')
    res.statusCode = 202
    echo(req, res)
  })
  const wire = await dialServer(t, server)
  wire.write(head('meaning') + 'abcde')
  assert.match(await wire.until('<abcde>'), /^HTTP\/1\.1 202 Accepted\r\n/)
})

test('an empty Expect header is no expectation that can be met', async (t) => {
  const server = http.createServer(() => assert.fail('request'))
  const wire = await dialServer(t, server)
  wire.write(head('') + 'abcde')
  assert.match(await wire.until('\r\n\r\n'), /^HTTP\/1\.1 417 Expectation Failed\r\n/)
})

test('an expectation without a body is met too', async (t) => {
  const wire = await dialServer(t, http.createServer(echo))
  wire.write('GET / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n\r\n')
  const text = await wire.until('<>')
  assert.ok(text.startsWith(kContinue))
})

test('a chunked body after 100 arrives whole', async (t) => {
  const wire = await dialServer(t, http.createServer(echo))
  wire.write('POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nTransfer-Encoding: chunked\r\n\r\n')
  await wire.until(kContinue)
  wire.write('3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n')
  await wire.until('<abcde>')
})

test('pipelined expectations are answered in their order', async (t) => {
  const server = http.createServer((req, res) => {
    req.resume()
    req.on('end', () => setTimeout(() => res.end(`<${req.url}>`), req.url === '/1' ? 50 : 0))
  })
  const wire = await dialServer(t, server)
  const post = (/** @type {string} */ path) => head().replace('POST /', `POST ${path}`) + 'abcde'
  wire.write(post('/1') + post('/2'))
  const text = await wire.until('</2>')
  const order = [...text.matchAll(/HTTP\/1\.1 (\d+)|<(\/\d)>/g)].map(([, status, body]) => status ?? body)
  assert.deepEqual(order.filter((word) => word !== '100'), ['200', '/1', '200', '/2'])
  assert.equal(order.filter((word) => word === '100').length, 2)
})

test('Node\'s client gets "continue" and then its answer', async (t) => {
  const { request } = require('node:http')
  const port = await serve(t, http.createServer(echo))
  const req = request({ port, host: '127.0.0.1', method: 'POST', agent: false, headers: { Expect: '100-continue', 'Content-Length': 5 } })
  req.flushHeaders()
  await once(req, 'continue')
  req.end('abcde')
  const [res] = await once(req, 'response')
  let body = ''
  for await (const piece of res) body += piece
  assert.equal(body, '<abcde>')
})
