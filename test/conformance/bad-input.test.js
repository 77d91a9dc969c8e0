'use strict'

// Goal: what is refused, with which bytes and which 'clientError', is what node:http does. Each input goes
// to node:http and to the server under test; the expected status keeps the table honest on Node too.

const { test, before, after } = require('node:test')
const assert = require('node:assert/strict')
const net = require('node:net')
const nodeHttp = require('node:http')
const { http, backend } = require('../helpers/backend')
const { startChild } = require('../helpers/child')
const { dial, get, listen, request, serve, stop } = require('../helpers/client')
const { silence } = require('../helpers/waiting')

const kHead = 'POST /p HTTP/1.1\r\nHost: a\r\n'
const kClosing = 'GET /c HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'
const kChunked = kHead + 'Transfer-Encoding: chunked\r\n\r\n'
// Nothing here takes a tenth of it; an input without an answer shows up as the text it got so far.
const kAnswerMs = 20_000
/** tab-after-value in docs/compatibility.md: with the parser of newer releases. */
const [kMajor, kMinor] = process.versions.llhttp.split('.').map(Number)
const kTakesTabs = kMajor > 9 || (kMajor === 9 && kMinor >= 4)

/**
 * name, bytes, the status of the last answer, options
 *
 * @typedef {{ decided?: boolean, ends?: boolean, split?: number }} Options decided: a difference named in
 *   docs/compatibility.md; ends: the client half-closes after the bytes; split: the bytes from here on are
 *   sent once an answer has come, because Node drops the answers of one segment that ends malformed
 */

