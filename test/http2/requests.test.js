'use strict'

// Goal: an application that knows HTTP/1.1 sees a request of HTTP/2 as one of its own.
// Method: Node's http2 client against a listener for (req, res).

const { test } = require('node:test')
const assert = require('node:assert/strict')
const { once } = require('node:events')
const http = require('node:http')
const { Frames, block, fieldsOf, frame, kEndHeaders, kEndStream, kType } = require('./frames')
const { connect, request, serve } = require('./kit')
const { backend } = require('../helpers/backend')

const options = { skip: backend === 'node' && 'HTTP/2 without TLS on a server of node:http is ours' }

test('a request has method, target, host and lines as on HTTP/1.1, and no pseudo fields', options, async (t) => {
  /** @type {any} */
  let seen
  const { client, port } = await serve(t, (/** @type {any} */ req, /** @type {any} */ res) => {
    seen = {
      method: req.method, url: req.url, version: req.httpVersion, major: req.httpVersionMajor, minor: req.httpVersionMinor, headers: req.headers, raw: req.rawHeaders, stream: req.stream
    }
    res.end('ok')
  })
  const { status, headers, text } = await request(client, { ':path': '/a?b=c', 'x-one': '1', cookie: ['a=1', 'b=2'] })
  assert.equal(status, 200)
  assert.equal(text, 'ok')
  assert.equal(headers['content-length'], '2')
  assert.equal(headers.connection, undefined)
  assert.equal(headers['keep-alive'], undefined)
  assert.equal(seen.method, 'GET')
  assert.equal(seen.url, '/a?b=c')
  assert.deepEqual([seen.version, seen.major, seen.minor], ['2.0', 2, 0])
  assert.deepEqual({ ...seen.headers }, { host: `127.0.0.1:${port}`, 'x-one': '1', cookie: 'a=1; b=2' })
  assert.deepEqual(seen.raw, ['host', `127.0.0.1:${port}`, 'x-one', '1', 'cookie', 'a=1; b=2'])
  assert.equal(seen.stream, undefined)
})

test('each request has a socket of its own with the addresses of the connection, which is told once', options, async (t) => {
  const sockets = new Set()
  const connections = /** @type {any[]} */ ([])
  const { client, server, port } = await serve(t, (/** @type {any} */ req, /** @type {any} */ res) => {
    sockets.add(req.socket)
    res.end(`${req.socket.remoteAddress} ${req.socket.localPort} ${req.socket === res.socket}`)
  })
  server.on('connection', (/** @type {any} */ socket) => connections.push(socket))
  const second = await connect(t, port)
  const answers = await Promise.all([1, 2, 3].map(() => request(second, { ':path': '/' })))
  for (const { text } of answers) assert.equal(text, `127.0.0.1 ${port} true`)
  assert.equal(sockets.size, 3)
  assert.equal(connections.length, 1)
  assert.equal(await new Promise((resolve) => server.getConnections((_, count) => resolve(count))), 2)
  assert.equal(client.destroyed, false)
})

// Node 24 has the option for HTTP/1.1, where a body without either header does not exist.
test('optimizeEmptyRequests settles a request without a body, and no other', options, async (t) => {
  const { client } = await serve(t, (/** @type {any} */ req, /** @type {any} */ res) => {
    const isSettled = req.destroyed
    let text = ''
    const answer = () => res.end(`${isSettled} ${text}`)
    if (isSettled) answer()
    else req.setEncoding('utf8').on('data', (/** @type {string} */ piece) => { text += piece }).on('end', answer)
  }, /** @type {any} */ ({ optimizeEmptyRequests: true }))
  const isKnown = '_dumpAndCloseReadable' in http.IncomingMessage.prototype
  assert.equal((await request(client, {})).text, `${isKnown} `)
  assert.equal((await request(client, { ':method': 'POST' }, { body: Buffer.from('some') })).text, 'false some')
  assert.equal((await request(client, { ':method': 'POST', 'content-length': 4 }, { body: Buffer.from('some') })).text, 'false some')
})

