'use strict'

// Goal: what a client writes into the head of a request is what a handler finds in req, byte for byte.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const { METHODS } = require('node:http')
const { bytewise, compare, message } = require('../helpers/differential')

/** Answers with what it was asked. @param {any} req @param {any} res */
function mirror (req, res) {
  const { method, url, httpVersion, httpVersionMajor, httpVersionMinor, headers, rawHeaders } = req
  const seen = Buffer.from(JSON.stringify({ method, url, httpVersion, httpVersionMajor, httpVersionMinor, headers, rawHeaders }), 'utf8')
  res.writeHead(200, { 'Content-Length': seen.length })
  res.end(req.method === 'HEAD' ? undefined : seen)
}

/**
 * What mirror() saw in the last request of a conversation.
 *
 * @param {string} text
 */
function mirrored (text) {
  return JSON.parse(Buffer.from(text.slice(text.lastIndexOf('\r\n\r\n') + 4), 'latin1').toString('utf8'))
}

test('every method of http.METHODS reaches the handler, CONNECT the connect listener', async (t) => {
  for (const method of METHODS.filter((name) => name !== 'CONNECT')) {
    const { text, events } = await compare(t, (req, res, log) => {
      log(req.method, req.url)
      mirror(req, res)
    }, message(`${method} /x`))
    // QUERY and others that some Node versions name but do not parse are refused by both.
    if (text.startsWith('HTTP/1.1 200')) assert.deepEqual(events, [`${method} /x`])
  }
  const { events } = await compare(t, mirror, [message('CONNECT a:1'), { event: 'gone' }], {
    prepare: (server, log) => server.on('connect', (/** @type {any} */ req, /** @type {any} */ socket, /** @type {Buffer} */ head) => {
      log(req.method, req.url, head.length)
      socket.on('close', () => log('gone'))
      socket.end('HTTP/1.1 200 Tunnel\r\n\r\n')
    })
  })
  assert.equal(events[0], 'CONNECT a:1 0')
})

test('method names are case-sensitive and unknown ones are refused', async (t) => {
  for (const method of ['get', 'Get', 'G', 'GE', 'GETX', 'GETT', 'FOO', 'PRI', 'BREW', 'P', 'PO', 'POSTS', 'M-SEARC', 'm-search']) {
    const { text } = await compare(t, mirror, message(`${method} /`))
    assert.match(text, /^HTTP\/1\.1 400 /, method)
  }
})

test('the request target is handed over as it was sent', async (t) => {
  const targets = [
    '/', '//', '///a//b', '/a?b', '/?', '?a', '/a#b', '/a%20b%00%zz%', '/a/../b/./c', '/;p=1', '/a:b', '/@', '/[x]', '/{x}', '/a|b', '/a\\b', '/^`"<>', "/'",
    '/~!$&()*+,;=', '/\x80\xff\xe4', '/a\x7fb', '*', '/*', 'http://a/', 'http://a', 'http://a:80/b?c=d#e', 'HTTP://A.B/', 'https://u:p@a/b', 'http://[::1]:8080/',
    'http://a/b%2Fc', 'ftp://a/b', 'a', 'a/b', '.', 'a:1', '%2F', 'urn:x:y', 'http://a?b', 'http://a/?b?c?d', 'http:/a', 'http:a', 'http://', '[', 'h', '1', '://', '/\t'
  ]
  let served = 0
  for (const target of targets) {
    for (const method of ['GET', 'OPTIONS']) {
      const { text } = await compare(t, mirror, message(`${method} ${target}`))
      if (!text.startsWith('HTTP/1.1 200')) continue
      assert.equal(mirrored(text).url, target)
      served++
    }
  }
  assert.ok(served > targets.length)
})

test('OPTIONS * and absolute targets do not change url, host or anything else', async (t) => {
  const { text } = await compare(t, mirror, message('OPTIONS *'))
  assert.equal(mirrored(text).url, '*')
  const absolute = await compare(t, mirror, message('GET http://other:81/p?q'))
  assert.equal(mirrored(absolute.text).url, 'http://other:81/p?q')
  assert.equal(mirrored(absolute.text).headers.host, 'a')
})