/** @type {[string, string, number, Options?][]} */
const kRefused = [
  // -- Request lines.
  ['a line that is not HTTP', 'not http at all\r\n\r\n', 400],
  ['a lower-case method', 'get / HTTP/1.1\r\nHost: a\r\n\r\n', 400],
  ['an unknown method', 'FETCH / HTTP/1.1\r\nHost: a\r\n\r\n', 400],
  ['a method that goes on after a known one', 'GETS / HTTP/1.1\r\nHost: a\r\n\r\n', 400],
  ['no method', ' / HTTP/1.1\r\nHost: a\r\n\r\n', 400],
  ['no target', 'GET  HTTP/1.1\r\nHost: a\r\n\r\n', 400],
  ['a target that does not begin with a slash', 'GET x HTTP/1.1\r\nHost: a\r\n\r\n', 400],
  ['a space in the target', 'GET /a b HTTP/1.1\r\nHost: a\r\n\r\n', 400],
  ['a control character in the target', 'GET /a\x01b HTTP/1.1\r\nHost: a\r\n\r\n', 400],
  ['NUL in the target', 'GET /a\0b HTTP/1.1\r\nHost: a\r\n\r\n', 400],
  ['DEL in the target', 'GET /a\x7fb HTTP/1.1\r\nHost: a\r\n\r\n', 400],
  ['a protocol other than HTTP', 'GET / HTTPS/1.1\r\nHost: a\r\n\r\n', 400],
  ['a lower-case protocol', 'GET / http/1.1\r\nHost: a\r\n\r\n', 400],
  ['a version without a dot', 'GET / HTTP/11\r\nHost: a\r\n\r\n', 400, { decided: true }],
  ['a version that does not exist', 'GET / HTTP/1.2\r\nHost: a\r\n\r\n', 400, { decided: true }],
  ['a version of two digits', 'GET / HTTP/1.10\r\nHost: a\r\n\r\n', 400],
  ['a space after the version', 'GET / HTTP/1.1 \r\nHost: a\r\n\r\n', 400],
  ['HTTP/2.0 in a request line', 'GET / HTTP/2.0\r\nHost: a\r\n\r\n', 400, { decided: true }],
  ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400, { decided: true }],
  ['an answer instead of a request', 'HTTP/1.1 200 OK\r\n\r\n', 400],
  ['a TLS handshake', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', 400],
  ['a NUL before the message', '\0GET / HTTP/1.1\r\nHost: a\r\n\r\n', 400],
  // -- Line ends.
  ['a bare LF after the request line', 'GET / HTTP/1.1\nHost: a\r\n\r\n', 400],
  ['a bare LF after a header', 'GET / HTTP/1.1\r\nHost: a\nX: y\r\n\r\n', 400],
  ['a bare LF for the empty line', 'GET / HTTP/1.1\r\nHost: a\r\n\n', 400],
  ['a bare CR after the request line', 'GET / HTTP/1.1\rHost: a\r\n\r\n', 400],
  ['a bare CR in a value', 'GET / HTTP/1.1\r\nHost: a\r\nX: y\rz\r\n\r\n', 400],
  ['two CR before LF', 'GET / HTTP/1.1\r\nHost: a\r\r\n\r\n', 400],
  // -- Headers.
  ['a folded header', 'GET / HTTP/1.1\r\nHost: a\r\nX: y\r\n z\r\n\r\n', 400],
  ['a header folded with a tab', 'GET / HTTP/1.1\r\nHost: a\r\nX: y\r\n\tz\r\n\r\n', 400],
  ['a first header that begins with a space', 'GET / HTTP/1.1\r\n Host: a\r\n\r\n', 400],
  ['a space before the colon', 'GET / HTTP/1.1\r\nHost : a\r\n\r\n', 400],
  ['a space within a name', 'GET / HTTP/1.1\r\nHost: a\r\nX Y: z\r\n\r\n', 400],
  ['a header without a name', 'GET / HTTP/1.1\r\nHost: a\r\n: z\r\n\r\n', 400],
  ['a header without a colon', 'GET / HTTP/1.1\r\nHost: a\r\nnothing\r\n\r\n', 400],
  ['NUL in a name', 'GET / HTTP/1.1\r\nHost: a\r\nX\0: y\r\n\r\n', 400],
  ['NUL in a value', 'GET / HTTP/1.1\r\nHost: a\r\nX: y\0z\r\n\r\n', 400],
  ['a control character in a value', 'GET / HTTP/1.1\r\nHost: a\r\nX: y\x1fz\r\n\r\n', 400],
  ['DEL in a value', 'GET / HTTP/1.1\r\nHost: a\r\nX: y\x7fz\r\n\r\n', 400],
  ['bytes above 127 in a name', 'GET / HTTP/1.1\r\nHost: a\r\nX\xe9: y\r\n\r\n', 400],
  ['a quote in a name', 'GET / HTTP/1.1\r\nHost: a\r\n"X": y\r\n\r\n', 400],
  // -- Lengths.
  ['Content-Length that is no number', kHead + 'Content-Length: ten\r\n\r\n', 400],
  ['a tab behind Content-Length', kHead + 'Content-Length: 3\t\r\n\r\nabc', 400, { decided: kTakesTabs }],
  ['an empty Content-Length', kHead + 'Content-Length:\r\n\r\n', 400],
  ['a negative Content-Length', kHead + 'Content-Length: -1\r\n\r\n', 400],
  ['Content-Length with a sign', kHead + 'Content-Length: +1\r\n\r\na', 400],
  ['a hexadecimal Content-Length', kHead + 'Content-Length: 0x1\r\n\r\na', 400],
  ['Content-Length with a fraction', kHead + 'Content-Length: 1.0\r\n\r\na', 400],
  ['Content-Length of two numbers', kHead + 'Content-Length: 1 1\r\n\r\na', 400],
  ['Content-Length as a list', kHead + 'Content-Length: 1, 1\r\n\r\na', 400],
  ['Content-Length above 64 bits', kHead + 'Content-Length: 18446744073709551616\r\n\r\n', 400],
  ['Content-Length of a hundred digits', kHead + `Content-Length: ${'9'.repeat(100)}\r\n\r\n`, 400],
  ['two different Content-Length', kHead + 'Content-Length: 1\r\nContent-Length: 2\r\n\r\nab', 400],
  ['Content-Length twice', kHead + 'Content-Length: 1\r\nContent-Length: 1\r\n\r\na', 400],
  ['Content-Length before chunked', kHead + 'Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n', 400],
  ['Content-Length behind chunked', kHead + 'Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n', 400],
  ['Content-Length and a coding that is not chunked', kHead + 'Transfer-Encoding: gzip\r\nContent-Length: 1\r\n\r\na', 400],
  ['chunked that is not the last coding', kHead + 'Transfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n', 400],
  ['Transfer-Encoding: identity', kHead + 'Transfer-Encoding: identity\r\n\r\n', 400, { decided: true }],
  ['Transfer-Encoding: xchunked', kHead + 'Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n', 400, { decided: true }],
  ['Transfer-Encoding: gzip, chunked', kHead + 'Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n', 400, { decided: true }],
  ['Transfer-Encoding: chunked twice', kHead + 'Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n', 400, { decided: true }],
  ['chunked with a vertical tab', kHead + 'Transfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n', 400],
  // -- Chunks.
  ['a chunk size that is no number', kChunked + 'x\r\n', 400],
  ['an empty chunk size', kChunked + '\r\n\r\n', 400],
  ['a negative chunk size', kChunked + '-1\r\n', 400],
  ['a chunk size with a prefix', kChunked + '0x1\r\na\r\n0\r\n\r\n', 400],
  ['a space before a chunk size', kChunked + ' 1\r\na\r\n0\r\n\r\n', 400],
  ['a space behind a chunk size', kChunked + '1 \r\na\r\n0\r\n\r\n', 400],
  ['a chunk size above 64 bits', kChunked + '10000000000000000\r\n', 400],
  ['a chunk size with a bare LF', kChunked + '1\na\r\n0\r\n\r\n', 400],
  ['a chunk size with a bare CR', kChunked + '1\ra\r\n0\r\n\r\n', 400],
  ['a chunk longer than its size', kChunked + '1\r\nab\r\n0\r\n\r\n', 400],
  ['a chunk that ends with a bare LF', kChunked + '1\r\na\n0\r\n\r\n', 400],
  ['a chunk that ends with CR and no LF', kChunked + '1\r\na\rX0\r\n\r\n', 400],
  ['a control character in a chunk extension', kChunked + '1;a\x01b\r\na\r\n0\r\n\r\n', 400],
  ['a bare LF in a chunk extension', kChunked + '1;a\nb\r\na\r\n0\r\n\r\n', 400],
  ['a quoted extension value that does not end', kChunked + '1;a="b\r\na\r\n0\r\n\r\n', 400],
  ['an error in the second chunk', kChunked + '1\r\na\r\nzz\r\n', 400],
  ['a trailer without a colon', kChunked + '0\r\nnothing\r\n\r\n', 400],
  ['NUL in a trailer', kChunked + '0\r\nX: \0\r\n\r\n', 400],
  ['a bare LF after the last chunk', kChunked + '0\n\r\n', 400],
  // -- Sizes.
  ['a target above the limit', `GET /${'a'.repeat(20_000)} HTTP/1.1\r\nHost: a\r\n\r\n`, 431],
  ['a value above the limit', `GET / HTTP/1.1\r\nHost: a\r\nX: ${'y'.repeat(20_000)}\r\n\r\n`, 431],
  ['a name above the limit', `GET / HTTP/1.1\r\nHost: a\r\n${'x'.repeat(20_000)}: y\r\n\r\n`, 431],
  ['many headers above the limit', `GET / HTTP/1.1\r\nHost: a\r\n${'X-Header: 0123456789\r\n'.repeat(1000)}\r\n`, 431],
  ['trailers above the limit', kChunked + `0\r\n${'X-Trailer: 0123456789\r\n'.repeat(1000)}\r\n`, 431],
  ['chunk extensions above the limit', kChunked + `1;${'a'.repeat(20_000)}\r\na\r\n0\r\n\r\n`, 413],
  // -- After something good.
  ['rubbish behind a request', get('/good') + 'rubbish\r\n\r\n', 400, { split: get('/good').length }],
  ['a request behind one that closes', kClosing + get(), 200, { split: kClosing.length }],
  ['bytes that the Content-Length leaves over', kHead + 'Content-Length: 1\r\n\r\nab', 400, { ends: true, split: kHead.length + 22 }],
  // -- Ends in the middle.
  ['an end within the request line', 'GET /', 400, { ends: true }],
  ['an end within a header', 'GET / HTTP/1.1\r\nHo', 400, { ends: true }],
  ['an end before the empty line', 'GET / HTTP/1.1\r\nHost: a\r\n', 400, { ends: true }],
  ['an end behind an empty Content-Length', kHead + 'Content-Length:\r\n', 400, { ends: true }],
  ['an end within a chunk', kChunked + '5\r\nab', 400, { ends: true }],
  ['an end before the last chunk', kChunked + '2\r\nab\r\n', 400, { ends: true }],
  ['an end within the trailers', kChunked + '0\r\nX: y\r\n', 400, { ends: true }]
]