test('a body arrives in pieces or at once, with and without a length', options, async (t) => {
  const { client } = await serve(t, async (/** @type {any} */ req, /** @type {any} */ res) => {
    const chunks = []
    for await (const chunk of req) chunks.push(chunk)
    const body = Buffer.concat(chunks)
    res.setHeader('x-length', String(req.headers['content-length']))
    res.setHeader('x-coding', String(req.headers['transfer-encoding']))
    res.end(body)
  })
  const large = Buffer.alloc(3_000_000, 'abcdefghij')
  for (const body of [Buffer.from('small'), large]) {
    const counted = await request(client, { ':method': 'POST', 'content-length': body.length }, { body })
    assert.ok(counted.body.equals(body))
    assert.deepEqual([counted.headers['x-length'], counted.headers['x-coding']], [String(body.length), 'undefined'])
    const open = await request(client, { ':method': 'POST' }, { body })
    assert.ok(open.body.equals(body))
    assert.deepEqual([open.headers['x-length'], open.headers['x-coding']], ['undefined', 'chunked'])
  }
})

test('whether a request has a body is told by its head, however its frames were cut', options, async (t) => {
  const { port } = await serve(t, (/** @type {any} */ req, /** @type {any} */ res) => {
    req.resume().on('end', () => res.end(String(req.headers['transfer-encoding'])))
  })
  const wire = await Frames.connect(t, port)
  const head = (/** @type {number} */ id, flags = 0) => frame(kType.headers, kEndHeaders | flags, id, block(fieldsOf({ ':method': 'POST' })))
  const end = (/** @type {number} */ id) => frame(kType.data, kEndStream, id)
  const answer = async () => (await wire.next((/** @type {any} */ each) => each.type === kType.data && each.payload.length > 0)).payload.toString()
  wire.send([head(1), end(1)])
  assert.equal(await answer(), 'chunked')
  wire.send(head(3))
  wire.send(frame(kType.ping, 0, 0, Buffer.alloc(8)))
  await wire.next((/** @type {any} */ each) => each.type === kType.ping)
  wire.send(end(3))
  assert.equal(await answer(), 'chunked')
  wire.send(head(5, kEndStream))
  assert.equal(await answer(), 'undefined')
})

test('trailers go both ways', options, async (t) => {
  const { client } = await serve(t, (/** @type {any} */ req, /** @type {any} */ res) => {
    req.resume().on('end', () => {
      res.setHeader('Trailer', 'X-Sum')
      res.write('body')
      res.addTrailers({ 'X-Sum': req.trailers['x-in'] })
      res.end()
    })
  })
  const { text, trailers } = await request(client, { ':method': 'POST' }, { body: 'b', trailers: { 'x-in': 'seven' } })
  assert.equal(text, 'body')
  assert.equal(trailers['x-sum'], 'seven')
  const alone = await request(client, { ':method': 'POST' }, { trailers: { 'x-in': 'eight' } })
  assert.equal(alone.trailers['x-sum'], 'eight')
})

test('heads without a body: HEAD, 204 and 304', options, async (t) => {
  const { client } = await serve(t, (/** @type {any} */ req, /** @type {any} */ res) => {
    if (req.url === '/204') return res.writeHead(204).end()
    if (req.url === '/304') return res.writeHead(304, { etag: '"x"' }).end()
    if (req.url === '/long') {
      res.writeHead(200, { 'content-length': 5 })
      res.write('hello')
      return setImmediate(() => res.end())
    }
    res.writeHead(200, { 'content-length': 5 }).end('hello')
  })
  const head = await request(client, { ':method': 'HEAD', ':path': '/' })
  assert.deepEqual([head.status, head.headers['content-length'], head.text], [200, '5', ''])
  const long = await request(client, { ':method': 'HEAD', ':path': '/long' })
  assert.deepEqual([long.status, long.headers['content-length'], long.text], [200, '5', ''])
  assert.equal((await request(client, { ':path': '/204' })).status, 204)
  const unchanged = await request(client, { ':path': '/304' })
  assert.deepEqual([unchanged.status, unchanged.headers.etag], [304, '"x"'])
})

