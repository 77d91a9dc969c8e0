'use strict'

// Goal: a WebSocket lets go of a socket that nobody uses, and only where it can make the same one again.

const assert = require('node:assert/strict')
const { once } = require('node:events')
const http2 = require('node:http2')
const { test } = require('node:test')
const { setImmediate: turn } = require('node:timers/promises')
const tls = require('node:tls')
const v8 = require('node:v8')
const vm = require('node:vm')
const { WebSocket } = require('ws')
const core = require('@httpsys/core-native')
const { WebSocketServer } = require('..')
const { certificate } = require('../../../test/helpers/certificates')
const { listen, stop } = require('../../../test/helpers/client')

const skip = core.backend === 'engine' ? false : 'stock Node has no I/O threads'

v8.setFlagsFromString('--expose-gc')
const collect = vm.runInNewContext('gc')

/** @param {import('node:test').TestContext} t @param {any} server @param {(socket: any) => void} [use] what a listener of 'connection' does with the socket */
async function start (t, server, use = () => {}) {
  const wss = new WebSocketServer({ server })
  t.after(() => {
    for (const client of wss.clients) client.terminate()
    return stop(server)
  })
  /** @type {Promise<{ socket: any, connection: WeakRef<any> }>} */
  const accepted = new Promise((resolve) => {
    wss.on('connection', (socket, request) => {
      use(request.socket)
      resolve({ socket, connection: new WeakRef(request.socket) })
    })
  })
  return { accepted, port: await listen(server) }
}

/** @param {WeakRef<any>} ref @returns {Promise<boolean>} whether the object is gone after some collections */
async function isCollected (ref) {
  for (let i = 0; i < 10 && ref.deref() !== undefined; i++) {
    await turn()
    collect()
  }
  return ref.deref() === undefined
}

/** @param {import('node:test').TestContext} t @param {number} port */
async function dial (t, port) {
  const client = new WebSocket(`ws://127.0.0.1:${port}`)
  t.after(() => client.terminate())
  await once(client, 'open')
  return /** @type {any} */ (client)
}

test('a socket that nobody uses is let go of, and made again when it is asked for', { skip }, async (t) => {
  const { accepted, port } = await start(t, core.createServer())
  const client = await dial(t, port)
  const { socket, connection } = await accepted
  assert.equal(await isCollected(connection), true)
  assert.equal(socket._socket.remoteAddress, '127.0.0.1')
  assert.equal(socket._socket.bytesWritten, client._socket.bytesRead)
  assert.equal(socket._socket.encrypted, undefined)
})

/** What listeners of 'connection' do with the socket, and what tells later that it is the same. @type {Record<string, (socket: any) => void>} */
const kUses = {
  'a field of the application': (socket) => { socket.ofTheApplication = 1 },
  "a listener for 'error'": (socket) => { socket.on('error', () => {}) },
  'setMaxListeners()': (socket) => { socket.setMaxListeners(77) },
  'unref()': (socket) => { socket.unref() }
}

for (const [name, use] of Object.entries(kUses)) {
  for (const when of ['before the handshake', "in 'connection'"]) {
    test(`a socket is kept after ${name} ${when}`, { skip }, async (t) => {
      const server = core.createServer()
      if (when === 'before the handshake') server.prependListener('upgrade', (request) => use(request.socket))
      const { accepted, port } = await start(t, server, when === 'before the handshake' ? () => {} : use)
      await dial(t, port)
      const { socket, connection } = await accepted
      assert.equal(await isCollected(connection), false)
      assert.equal(socket._socket, connection.deref())
    })
  }
}

test('a socket is kept after a listener was added later', { skip }, async (t) => {
  const { accepted, port } = await start(t, core.createServer())
  const client = await dial(t, port)
  const { connection } = await accepted
  const told = new Promise((resolve) => connection.deref().on('error', resolve))
  assert.equal(await isCollected(connection), false)
  client._socket.resetAndDestroy()
  assert.equal(/** @type {any} */ (await told).code, 'ECONNRESET')
})

test('a socket with TLS is kept', { skip }, async (t) => {
  const { accepted, port } = await start(t, /** @type {any} */ (core).https.createServer(certificate('localhost')))
  const client = new WebSocket(`wss://127.0.0.1:${port}`, { rejectUnauthorized: false })
  t.after(() => client.terminate())
  await once(client, 'open')
  const { socket, connection } = await accepted
  assert.equal(await isCollected(connection), false)
  assert.equal(socket._socket, connection.deref())
  assert.ok(socket._socket instanceof tls.TLSSocket)
})

test('the socket of an HTTP/2 stream is kept: its end does not count as that of a connection', { skip }, async (t) => {
  const server = core.createServer(/** @type {any} */ ({ http2: true }))
  const { accepted, port } = await start(t, server)
  const connections = () => new Promise((resolve, reject) => server.getConnections((error, count) => error ? reject(error) : resolve(count)))
  const client = http2.connect(`http://127.0.0.1:${port}`)
  t.after(() => client.destroy())
  await once(client, 'remoteSettings')
  const stream = client.request({ ':method': 'CONNECT', ':protocol': 'websocket', ':path': '/', 'sec-websocket-version': '13' })
  await once(stream, 'response')
  const { socket, connection } = await accepted
  assert.equal(await isCollected(connection), false)
  const closed = once(socket, 'close')
  stream.close()
  await closed
  assert.equal(await connections(), 1)
})