// What looks wrong and is not: a server that refuses it breaks somebody.
/** @type {[string, string, number, Options?][]} */
const kAccepted = [
  ['empty lines before the request', '\r\n\r\n' + get(), 200, { ends: true }],
  ['LF before the request', '\n\n' + get(), 200, { ends: true }],
  ['bytes above 127 in a value', 'GET / HTTP/1.1\r\nHost: a\r\nX: \xe9\xff\r\n\r\n', 200, { ends: true }],
  ['an empty value', 'GET / HTTP/1.1\r\nHost: a\r\nX:\r\n\r\n', 200, { ends: true }],
  ['white space around a value', 'GET / HTTP/1.1\r\nHost: a\r\nX: \t y \t \r\n\r\n', 200, { ends: true }],
  ['every character of a token in a name', 'GET / HTTP/1.1\r\nHost: a\r\n!#$%&\'*+-.^_`|~0aZ: y\r\n\r\n', 200, { ends: true }],
  ['an absolute target', 'GET http://b/c?d HTTP/1.1\r\nHost: a\r\n\r\n', 200, { ends: true }],
  ['an asterisk followed by more', 'GET *x HTTP/1.1\r\nHost: a\r\n\r\n', 200, { ends: true }],
  ['CONNECT without a listener', 'CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n', 0],
  ['an asterisk', 'OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n', 200, { ends: true }],
  ['white space around Content-Length', kHead + 'Content-Length:  3  \r\n\r\nabc', 200, { ends: true }],
  ['zeros before Content-Length', kHead + 'Content-Length: 0003\r\n\r\nabc', 200, { ends: true }],
  ['chunked in capitals', kHead + 'Transfer-Encoding: CHUNKED\r\n\r\n1\r\na\r\n0\r\n\r\n', 200, { ends: true }],
  ['zeros before a chunk size', kChunked + '0003\r\nabc\r\n0\r\n\r\n', 200, { ends: true }],
  ['chunk sizes in either case', kChunked + `a\r\n${'x'.repeat(10)}\r\nA\r\n${'y'.repeat(10)}\r\n00\r\n\r\n`, 200, { ends: true }],
  ['chunk extensions', kChunked + '1;a\r\na\r\n1;b=c;d="e f"\r\nb\r\n0;g\r\n\r\n', 200, { ends: true }],
  ['trailers', kChunked + '1\r\na\r\n0\r\nX: y\r\nZ: w\r\n\r\n', 200, { ends: true }],
  ['a body of GET', 'GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc', 200, { ends: true }],
  ['HTTP/1.0 without Host', 'GET / HTTP/1.0\r\n\r\n', 200, { ends: true }],
  ['HTTP/1.1 without Host (refused, but not as malformed)', 'GET / HTTP/1.1\r\n\r\n', 400, { ends: true }],
  ['two Host headers', 'GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n', 200, { ends: true }],
  ['an end after nothing', '', 0, { ends: true }],
  ['an end after empty lines', '\r\n\r\n', 0, { ends: true }],
  ['an end within a body of a given length', kHead + 'Content-Length: 5\r\n\r\nab', 400, { ends: true }]
]