test('informational answers come before the final one', options, async (t) => {
  const { client } = await serve(t, (/** @type {any} */ req, /** @type {any} */ res) => {
    res.writeEarlyHints({ link: '</style.css>; rel=preload' })
    res.writeProcessing()
    req.resume().on('end', () => res.end('done'))
  })
  const { informational, text } = await request(client, { ':method': 'POST', expect: '100-continue' }, { body: 'x' })
  assert.deepEqual(informational.map((info) => info[':status']), [100, 103, 102].filter((status) => informational.some((info) => info[':status'] === status)))
  assert.ok(informational.some((info) => info[':status'] === 103 && info.link === '</style.css>; rel=preload'))
  assert.ok(informational.some((info) => info[':status'] === 102))
  assert.equal(text, 'done')
})

test('fields about the connection stay behind, and those that it names', options, async (t) => {
  const { client } = await serve(t, (/** @type {any} */ _req, /** @type {any} */ res) => {
    res.writeHead(200, {
      Connection: 'keep-alive, X-Hop', 'X-Hop': '1', 'Keep-Alive': 'timeout=9', 'Proxy-Connection': 'x', Upgrade: 'h2c', 'X-End': 'e', 'Set-Cookie': ['a=1', 'b=2']
    })
    res.end('x')
  })
  const { headers } = await request(client, { ':path': '/' })
  const names = Object.keys(headers).filter((name) => name !== 'date').sort()
  assert.deepEqual(names, [':status', 'set-cookie', 'x-end'])
  assert.deepEqual(headers['set-cookie'], ['a=1', 'b=2'])
  // The connection is none of that answer's business.
  assert.equal((await request(client, { ':path': '/' })).status, 200)
})

test('a body that is written in pieces leaves in pieces, each at once', options, async (t) => {
  /** @type {any} */
  let res
  const { client } = await serve(t, (/** @type {any} */ _req, /** @type {any} */ r) => {
    res = r
    res.writeHead(200, { 'content-type': 'text/event-stream' })
    res.flushHeaders()
  })
  const stream = client.request({ ':path': '/' })
  await once(stream, 'response')
  for (const piece of ['data: 1\n\n', 'data: 2\n\n']) {
    res.write(piece)
    const [chunk] = await once(stream, 'data')
    assert.equal(chunk.toString(), piece)
  }
  res.end()
  await once(stream, 'end')
})

test('large answers reach slow readers whole, and write() waits for them', options, async (t) => {
  const piece = Buffer.alloc(100_000, 'x')
  let waited = 0
  const { client } = await serve(t, async (/** @type {any} */ _req, /** @type {any} */ res) => {
    for (let i = 0; i < 40; i++) {
      if (res.write(piece)) continue
      waited++
      await once(res, 'drain')
    }
    res.end('end')
  })
  const stream = client.request({ ':path': '/' })
  let bytes = 0
  for await (const chunk of stream) {
    bytes += chunk.length
    if (bytes % 7 === 0) await new Promise(setImmediate)
  }
  assert.equal(bytes, 4_000_003)
  assert.ok(waited > 5, `waited ${waited} times`)
})

test('a paused request stops its sender, and no other stream', options, async (t) => {
  /** @type {any} */
  let paused
  const { client } = await serve(t, (/** @type {any} */ req, /** @type {any} */ res) => {
    if (req.url === '/paused') {
      paused = { req, res }
      return
    }
    res.end('other')
  })
  const upload = client.request({ ':method': 'POST', ':path': '/paused' })
  let sent = 0
  const more = () => {
    while (sent < 8_000_000 && upload.write(Buffer.alloc(64 * 1024))) sent += 64 * 1024
  }
  upload.on('drain', more)
  more()
  for (let i = 0; i < 20; i++) assert.equal((await request(client, { ':path': '/' })).text, 'other')
  const { req, res } = paused
  assert.ok(sent < 2_000_000, `${sent} bytes were taken from a sender that nobody listens to`)
  let got = 0
  req.on('data', (/** @type {Buffer} */ chunk) => { got += chunk.length })
  req.on('end', () => res.end(String(got)))
  await once(upload, 'drain')
  upload.removeListener('drain', more)
  upload.end()
  const [chunk] = await once(upload, 'data')
  assert.ok(Number(chunk.toString()) >= sent)
})

