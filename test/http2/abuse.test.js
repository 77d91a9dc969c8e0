'use strict'

// Goal: a peer that abuses HTTP/2 costs little, and is told why it is cut off. Method: frames by hand.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const { once } = require('node:events')
const { setTimeout: sleep } = require('node:timers/promises')
const { Frames, block, fieldsOf, frame, kEndHeaders, kEndStream, kType, literal } = require('./frames')
const { request, serve } = require('./kit')
const { backend } = require('../helpers/backend')

const options = { skip: backend === 'node' && 'HTTP/2 without TLS on a server of node:http is ours' }
const kProtocolError = 1
const kFlowControlError = 3
const kStreamClosed = 5
const kFrameSizeError = 6
const kCancel = 8
const kCompressionError = 9
const kEnhanceYourCalm = 11
// No answer for so long: the server has stopped reading. It waits longer for a client that it has told to go (kLingerMs).
const kStalledMs = 300
const kHeaderTableSize = 4096

/** @param {any} _req @param {any} res */
const answer = (_req, res) => res.end('ok')

/** @param {number} code */
const word = (code) => Buffer.from([0, 0, 0, code])

test('streams that are opened and reset at once end the connection, not the server', options, async (t) => {
  let requests = 0
  const { server, client, port } = await serve(t, (/** @type {any} */ _req, /** @type {any} */ res) => {
    requests++
    res.end()
  })
  // Requests that were reset stay in the queue, which takes 1,000, until JavaScript has passed them. It hears behind them that
  // their connection was closed.
  const passed = new Promise((resolve) => {
    server.on('connection', (/** @type {import('node:net').Socket} */ socket) => {
      const { remotePort } = socket
      socket.on('close', () => { if (remotePort === wirePort) resolve(null) })
    })
  })
  const wire = await Frames.connect(t, port)
  const wirePort = wire.socket.localPort
  const head = block(fieldsOf({}))
  const frames = []
  for (let id = 1; id < 3000; id += 2) frames.push(frame(kType.headers, kEndStream | kEndHeaders, id, head), frame(kType.reset, 0, id, word(kCancel)))
  wire.send(frames)
  assert.equal(await wire.goaway(), kEnhanceYourCalm)
  await wire.closed
  await passed
  assert.equal((await request(client, {})).status, 200)
  assert.ok(requests <= 1002, `${requests} requests`)
})

const kFloods = {
  SETTINGS: () => frame(kType.settings, 0, 0),
  PING: () => frame(kType.ping, 0, 0, Buffer.alloc(8)),
  PRIORITY: () => frame(kType.priority, 0, 1, Buffer.from([0, 0, 0, 3, 1])),
  'empty DATA': () => frame(kType.data, 0, 1)
}

for (const [name, make] of Object.entries(kFloods)) {
  test(`a flood of ${name} ends the connection`, options, async (t) => {
    const { client, port } = await serve(t, (/** @type {any} */ req, /** @type {any} */ res) => { if (req.method === 'GET') res.end('ok') })
    const wire = await Frames.connect(t, port)
    wire.request(1, { ':method': 'POST' }, kEndHeaders)
    for (let i = 0; i < 12; i++) wire.send(Array.from({ length: 100 }, make))
    assert.equal(await wire.goaway(), kEnhanceYourCalm)
    await wire.closed
    assert.equal((await request(client, {})).status, 200)
  })
}

test('a field section in endless CONTINUATION frames ends the connection', options, async (t) => {
  const { port } = await serve(t, answer)
  const wire = await Frames.connect(t, port)
  wire.send(frame(kType.headers, 0, 1, block(fieldsOf({}))))
  for (let i = 0; i < 20; i++) wire.send(frame(kType.continuation, 0, 1))
  assert.equal(await wire.goaway(), kEnhanceYourCalm)
  await wire.closed
})