test('a long target is whole up to the limit of a head', async (t) => {
  for (const length of [255, 256, 1000, 4095, 4096, 8000, 15_000, 16_200, 16_300, 16_400, 20_000]) {
    const target = `/${'x'.repeat(length - 1)}`
    const { text } = await compare(t, mirror, message(`GET ${target}`))
    if (length <= 15_000) assert.equal(mirrored(text).url, target)
    if (length >= 16_400) assert.match(text, /^HTTP\/1\.1 431 /)
  }
  const large = `/${'y'.repeat(100_000)}`
  const { text } = await compare(t, mirror, message(`GET ${large}`), { server: { maxHeaderSize: 200_000 } })
  assert.equal(mirrored(text).url, large)
})

test('a head is the same however TCP cuts it', async (t) => {
  const head = message('GET /p?q=%20', ['X-Empty:', 'X-Pad:  \t v w \t ', 'x-\x62: \xe4\xff', 'Cookie: a=1', 'Connection: close'])
  const whole = await compare(t, mirror, head)
  const cut = await compare(t, mirror, bytewise(head))
  assert.equal(cut.text, whole.text)
  assert.deepEqual(mirrored(cut.text).rawHeaders, ['Host', 'a', 'X-Empty', '', 'X-Pad', 'v w', 'x-b', '\xe4\xff', 'Cookie', 'a=1', 'Connection', 'close'])
})

test('every byte that may stand in a header value arrives as its Latin-1 character', async (t) => {
  let legal = ''
  for (let byte = 0x21; byte <= 0xff; byte++) if (byte !== 0x7f) legal += String.fromCharCode(byte)
  const { text } = await compare(t, mirror, message('GET /', [`X-All: ${legal}`, `X-Tab: a\tb ${legal}`, 'Connection: close']))
  assert.equal(mirrored(text).headers['x-all'], legal)
  assert.equal(mirrored(text).headers['x-tab'], `a\tb ${legal}`)
})

test('each byte in a header value is taken or refused as by Node', async (t) => {
  for (let byte = 0; byte <= 0x20; byte++) await compare(t, mirror, message('GET /', [`X: a${String.fromCharCode(byte)}b`, 'Connection: close']))
  await compare(t, mirror, message('GET /', ['X: a\x7fb', 'Connection: close']))
})

test('each byte in a header name is taken or refused as by Node', async (t) => {
  for (let byte = 0; byte <= 0xff; byte++) await compare(t, mirror, message('GET /', [`X${String.fromCharCode(byte)}Y: z`, 'Connection: close']))
})

test('white space around a value is not part of it, and an empty value is one', async (t) => {
  const lines = ['E1:', 'E2: ', 'E3:\t \t', 'V1:v', 'V2:  v', 'V3: v  ', 'V4:\tv\t', 'V5: a  b\t c ', 'V6: :', 'V7: a: b', 'Connection: close']
  const { text } = await compare(t, mirror, message('GET /', lines))
  const { headers } = mirrored(text)
  assert.deepEqual([headers.e1, headers.e2, headers.e3], ['', '', ''])
  assert.deepEqual([headers.v1, headers.v2, headers.v3, headers.v4, headers.v5, headers.v6, headers.v7], ['v', 'v', 'v', 'v', 'a  b\t c', ':', 'a: b'])
})