test('HTTP/1.1 is served on the same port', options, async (t) => {
  const { port } = await serve(t, (/** @type {any} */ req, /** @type {any} */ res) => res.end(req.httpVersion))
  const answer = await fetch(`http://127.0.0.1:${port}/`)
  assert.equal(await answer.text(), '1.1')
})

test('an error of the application is one of its stream alone', options, async (t) => {
  const { client } = await serve(t, (/** @type {any} */ req, /** @type {any} */ res) => {
    if (req.url === '/short') {
      res.writeHead(200, { 'content-length': 10 })
      return res.end('five')
    }
    if (req.url === '/destroy') return req.socket.destroy()
    if (req.url === '/late') {
      res.write('a')
      return setImmediate(() => res.destroy())
    }
    res.end('ok')
  })
  await assert.rejects(request(client, { ':path': '/short' }), { code: 'ERR_HTTP2_STREAM_ERROR' })
  await assert.rejects(request(client, { ':path': '/late' }))
  assert.equal((await request(client, { ':path': '/destroy' })).status, undefined)
  assert.equal((await request(client, { ':path': '/' })).text, 'ok')
})

test('requests whose bodies are yet to come reach the application in the order in which the client has sent them', options, async (t) => {
  /** @type {string[]} */
  const order = []
  const { port } = await serve(t, (/** @type {any} */ req, /** @type {any} */ res) => {
    order.push(req.url)
    res.end('ok')
  })
  const wire = await Frames.connect(t, port)
  const kStreams = [1, 3, 5, 7]
  wire.send(kStreams.map((id) => frame(kType.headers, kEndHeaders, id, block(fieldsOf({ ':method': 'POST', ':path': `/${id}` })))))
  await wire.next(({ type, stream }) => type === kType.headers && stream === 7)
  assert.deepEqual(order, ['/1', '/3', '/5', '/7'])
})

// One byte of a compressed section can be a field, and 65,535 are what the record of a request counts.
for (const [count, status] of [[65_000, '200'], [65_536, '431'], [70_000, '431']]) {
  test(`a request with ${count} field lines is answered with ${status}`, options, async (t) => {
    const { port } = await serve(t, (/** @type {any} */ req, /** @type {any} */ res) => {
      assert.equal(req.url, '/')
      assert.deepEqual(req.rawHeaders.slice(0, 4), ['host', 'a', 'x', ''])
      res.end('ok')
    }, { maxHeaderSize: 4 * 1024 * 1024 })
    const wire = await Frames.connect(t, port)
    // The first line adds itself to the table of the compression, the others name it.
    const section = Buffer.concat([block(fieldsOf({})), Buffer.from([0x40, 1, 0x78, 0]), Buffer.alloc(Number(count) - 1, 0xbe)])
    const pieces = []
    for (let at = 0; at < section.length; at += 16_384) pieces.push(section.subarray(at, at + 16_384))
    wire.send(pieces.map((piece, i) => {
      const flags = (i === 0 ? kEndStream : 0) | (i === pieces.length - 1 ? kEndHeaders : 0)
      return frame(i === 0 ? kType.headers : kType.continuation, flags, 1, piece)
    }))
    const { payload } = await wire.next(({ type }) => type === kType.headers)
    // The compression has a number for the field that says 200.
    assert.equal(payload[0] === 0x88 ? '200' : /\d{3}/.exec(payload.toString('latin1'))?.[0], status)
  })
}