/**
 * @typedef {object} Probe a listening server and what its 'clientError' saw
 * @property {any} server
 * @property {any[]} errors of the last input
 */

/** @param {typeof nodeHttp} from @param {boolean} listens @returns {Promise<Probe>} */
async function start (from, listens) {
  const errors = /** @type {any[]} */ ([])
  const server = from.createServer((req, res) => {
    let body = ''
    req.setEncoding('latin1')
    req.on('error', () => {})
    req.on('data', (piece) => { body += piece })
    req.on('end', () => {
      const { method, url, httpVersion, rawHeaders, rawTrailers } = req
      res.sendDate = false
      res.end(JSON.stringify({ method, url, httpVersion, rawHeaders, rawTrailers, body }))
    })
  })
  if (listens) {
    server.on('clientError', (/** @type {any} */ error, socket) => {
      const { name, code, message, reason, bytesParsed, rawPacket } = error
      errors.push({
        isError: error instanceof Error, name, code, message, reason, bytesParsed, rawPacket: rawPacket?.toString('latin1'), writable: socket.writable
      })
      // As the documentation of Node recommends.
      if (error.code === 'ECONNRESET' || !socket.writable) return
      socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')
    })
  }
  await listen(server)
  return { server, errors }
}

/** @param {any} server @param {string} bytes @param {boolean} ends @param {number} split @returns {Promise<string>} what came back until the server closed */
function exchange (server, bytes, ends, split) {
  return new Promise((resolve) => {
    let text = ''
    const socket = net.connect({ port: server.address().port, host: '127.0.0.1', allowHalfOpen: true })
    const timer = setTimeout(() => {
      text += `<no end within ${kAnswerMs} ms>`
      socket.destroy()
    }, kAnswerMs)
    socket.on('connect', () => {
      socket.write(bytes.slice(0, split), 'latin1')
      if (split === Infinity) return ends && socket.end()
      socket.once('data', () => {
        socket.write(bytes.slice(split), 'latin1')
        if (ends) socket.end()
      })
    })
    socket.on('data', (piece) => { text += piece.toString('latin1') })
    socket.on('error', () => {})
    socket.on('end', () => socket.end())
    socket.on('close', () => {
      clearTimeout(timer)
      resolve(text)
    })
  })
}