test('fields beyond maxHeaderSize are answered with 431, a compression bomb ends the connection', options, async (t) => {
  const { client, port } = await serve(t, answer)
  // Node's client keeps to SETTINGS_MAX_HEADER_LIST_SIZE.
  const wire = await Frames.connect(t, port)
  wire.send(frame(kType.headers, kEndStream | kEndHeaders, 1, block([...fieldsOf({}), ['x-large', 'x'.repeat(10_000)], ['x-more', 'x'.repeat(6_000)]])))
  const { payload } = await wire.next((/** @type {any} */ frame) => frame.type === kType.headers)
  assert.ok(payload.toString('latin1').includes('431') || payload.length > 0)
  // One field of the table's size, and thousands of references to it of one byte each.
  const value = Buffer.alloc(kHeaderTableSize - 32 - 1 - 100, 'v')
  const indexed = Buffer.concat([Buffer.from([0x40, 1]), Buffer.from('b'), Buffer.from([127, (value.length - 127) % 128 | 128, (value.length - 127) >> 7]), value])
  wire.send(frame(kType.headers, kEndStream | kEndHeaders, 3, Buffer.concat([block(fieldsOf({})), indexed, Buffer.alloc(10_000, 0x80 | 62)])))
  assert.equal(await wire.goaway(), kEnhanceYourCalm)
  await wire.closed
  assert.equal((await request(client, {})).status, 200)
})

// An entry of the dynamic table, and how it is named when it is the last one that was made.
const indexed = (/** @type {string} */ name, /** @type {Buffer | string} */ value) =>
  Buffer.concat([Buffer.from([0x40]), literal(name), literal(value)])
const kNewest = 0x80 | 62
// Changes of the table's size (RFC 7541, section 6.3).
const kTableOf0 = Buffer.from([0x20])
const kTableOf4096 = Buffer.from([0x3f, 0xe1, 0x1f])
const kTableOf4097 = Buffer.from([0x3f, 0xe2, 0x1f])

test('a section of thousands of invalid fields costs one reset, and others are served', options, async (t) => {
  const seen = /** @type {string[]} */ ([])
  const { port } = await serve(t, (/** @type {any} */ req, /** @type {any} */ res) => {
    seen.push(req.url)
    res.end('ok')
  })
  const wire = await Frames.connect(t, port)
  wire.send(frame(kType.headers, kEndStream | kEndHeaders, 1, Buffer.concat([block(fieldsOf({})), indexed('x', '\x01'), Buffer.alloc(10_000, kNewest)])))
  wire.request(3, { ':path': '/good' })
  assert.equal(await wire.reset(1), kProtocolError)
  const next = await wire.next((/** @type {any} */ frame) => frame.type === kType.reset || frame.type === kType.headers)
  assert.deepEqual([next?.type, next?.stream], [kType.headers, 3])
  assert.deepEqual(seen, ['/good'])
})

test('a compression bomb behind an invalid field ends the connection', options, async (t) => {
  const { client, port } = await serve(t, answer)
  const wire = await Frames.connect(t, port)
  const bomb = [block([...fieldsOf({}), ['x', '\x01']]), indexed('b', Buffer.alloc(3900, 'v')), Buffer.alloc(10_000, kNewest)]
  wire.send(frame(kType.headers, kEndStream | kEndHeaders, 1, Buffer.concat(bomb)))
  assert.equal(await wire.goaway(), kEnhanceYourCalm)
  await wire.closed
  assert.equal((await request(client, {})).status, 200)
})

test('more fields than SETTINGS_MAX_HEADER_LIST_SIZE allows never reach the application', options, async (t) => {
  const { port } = await serve(t, () => assert.fail('it did'))
  const wire = await Frames.connect(t, port)
  // A byte each, in the section; an array's entry and more each, in JavaScript.
  wire.send(frame(kType.headers, kEndStream | kEndHeaders, 1, Buffer.concat([block(fieldsOf({})), indexed('b', ''), Buffer.alloc(10_000, kNewest)])))
  const { payload } = await wire.next((/** @type {any} */ frame) => frame.type === kType.headers)
  assert.ok(payload.includes('431'), payload.toString('latin1'))
})

