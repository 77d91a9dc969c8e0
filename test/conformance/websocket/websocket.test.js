'use strict'

// Goal: the package "websocket" works unmodified: server, router and both of its clients.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const { once } = require('node:events')
const { client: WebSocketClient, router: WebSocketRouter, server: WebSocketServer, w3cwebsocket: W3CWebSocket } = require('websocket')
const { http } = require('../../helpers/backend')
const { request: askPlain } = require('../../helpers/client')
const { ask, atEnd, closing, open, refusal, serve } = require('./kit')

/** @param {import('node:test').TestContext} t @param {object} [config] */
async function start (t, config = {}) {
  const httpServer = http.createServer((req, res) => res.end('page'))
  const server = new WebSocketServer({ httpServer, autoAcceptConnections: false, keepalive: false, ...config })
  atEnd(t, () => server.shutDown())
  return { httpServer, server, port: await serve(t, httpServer) }
}

/** @param {any} connection */
function echo (connection) {
  connection.on('message', (/** @type {any} */ message) => {
    if (message.type === 'utf8') connection.sendUTF(message.utf8Data)
    else connection.sendBytes(message.binaryData)
  })
}

/** @param {number} port @param {string} [path] @param {string | null} [protocol] @returns {Promise<any>} */
function connect (port, path = '/', protocol = null, origin = 'http://there.test') {
  const client = new WebSocketClient()
  client.connect(`ws://127.0.0.1:${port}${path}`, protocol, origin)
  return new Promise((resolve, reject) => client.on('connect', resolve).on('connectFailed', reject))
}

test('accept() with a subprotocol, an origin and cookies; text and bytes come back', async (t) => {
  const { server, port } = await start(t)
  server.on('request', (/** @type {any} */ request) => {
    const { origin, requestedProtocols, remoteAddress, resourceURL } = request
    const connection = request.accept('echo', origin, [{ name: 'seen', value: 'yes', path: '/' }])
    connection.once('message', () => {
      connection.sendUTF(JSON.stringify([origin, requestedProtocols, remoteAddress, resourceURL.query.room]))
      echo(connection)
    })
  })
  const connection = await connect(port, '/chat?room=7', 'echo')
  connection.sendUTF('who am I?')
  const [{ utf8Data }] = await once(connection, 'message')
  assert.deepEqual(JSON.parse(utf8Data), ['http://there.test', ['echo'], '127.0.0.1', '7'])
  connection.sendBytes(Buffer.from([0, 255]))
  assert.deepEqual((await once(connection, 'message'))[0].binaryData, Buffer.from([0, 255]))
  // In fragments, above 16 KiB.
  const text = 'f'.repeat(100_000)
  connection.sendUTF(text)
  assert.equal((await once(connection, 'message'))[0].utf8Data, text)
  assert.equal((await askPlain(port)).body, 'page')
  connection.drop(1000, 'done')
})

test('reject() refuses with any status, reason and headers', async (t) => {
  const { server, port } = await start(t)
  server.on('request', (/** @type {any} */ request) => request.reject(Number(request.resource.slice(1)), 'because', { 'X-Retry': 'never' }))
  for (const code of [401, 403, 404, 503]) {
    const { status, headers } = await refusal(t, port, `/${code}`)
    assert.deepEqual([status, headers['x-retry'], headers['x-websocket-reject-reason']], [code, 'never', 'because'])
  }
})

test('without a request listener every handshake is refused with 404, autoAcceptConnections takes all', async (t) => {
  const none = await start(t)
  assert.equal((await refusal(t, none.port)).status, 404)
  const all = await start(t, { autoAcceptConnections: true })
  all.server.on('connect', echo)
  assert.equal(await ask(await open(t, all.port), 'in'), 'in')
})

test('a router splits by path and protocol', async (t) => {
  const { server, port } = await start(t)
  const router = new WebSocketRouter()
  router.attachServer(server)
  for (const [path, protocol] of [['/one', 'a'], ['/two', 'a'], ['/two', 'b']]) {
    router.mount(path, protocol, (/** @type {any} */ request) => {
      const connection = request.accept(request.origin)
      connection.on('message', () => connection.sendUTF(`${path} ${protocol}`))
    })
  }
  for (const [path, protocol] of [['/one', 'a'], ['/two', 'b'], ['/two', 'a']]) {
    const connection = await connect(port, path, protocol)
    connection.sendUTF('who are you?')
    assert.equal((await once(connection, 'message'))[0].utf8Data, `${path} ${protocol}`)
    connection.close()
  }
  await assert.rejects(connect(port, '/three', 'a'), /404/)
})