test('white space before the colon, folded lines and bare line ends are decided as by Node', async (t) => {
  const heads = [
    'GET / HTTP/1.1\r\nHost : a\r\nConnection: close\r\n\r\n',
    'GET / HTTP/1.1\r\nHost: a\r\nX: 1\r\n 2\r\nConnection: close\r\n\r\n',
    'GET / HTTP/1.1\r\nHost: a\r\n X: 1\r\nConnection: close\r\n\r\n',
    'GET / HTTP/1.1\nHost: a\nConnection: close\n\n',
    'GET / HTTP/1.1\r\nHost: a\nConnection: close\r\n\r\n',
    'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\n\r\n',
    'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\n',
    'GET / HTTP/1.1\rHost: a\r\nConnection: close\r\n\r\n',
    'GET  /  HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n',
    'GET /\tHTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n',
    'GET / HTTP/1.1 \r\nHost: a\r\nConnection: close\r\n\r\n',
    ' GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n',
    'GET / http/1.1\r\nHost: a\r\nConnection: close\r\n\r\n',
    'GET / HTTP/1.1\r\n: a\r\nHost: a\r\nConnection: close\r\n\r\n',
    'GET / HTTP/1.1\r\nHost\r\nConnection: close\r\n\r\n',
    'GET / HTTP/1.1\r\nHost: a\r\nNoColon\r\nConnection: close\r\n\r\n'
  ]
  for (const head of heads) await compare(t, mirror, [head, null])
})

test('empty lines before a request are skipped', async (t) => {
  const { text } = await compare(t, mirror, `\r\n\r\n${message('GET /1', [])}\r\n${message('GET /2')}`)
  assert.equal(text.match(/HTTP\/1\.1 200/g)?.length, 2)
})

test('HTTP/1.0 requests carry their version and need no Host', async (t) => {
  const { text } = await compare(t, mirror, 'GET / HTTP/1.0\r\n\r\n')
  const { httpVersion, httpVersionMajor, httpVersionMinor } = mirrored(text)
  assert.deepEqual([httpVersion, httpVersionMajor, httpVersionMinor], ['1.0', 1, 0])
})

test('Host is required once, and only where requireHostHeader says so', async (t) => {
  const without = 'GET / HTTP/1.1\r\nConnection: close\r\n\r\n'
  assert.match((await compare(t, mirror, without)).text, /^HTTP\/1\.1 400 /)
  assert.match((await compare(t, mirror, without, { server: { requireHostHeader: false } })).text, /^HTTP\/1\.1 200 /)
  await compare(t, mirror, 'GET / HTTP/1.1\r\nHost:\r\nConnection: close\r\n\r\n')
  await compare(t, mirror, 'GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\nConnection: close\r\n\r\n')
})

test('many headers arrive in order and complete, up to maxHeadersCount', async (t) => {
  const lines = Array.from({ length: 500 }, (_, i) => `H${i}: ${i}`)
  const count = (/** @type {any} */ req, /** @type {any} */ res) => res.end(JSON.stringify([Object.keys(req.headers).length, req.rawHeaders.length, req.rawHeaders.slice(-2)]))
  const all = [...lines, 'Connection: close']
  await compare(t, count, message('GET /', all))
  for (const limit of [1, 10, 32, 33, 100, 0]) {
    await compare(t, count, message('GET /', ['Connection: close', ...lines]), { prepare: (server) => { server.maxHeadersCount = limit } })
  }
  const lots = Array.from({ length: 3000 }, (_, i) => `H${i}:`)
  await compare(t, count, message('GET /', ['Connection: close', ...lots]), { server: { maxHeaderSize: 100_000 } })
})

test('special header names do not touch the prototype of headers', async (t) => {
  const { text } = await compare(t, (req, res) => {
    res.end(JSON.stringify([
      req.rawHeaders, Object.keys(req.headers), typeof req.headers.toString, String(Object.getPrototypeOf(req.headers) === Object.prototype),
      Object.getOwnPropertyDescriptor(req.headers, 'constructor')?.value, Object.keys(req.headersDistinct)
    ]))
  }, message('GET /', ['__proto__: a', 'constructor: b', 'toString: c', 'hasOwnProperty: d', 'Connection: close']))
  assert.match(text, /"constructor"/)
})

test('req has the documented shape before a body was read', async (t) => {
  await compare(t, (req, res) => {
    const { complete, aborted, destroyed, readableEnded, readable, statusCode, statusMessage, trailers, rawTrailers, trailersDistinct, upgrade } = req
    res.end(JSON.stringify([complete, aborted, destroyed, readableEnded, readable, statusCode, statusMessage, trailers, rawTrailers, trailersDistinct, upgrade,
      req.socket === req.connection, req.socket === res.socket, res.req === req, req.client === req.socket]))
  }, message('GET /'))
})