test('tables that change their size in every section are followed', options, async (t) => {
  const { port } = await serve(t, answer)
  const wire = await Frames.connect(t, port)
  for (let id = 1; id < 40; id += 2) {
    const changes = Array.from({ length: 2000 }, () => Buffer.concat([kTableOf0, kTableOf4096]))
    wire.send(frame(kType.headers, kEndStream | kEndHeaders, id, Buffer.concat([...changes, block(fieldsOf({})), indexed('x-a', 'b')])))
    assert.ok(await wire.next((/** @type {any} */ frame) => frame.type === kType.headers && frame.stream === id))
  }
  // One that is larger than was agreed is an error.
  wire.send(frame(kType.headers, kEndStream | kEndHeaders, 41, Buffer.concat([kTableOf4097, block(fieldsOf({}))])))
  assert.equal(await wire.goaway(), kCompressionError)
})

test('the table of what is sent does not grow with what the client allows', options, async (t) => {
  const { port } = await serve(t, (/** @type {any} */ req, /** @type {any} */ res) => {
    res.setHeader('x-value', req.url)
    res.end()
  })
  const wire = await Frames.connect(t, port, Buffer.from([0, 1, 0xff, 0xff, 0xff, 0xff]))
  const nextBlock = async (/** @type {number} */ id) => {
    wire.request(id, { ':path': `/${id}` })
    const { payload } = await wire.next((/** @type {any} */ frame) => frame.type === kType.headers && frame.stream === id)
    return payload
  }
  assert.deepEqual((await nextBlock(1)).subarray(0, 3), kTableOf4096)
  wire.send(frame(kType.settings, 0, 0, Buffer.from([0, 1, 0, 0, 0, 0])))
  const first = await nextBlock(3)
  assert.deepEqual(first.subarray(0, 1), kTableOf0)
  wire.send(frame(kType.settings, 0, 0, Buffer.from([0, 1, 0xff, 0xff, 0xff, 0xff])))
  const second = await nextBlock(5)
  assert.deepEqual(second.subarray(0, 3), kTableOf4096)
})

test('streams that the client makes the server reset end the connection', options, async (t) => {
  const { client, port } = await serve(t, () => {})
  const wire = await Frames.connect(t, port)
  const head = block(fieldsOf({ ':path': '/hold' }))
  // A window that overflows is the stream's error, not the connection's.
  for (let id = 1; id < 400; id += 2) {
    wire.send([frame(kType.headers, kEndStream | kEndHeaders, id, head), frame(kType.windowUpdate, 0, id, Buffer.from([0x7f, 0xff, 0xff, 0xff]))])
  }
  assert.equal(await wire.goaway(), kEnhanceYourCalm)
  await wire.closed
  assert.equal(client.destroyed, false)
})

test('a reader that opens no window gets its stream back after stallTimeout', options, async (t) => {
  /** @type {any} */
  let res
  const { port, server } = await serve(t, (/** @type {any} */ _req, /** @type {any} */ r) => {
    res = r
    res.end(Buffer.alloc(200_000))
  }, { http2: { stallTimeout: 60 } })
  const closed = Buffer.from([0, 4, 0, 0, 0, 0])
  const wire = await Frames.connect(t, port, closed)
  wire.request(1, {})
  await once(server, 'request')
  assert.equal(await wire.reset(1), kCancel)
  await new Promise((resolve) => res.destroyed ? resolve(undefined) : res.on('close', resolve))
})

test('a reader that opens a byte of window now and then keeps its stream until it stops', options, async (t) => {
  const stallTimeout = 1500
  const { port } = await serve(t, (/** @type {any} */ _req, /** @type {any} */ res) => { res.end(Buffer.alloc(200_000)) }, { http2: { stallTimeout } })
  const wire = await Frames.connect(t, port, Buffer.from([0, 4, 0, 0, 0, 0]))
  wire.request(1, {})
  const until = performance.now() + 2 * stallTimeout
  while (performance.now() < until) {
    await sleep(stallTimeout / 15)
    wire.send(frame(kType.windowUpdate, 0, 1, Buffer.from([0, 0, 0, 1])))
    const { type, payload } = await wire.next((/** @type {any} */ { type, stream }) => (type === kType.data || type === kType.reset) && stream === 1)
    assert.deepEqual([type, payload.length], [kType.data, 1])
  }
  assert.equal(await wire.reset(1), kCancel)
})