/** @param {Probe} probe @param {string} bytes @param {boolean} ends @param {number} [split] */
async function probe ({ server, errors }, bytes, ends, split = Infinity) {
  errors.length = 0
  const text = await exchange(server, bytes, ends, split)
  return { text: text.replace(/Date: [^\r]*\r\n/g, ''), errors: [...errors] }
}

/** @param {string} text @returns {number} the status of the last answer in it */
function lastStatus (text) {
  return Number([...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].pop()?.[1] ?? 0)
}

/** @type {Record<'silent' | 'listening', Record<'node' | 'ours', Probe>>} */
const probes = /** @type {any} */ ({})

before(async () => {
  for (const name of /** @type {const} */ (['silent', 'listening'])) {
    const listens = name === 'listening'
    probes[name] = { node: await start(nodeHttp, listens), ours: await start(http, listens) }
  }
})

after(async () => {
  for (const pair of Object.values(probes)) {
    for (const { server } of Object.values(pair)) await stop(server)
  }
})

for (const [name, bytes, status, { decided = false, ends = false, split } = {}] of [...kRefused, ...kAccepted]) {
  test(`${name}: ${status || 'no answer'}, as node:http`, async () => {
    const { silent, listening } = probes
    if (decided && backend === 'node') {
      // Only that Node still differs or agrees without hanging; ours is compared with the table.
      await probe(silent.node, bytes, true)
      return
    }
    const answer = await probe(silent.ours, bytes, ends, split)
    assert.equal(lastStatus(answer.text), status, answer.text)
    const told = await probe(listening.ours, bytes, ends, split)
    if (decided) {
      assert.match(answer.text, /^HTTP\/1\.1 400 Bad Request\r\nConnection: close\r\n\r\n$/)
      assert.equal(told.errors.length, 1)
      assert.match(told.errors[0].code, /^HPE_/)
      assert.equal(told.errors[0].rawPacket, bytes)
      return
    }
    assert.deepEqual(answer, await probe(silent.node, bytes, ends, split))
    assert.deepEqual(told, await probe(listening.node, bytes, ends, split))
    if (split === undefined || backend === 'node') return
    // Ours answers the same however TCP cut the bytes.
    assert.equal((await probe(silent.ours, bytes, ends)).text, answer.text)
    assert.equal((await probe(listening.ours, bytes, ends)).text, told.text)
  })
}