test('close codes and descriptions travel both ways, drop() does not wait', async (t) => {
  const { server, port } = await start(t)
  const ours = /** @type {any[]} */ ([])
  server.on('request', (/** @type {any} */ request) => {
    const connection = request.accept(null, request.origin)
    connection.on('message', (/** @type {any} */ { utf8Data }) => utf8Data === 'drop' ? connection.drop(4002, 'dropped') : connection.close())
    connection.on('close', (/** @type {number} */ code, /** @type {string} */ text) => ours.push([code, text]))
  })
  const byClient = await connect(port)
  const closed = once(server, 'close')
  byClient.close(4001, 'bye')
  await closed
  assert.deepEqual(ours.at(-1), [4001, 'bye'])
  for (const [order, code, description] of /** @type {[string, number, string][]} */ ([['drop', 4002, 'dropped'], ['close', 1000, 'Normal connection closure']])) {
    const client = await open(t, port)
    const gone = closing(client)
    client.send(order)
    assert.deepEqual((await gone).map(String), [String(code), description])
  }
})

test('a frame or message over its limit closes with 1009', async (t) => {
  for (const limit of ['maxReceivedFrameSize', 'maxReceivedMessageSize']) {
    const { server, port } = await start(t, { autoAcceptConnections: true, [limit]: 1000 })
    const connection = once(server, 'connect')
    const client = await open(t, port)
    const [ours] = await connection
    ours.on('error', () => {})
    const closed = closing(client)
    client.on('error', () => {})
    client.send('x'.repeat(700), { fin: false })
    client.send('x'.repeat(limit === 'maxReceivedFrameSize' ? 1001 : 700))
    assert.equal((await closed)[0], 1009)
  }
})

test('keep-alive drops a client that answers no ping, and keeps one that does', async (t) => {
  const { server, port } = await start(t, { autoAcceptConnections: true, keepalive: true, keepaliveInterval: 40, keepaliveGracePeriod: 80 })
  const alive = await open(t, port)
  const silent = await open(t, port, '/', [], { autoPong: false })
  await closing(silent)
  assert.deepEqual([server.connections.length, alive.readyState], [1, alive.OPEN])
})

test('native keep-alive and Nagle are set on the socket without harm', async (t) => {
  const { server, port } = await start(t, { autoAcceptConnections: true, keepalive: true, useNativeKeepalive: true, disableNagleAlgorithm: false })
  server.on('connect', echo)
  assert.equal(await ask(await open(t, port), 'hello'), 'hello')
})

test('a slow reader makes the connection wait for drain', async (t) => {
  const { server, port } = await start(t, { autoAcceptConnections: true })
  const connection = once(server, 'connect')
  const client = await open(t, port)
  const [ours] = await connection
  client.pause()
  const piece = Buffer.alloc(64 * 1024)
  for (let i = 0; i < 1000 && !ours.outputBufferFull; i++) {
    ours.sendBytes(piece)
    await new Promise((resolve) => setImmediate(resolve))
  }
  assert.equal(ours.outputBufferFull, true)
  const drained = once(ours, 'drain')
  client.on('message', () => {})
  client.resume()
  await drained
  assert.equal(ours.outputBufferFull, false)
})

test('the browser-like client speaks with it', async (t) => {
  const { server, port } = await start(t)
  server.on('request', (/** @type {any} */ request) => echo(request.accept('v1', request.origin)))
  const client = new W3CWebSocket(`ws://127.0.0.1:${port}/`, 'v1')
  await new Promise((resolve) => { client.onopen = resolve })
  const answer = new Promise((resolve) => { client.onmessage = resolve })
  client.send('hello')
  assert.equal((await answer).data, 'hello')
  const closed = new Promise((resolve) => { client.onclose = resolve })
  client.close(4005, 'bye')
  assert.equal((await closed).code, 4005)
})

test('unmount() leaves the server to others, and open connections go on', async (t) => {
  const { httpServer, server, port } = await start(t, { autoAcceptConnections: true })
  server.on('connect', echo)
  const client = await open(t, port)
  server.unmount()
  assert.equal(httpServer.listenerCount('upgrade'), 0)
  assert.equal((await refusal(t, port)).status, 200)
  assert.equal(await ask(client, 'still here'), 'still here')
})