/** @type {Record<string, [string, string][]>} */
const kMalformed = {
  'a line end in a value': [['x-a', 'b\r\nx-injected: 1']],
  'a NUL in a value': [['x-a', 'b\0c']],
  'a line end in a name': [['x-a\r\nx-b', 'c']],
  'a colon in a name': [['x:a', 'b']],
  'an empty name': [['', 'b']],
  'a name in upper case': [['X-A', 'b']],
  Connection: [['connection', 'keep-alive']],
  'Keep-Alive': [['keep-alive', 'timeout=5']],
  'Proxy-Connection': [['proxy-connection', 'close']],
  'Transfer-Encoding': [['transfer-encoding', 'chunked']],
  Upgrade: [['upgrade', 'websocket']],
  'TE that is not trailers': [['te', 'gzip']],
  'another Host than :authority': [['host', 'somebody-else']],
  'two lengths': [['content-length', '0'], ['content-length', '1']],
  'a length that is no number': [['content-length', '+1']],
  'an unknown pseudo field': [[':x', 'y']],
  'a pseudo field behind a field': [['x-a', 'b'], [':path', '/again']],
  'white space around a value': [['x-a', ' b']]
}

for (const [what, fields] of Object.entries(kMalformed)) {
  test(`a request with ${what} never reaches the application`, options, async (t) => {
    const seen = /** @type {string[]} */ ([])
    const { port } = await serve(t, (/** @type {any} */ req, /** @type {any} */ res) => {
      seen.push(req.url)
      res.end('ok')
    })
    const wire = await Frames.connect(t, port)
    wire.send(frame(kType.headers, kEndStream | kEndHeaders, 1, block([...fieldsOf({ ':path': '/bad' }), ...fields])))
    wire.request(3, { ':path': '/good' })
    const code = await wire.reset(1)
    assert.equal(code, kProtocolError)
    await wire.next((/** @type {any} */ frame) => frame.type === kType.headers && frame.stream === 3)
    assert.deepEqual(seen, ['/good'])
  })
}

for (const [what, target] of Object.entries({ 'a space': '/a b', 'a line end': '/a\r\nx: y', 'no slash': 'a', nothing: '', 'a byte above ASCII': '/\xe4' })) {
  test(`a target with ${what} never reaches the application`, options, async (t) => {
    const { port } = await serve(t, () => assert.fail('it did'))
    const wire = await Frames.connect(t, port)
    wire.request(1, { ':path': target })
    assert.equal(await wire.reset(1), kProtocolError)
  })
}

test('bodies that are longer or shorter than their length reset the stream, and the application hears of it', options, async (t) => {
  const ends = /** @type {string[]} */ ([])
  const { port, server } = await serve(t, (/** @type {any} */ req) => {
    req.resume().on('error', () => {}).on('close', () => {
      ends.push(req.complete ? 'complete' : 'cut')
      server.emit('told')
    })
  })
  const wire = await Frames.connect(t, port)
  for (const [id, body] of /** @type {[number, string][]} */ ([[1, 'four'], [3, 'sixsix']])) {
    wire.request(id, { ':method': 'POST', 'content-length': '5' }, kEndHeaders)
    await once(server, 'request')
    const told = once(server, 'told')
    wire.send(frame(kType.data, kEndStream, id, body))
    assert.equal(await wire.reset(id), kProtocolError)
    await told
  }
  assert.deepEqual(ends, ['cut', 'cut'])
})

