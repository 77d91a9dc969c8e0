'use strict'

// Goal: WebSockets over HTTP/2 (RFC 8441) for servers that know those of HTTP/1.1.
// Method: extended CONNECT by Node's client, and ws' own framing on its stream.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const { once } = require('node:events')
const { EventEmitter } = require('node:events')
const http2 = require('node:http2')
const WebSocket = require('ws')
const { serve, request } = require('./kit')
const { backend } = require('../helpers/backend')

const options = { skip: backend === 'node' && 'HTTP/2 without TLS on a server of node:http is ours' }

/** ws' client on a stream that is connected already. */
class Socket extends EventEmitter {
  /** @param {http2.ClientHttp2Stream} stream */
  constructor (stream) {
    super()
    this.stream = stream
    // @ts-expect-error: not in its types
    this.receiver = new WebSocket.Receiver({ isServer: false, binaryType: 'nodebuffer' })
    // @ts-expect-error: likewise
    this.sender = new WebSocket.Sender(stream)
    this.receiver.on('message', (/** @type {Buffer} */ data, /** @type {boolean} */ isBinary) => this.emit('message', isBinary ? data : data.toString()))
    this.receiver.on('conclude', (/** @type {number} */ code) => this.emit('conclude', code))
    this.receiver.on('pong', () => this.emit('pong'))
    stream.on('data', (chunk) => this.receiver.write(chunk))
  }

  /** @param {any} data */
  send (data) {
    this.sender.send(data, { binary: typeof data !== 'string', mask: true, fin: true, compress: false })
  }
}

/** @param {http2.ClientHttp2Session} client @param {any} [headers] */
async function open (client, headers) {
  const stream = client.request({ ':method': 'CONNECT', ':protocol': 'websocket', ':path': '/chat', 'sec-websocket-version': '13', ...headers }, { endStream: false })
  stream.on('error', () => {})
  const [answer] = await once(stream, 'response')
  return { stream, answer, socket: answer[':status'] === 200 ? new Socket(stream) : /** @type {any} */ (null) }
}

/** @type {Record<string, () => any>} */
const kServers = {
  ws: () => WebSocket.WebSocketServer,
  '@httpsys/websocket': () => require('@httpsys/websocket').WebSocketServer
}

for (const [name, classOf] of Object.entries(kServers)) {
  test(`${name} serves a WebSocket on a stream`, options, async (t) => {
    const { client, server } = await serve(t, (/** @type {any} */ _req, /** @type {any} */ res) => res.end('http'))
    const wss = new (classOf())({ server, handleProtocols: () => 'chat' })
    /** @type {any} */
    let seen
    /** @type {(code: number) => void} */
    let gone
    const closed = new Promise((resolve) => { gone = resolve })
    wss.on('connection', (/** @type {any} */ ws, /** @type {any} */ req) => {
      seen = { method: req.method, url: req.url, upgrade: req.headers.upgrade, version: req.httpVersion }
      ws.on('message', (/** @type {Buffer} */ data, /** @type {boolean} */ isBinary) => ws.send(data, { binary: isBinary }))
      ws.on('close', gone)
    })
    assert.equal(/** @type {any} */ (client.remoteSettings).enableConnectProtocol, true)
    const { stream, answer, socket } = await open(client, { 'sec-websocket-protocol': 'chat' })
    assert.equal(answer[':status'], 200)
    assert.equal(answer['sec-websocket-protocol'], 'chat')
    for (const absent of ['sec-websocket-accept', 'upgrade', 'connection']) assert.equal(answer[absent], undefined)
    assert.deepEqual(seen, { method: 'GET', url: '/chat', upgrade: 'websocket', version: '2.0' })
    for (const message of ['hello', 'x'.repeat(300_000), Buffer.alloc(70_000, 1)]) {
      socket.send(message)
      const [echo] = await once(socket, 'message')
      assert.deepEqual(echo, message)
    }
    socket.sender.ping('p', true, () => {})
    await once(socket, 'pong')
    // Requests go on beside it.
    assert.equal((await request(client, { ':path': '/' })).text, 'http')
    socket.sender.close(1000, 'bye', true, () => {})
    assert.deepEqual(await once(socket, 'conclude'), [1000])
    stream.end()
    await once(stream, 'close')
    assert.equal(stream.rstCode, http2.constants.NGHTTP2_NO_ERROR)
    assert.equal(await closed, 1000)
  })

  test(`${name} refuses on a stream, and sees a client that goes`, options, async (t) => {
    const { client, server } = await serve(t, () => {})
    const wss = new (classOf())({ server, path: '/chat' })
    const refused = await open(client, { ':path': '/other' })
    assert.equal(refused.answer[':status'], 400)
    const closed = new Promise((resolve) => wss.on('connection', (/** @type {any} */ ws) => ws.on('close', resolve)))
    const { stream } = await open(client)
    stream.close(http2.constants.NGHTTP2_CANCEL)
    assert.equal(await closed, 1006)
  })

  test(`${name} terminates a WebSocket of a stream`, options, async (t) => {
    const { client, server } = await serve(t, () => {})
    const wss = new (classOf())({ server })
    wss.on('connection', (/** @type {any} */ ws) => setImmediate(() => ws.terminate()))
    const { stream } = await open(client)
    await once(stream, 'close')
    assert.equal(stream.rstCode, http2.constants.NGHTTP2_CANCEL)
    assert.equal(client.destroyed, false)
  })
}

test('a server that upgrades nothing answers, and never with what looks like success', options, async (t) => {
  const { client } = await serve(t, (/** @type {any} */ req, /** @type {any} */ res) => {
    if (req.url === '/no') res.writeHead(426)
    res.end('plain')
  })
  const { answer } = await open(client, { ':path': '/no' })
  assert.equal(answer[':status'], 426)
  const stream = client.request({ ':method': 'CONNECT', ':protocol': 'websocket', ':path': '/yes' }, { endStream: false })
  stream.on('error', () => {})
  await new Promise((resolve) => stream.on('close', () => resolve(undefined)))
  assert.equal(stream.rstCode, http2.constants.NGHTTP2_CONNECT_ERROR)
})

test('CONNECT is a tunnel', options, async (t) => {
  const { client, server } = await serve(t, () => {})
  server.on('connect', (/** @type {any} */ req, /** @type {any} */ socket) => {
    socket.write('HTTP/1.1 200 Connection Established\r\n\r\n')
    socket.write(req.url)
    socket.on('data', (/** @type {Buffer} */ chunk) => socket.write(chunk))
    socket.on('end', () => socket.end('end'))
  })
  const stream = client.request({ ':method': 'CONNECT', ':authority': 'there:80' })
  const [answer] = await once(stream, 'response')
  assert.equal(answer[':status'], 200)
  stream.end('bytes')
  let text = ''
  for await (const chunk of stream) text += chunk
  assert.equal(text, 'there:80bytesend')
})