// Whole messages cut off at every byte: with and without a listener, the same bytes and the same errors.
for (const [name, bytes] of [
  ['a GET', 'GET /abc?d HTTP/1.1\r\nHost: a\r\nX: y\r\n\r\n'],
  ['a POST with a length', 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nabcde'],
  ['a chunked POST with trailers', kChunked + '3;x=y\r\nabc\r\n0\r\nT: v\r\n\r\n'],
  ['two requests', get('/1') + get('/2')]
]) {
  test(`${name} cut off at every byte is answered as by node:http`, async () => {
    for (let length = 0; length <= bytes.length; length++) {
      const part = bytes.slice(0, length)
      for (const { node, ours } of Object.values(probes)) {
        const [expected, actual] = await Promise.all([probe(node, part, true), probe(ours, part, true)])
        assert.deepEqual(actual, expected, JSON.stringify(part))
      }
    }
  })

  test(`${name}, every byte in a segment of its own, is understood`, async (t) => {
    const seen = /** @type {string[]} */ ([])
    const server = http.createServer((req, res) => {
      let body = ''
      req.on('data', (piece) => { body += piece })
      req.on('end', () => {
        seen.push(`${req.method} ${req.url} ${body} ${req.rawTrailers}`)
        res.end(`<${seen.length}>`)
      })
    })
    const wire = await dial(t, await serve(t, server))
    for (const byte of bytes) {
      await new Promise((resolve) => wire.socket.write(byte, resolve))
      await new Promise((resolve) => setImmediate(resolve))
    }
    const wanted = name === 'two requests' ? ['GET /1  ', 'GET /2  '] : [name === 'a GET' ? 'GET /abc?d  ' : /chunked/.test(name) ? 'POST /p abc T,v' : 'POST / abcde ']
    await wire.until(`<${wanted.length}>`)
    assert.deepEqual(seen, wanted)
  })
}

test('a listener that does nothing keeps the connection, and destroying the socket closes it', async (t) => {
  const server = http.createServer()
  const seen = new Promise((resolve) => server.on('clientError', (_, socket) => resolve(socket)))
  const wire = await dial(t, await serve(t, server))
  wire.write('rubbish\r\n\r\n')
  const socket = /** @type {net.Socket} */ (await seen)
  await silence(50)
  assert.equal(wire.text, '')
  assert.equal(wire.closed, false)
  assert.equal(socket.destroyed, false)
  socket.destroy()
  await wire.untilClosed()
  assert.equal(wire.text, '')
})

test('further bytes after a refused message give no second clientError', async (t) => {
  let errors = 0
  let requests = 0
  const server = http.createServer(() => requests++)
  const seen = new Promise((resolve) => server.on('clientError', (_, socket) => {
    errors++
    resolve(socket)
  }))
  const wire = await dial(t, await serve(t, server))
  wire.write('rubbish\r\n\r\n')
  const socket = /** @type {net.Socket} */ (await seen)
  wire.write('more rubbish\r\n\r\n').write(get())
  await silence(50)
  const before = errors
  socket.end('bye')
  await wire.until('bye')
  assert.equal(requests, 0)
  // Node's parser is asked again for what arrives later; nobody may depend on how often.
  assert.ok(before >= 1)
})

test('a clientError listener added while serving is asked from then on, and no more once removed', async (t) => {
  const server = http.createServer()
  const port = await serve(t, server)
  const refused = async () => {
    const wire = await dial(t, port)
    wire.write('rubbish\r\n\r\n')
    return wire.untilClosed()
  }
  const kDefault = 'HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n'
  assert.equal(await refused(), kDefault)
  /** @param {Error} error @param {any} socket */
  const listener = (error, socket) => socket.end(`mine: ${/** @type {any} */ (error).code}`)
  server.on('clientError', listener)
  assert.match(await refused(), /^mine: HPE_/)
  server.off('clientError', listener)
  assert.equal(await refused(), kDefault)
})

test('a message that is refused after its answer has begun ends the connection without a second answer', async (t) => {
  const server = http.createServer((req, res) => {
    req.on('error', () => {})
    res.write('begun')
    server.emit('begun')
  })
  const wire = await dial(t, await serve(t, server))
  wire.write(kChunked + '1\r\na\r\n')
  await wire.until('begun')
  wire.write('rubbish\r\n')
  const text = await wire.untilClosed()
  assert.equal(text.match(/HTTP\/1\.1/g)?.length, 1)
  assert.doesNotMatch(text, /400 Bad/)
})

test('a request whose body turns out malformed is aborted with ECONNRESET', async (t) => {
  const events = /** @type {string[]} */ ([])
  const server = http.createServer((req, res) => {
    req.on('data', (piece) => events.push(`data ${piece}`))
    req.on('end', () => events.push('end'))
    req.on('aborted', () => events.push('aborted'))
    req.on('error', (/** @type {any} */ error) => events.push(`error ${error.code}`))
    res.on('close', () => {
      events.push('res close')
      server.emit('over')
    })
  })
  const over = new Promise((resolve) => server.on('over', resolve))
  const wire = await dial(t, await serve(t, server))
  wire.write(kChunked + '1\r\na\r\n')
  await new Promise((resolve) => server.once('request', (req) => req.once('data', resolve)))
  wire.write('rubbish\r\n')
  assert.match(await wire.untilClosed(), /^HTTP\/1\.1 400 /)
  await over
  await new Promise((resolve) => setImmediate(resolve))
  assert.deepEqual(events, ['data a', 'aborted', 'res close', 'error ECONNRESET'])
})

test('good requests go on beside refused ones', async (t) => {
  const server = http.createServer((req, res) => res.end('good'))
  const port = await serve(t, server)
  await Promise.all(Array.from({ length: 50 }, async (_, i) => {
    if (i % 2) {
      assert.equal((await request(port)).body, 'good')
    } else {
      const wire = await dial(t, port)
      wire.write('rubbish\r\n\r\n')
      assert.match(await wire.untilClosed(), /^HTTP\/1\.1 400 /)
    }
  }))
})

test('rubbish is answered while JavaScript is busy, for nobody listens', {
  skip: backend === 'node' && 'Node parses on the JavaScript thread'
}, async (t) => {
  const child = startChild(({ http, report }) => {
    const server = http.createServer((req, res) => {
      report({ busy: true })
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1500)
      res.end('done')
    })
    server.listen(0, '127.0.0.1', () => report({ port: /** @type {any} */ (server.address()).port }))
  })
  t.after(() => child.kill())
  const port = await child.message('port')
  const busy = await dial(t, port)
  busy.write(get())
  await child.message('busy')
  for (const [bytes, status] of /** @type {[string, number][]} */ ([
    ['rubbish\r\n\r\n', 400], [`GET / HTTP/1.1\r\nX: ${'y'.repeat(20_000)}\r\n\r\n`, 431]
  ])) {
    const wire = await dial(t, port)
    wire.write(bytes)
    assert.equal(lastStatus(await wire.untilClosed()), status)
  }
  assert.equal(busy.text, '')
  await busy.until('done')
})