test('frames for a stream that has ended end the connection', options, async (t) => {
  const { port } = await serve(t, answer)
  const wire = await Frames.connect(t, port)
  wire.request(1, {})
  await wire.next((/** @type {any} */ frame) => frame.type === kType.data && frame.flags === kEndStream)
  wire.send(frame(kType.data, 0, 1, 'more'))
  assert.equal(await wire.goaway(), kStreamClosed)
  await wire.closed
})

test('more streams than were agreed end the connection', options, async (t) => {
  const { port } = await serve(t, () => {}, { http2: { maxConcurrentStreams: 3 } })
  const wire = await Frames.connect(t, port)
  for (const id of [1, 3, 5, 7]) wire.request(id, {})
  assert.equal(await wire.goaway(), kProtocolError)
})

test('a connection that sends no request, or no whole one, is closed after headersTimeout', options, async (t) => {
  const { port } = await serve(t, answer, { headersTimeout: 50, requestTimeout: 50, connectionsCheckingInterval: 20 })
  const silent = await Frames.connect(t, port)
  await silent.closed
  const slow = await Frames.connect(t, port)
  slow.send(frame(kType.headers, kEndStream, 1, block(fieldsOf({}))))
  await slow.closed
})

test('a body that does not end is refused after requestTimeout', options, async (t) => {
  const { port } = await serve(t, () => {}, { headersTimeout: 1000, requestTimeout: 1000, connectionsCheckingInterval: 20 })
  const wire = await Frames.connect(t, port)
  wire.request(1, { ':method': 'POST' }, kEndHeaders)
  const head = await wire.next((/** @type {any} */ frame) => frame.type === kType.headers)
  assert.ok(head !== null)
  assert.equal(await wire.reset(1), 0)
})

test('a client that does not read the acknowledgements it asks for is cut off', options, async (t) => {
  const { client, port } = await serve(t, answer)
  const wire = await Frames.connect(t, port)
  wire.socket.pause()
  const pings = Buffer.concat(Array.from({ length: 900 }, () => frame(kType.ping, 0, 0, Buffer.alloc(8))))
  // At most 100 a second are paid for beside the first 1000, read or not.
  wire.send([pings, pings])
  wire.socket.resume()
  assert.equal(await wire.goaway(), kEnhanceYourCalm)
  await wire.closed
  assert.equal((await request(client, {})).status, 200)
})

test('malformed requests without end cost the connection', options, async (t) => {
  const { client, port } = await serve(t, answer)
  const wire = await Frames.connect(t, port)
  const bad = block([...fieldsOf({}), ['connection', 'close']])
  // No more at a time than there may be streams.
  for (let id = 1; id < 180; id += 2) {
    wire.send(frame(kType.headers, kEndStream | kEndHeaders, id, bad))
    if (id % 30 === 29) assert.equal(await wire.reset(id), kProtocolError)
  }
  wire.send(Array.from({ length: 50 }, (_, i) => frame(kType.headers, kEndStream | kEndHeaders, 181 + 2 * i, bad)))
  assert.equal(await wire.goaway(), kEnhanceYourCalm)
  await wire.closed
  assert.equal((await request(client, {})).status, 200)
})

test('a frame that is longer than was agreed ends the connection', options, async (t) => {
  const { port } = await serve(t, answer)
  const wire = await Frames.connect(t, port)
  wire.request(1, { ':method': 'POST' }, kEndHeaders)
  wire.send(frame(kType.data, 0, 1, Buffer.alloc(16 * 1024 + 1)))
  assert.equal(await wire.goaway(), kFrameSizeError)
  await wire.closed
})

test('windows that grow beyond what there is, and windows of nothing, are errors', options, async (t) => {
  const { port } = await serve(t, answer)
  const wide = await Frames.connect(t, port)
  wide.send(frame(kType.windowUpdate, 0, 0, Buffer.from([0x7f, 0xff, 0xff, 0xff])))
  assert.equal(await wide.goaway(), kFlowControlError)
  await wide.closed
  const none = await Frames.connect(t, port)
  none.send(frame(kType.windowUpdate, 0, 0, Buffer.alloc(4)))
  assert.equal(await none.goaway(), kProtocolError)
  await none.closed
})

/**
 * A client that has asked for more than its socket takes, and reads nothing of it.
 *
 * @param {import('node:test').TestContext} t
 * @param {(req: any, res: any) => void} handler of further requests
 */
async function unread (t, handler) {
  const body = Buffer.alloc(32 * 1024 * 1024)
  const { client, port, server } = await serve(t, (/** @type {any} */ req, /** @type {any} */ res) => {
    if (req.url === '/large') res.end(body)
    else handler(req, res)
  })
  const connected = once(server, 'connection')
  const wire = await Frames.connect(t, port, Buffer.from([0, 4, 0x7f, 0xff, 0xff, 0xff]))
  const [connection] = await connected
  wire.socket.removeAllListeners('data')
  wire.socket.pause()
  wire.closed.catch(() => {}) // It is reset.
  wire.send([frame(kType.windowUpdate, 0, 0, Buffer.from([0x7f, 0xff, 0, 0])), frame(kType.headers, kEndStream | kEndHeaders, 1, block(fieldsOf({ ':path': '/large' })))])
  await once(server, 'request')
  return { client, wire, closed: once(connection, 'close') }
}

test('a client that reads nothing and floods is cut off though it does not read why', { ...options, timeout: 60_000 }, async (t) => {
  const { client, wire, closed } = await unread(t, answer)
  wire.send(Array.from({ length: 1800 }, () => frame(kType.ping, 0, 0, Buffer.alloc(8))))
  await closed
  assert.equal((await request(client, {})).status, 200)
})

test('heads of streams that their client resets do not gather while it reads nothing', { ...options, timeout: 60_000 }, async (t) => {
  const seen = { answers: 0, isClosed: false }
  const { client, wire, closed } = await unread(t, (_req, res) => {
    seen.answers++
    res.setHeader('x-large', 'x'.repeat(8 * 1024))
    res.end()
  })
  const head = block(fieldsOf({ ':path': '/head' }))
  closed.then(() => { seen.isClosed = true })
  // Fewer than may be reset.
  for (let id = 3; id < 1900 && !seen.isClosed; id += 2) {
    const before = seen.answers
    wire.send(frame(kType.headers, kEndStream | kEndHeaders, id, head))
    while (seen.answers === before && !seen.isClosed) await new Promise(setImmediate)
    wire.send(frame(kType.reset, 0, id, word(kCancel)))
  }
  await closed
  assert.ok(seen.answers < 500, `${seen.answers} answers`)
  assert.equal((await request(client, {})).status, 200)
})

test('a client whose unread answers have become too many is told why if it reads in time', { ...options, timeout: 60_000 }, async (t) => {
  const seen = { answers: 0 }
  const { client, port } = await serve(t, (/** @type {any} */ req, /** @type {any} */ res) => {
    if (req.url === '/') return res.end('served')
    seen.answers++
    res.setHeader('x-large', 'x'.repeat(32 * 1024))
    res.end()
  })
  const wire = await Frames.connect(t, port)
  const head = block(fieldsOf({ ':path': '/head' }))
  const cancel = word(kCancel)
  let code = null
  // Once more where the server was only slow to answer. Fewer than may be reset.
  for (let id = 1; code === null;) {
    wire.socket.pause()
    for (let isStalled = false; !isStalled; id += 2) {
      assert.ok(id < 1900, `${seen.answers} answers`)
      const before = seen.answers
      wire.send(frame(kType.headers, kEndStream | kEndHeaders, id, head))
      const since = performance.now()
      while (seen.answers === before && performance.now() - since < kStalledMs) await new Promise(setImmediate)
      isStalled = seen.answers === before
      wire.send(frame(kType.reset, 0, id, cancel))
    }
    wire.socket.resume()
    code = await Promise.race([wire.goaway(), sleep(kStalledMs, null)])
  }
  assert.equal(code, kEnhanceYourCalm)
  await wire.closed
  assert.equal((await request(client, {})).status, 200)
})
