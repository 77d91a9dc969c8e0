'use strict'

// Goal: engine.io works unmodified, attached by itself and by hand.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const { randomBytes } = require('node:crypto')
const engine = require('engine.io')
const { Socket } = require('engine.io-client')
const { http } = require('../../helpers/backend')
const { request } = require('../../helpers/client')
const { atEnd, dial, serve } = require('./kit')

/** @typedef {(server: any, options: object) => any} Attach */
/** @type {Record<string, Attach>} */
const kWays = {
  'attach(server)': (server, options) => engine.attach(server, options),
  'handleRequest() and handleUpgrade()': (server, options) => {
    const eio = new engine.Server(options)
    server.on('upgrade', (/** @type {any} */ req, /** @type {any} */ socket, /** @type {Buffer} */ head) => eio.handleUpgrade(req, socket, head))
    server.removeAllListeners('request')
    server.on('request', (/** @type {any} */ req, /** @type {any} */ res) => {
      if (req.url.startsWith('/engine.io/')) eio.handleRequest(req, res)
      else res.end('page')
    })
    return eio
  }
}

/** @param {import('node:test').TestContext} t @param {Attach} attach @param {object} [options] */
async function start (t, attach, options = {}) {
  const server = http.createServer((req, res) => res.end('page'))
  const eio = attach(server, options)
  atEnd(t, () => eio.close())
  eio.on('connection', (/** @type {any} */ socket) => socket.on('message', (/** @type {any} */ data) => socket.send(data)))
  return { eio, port: await serve(t, server) }
}

/** @param {import('node:test').TestContext} t @param {number} port @param {any} [options] @returns {any} */
function client (t, port, options = {}) {
  const socket = new Socket(`ws://127.0.0.1:${port}`, options)
  t.after(() => socket.close())
  return socket
}

/** @param {any} emitter @param {string} event @returns {Promise<any>} */
function next (emitter, event) {
  return new Promise((resolve) => emitter.once(event, resolve))
}

for (const [way, attach] of Object.entries(kWays)) {
  test(`${way}: text and bytes come back by each transport and after the upgrade`, async (t) => {
    const { port } = await start(t, attach)
    for (const transports of [['polling'], ['websocket'], ['polling', 'websocket']]) {
      const socket = client(t, port, { transports })
      await next(socket, 'open')
      if (transports.length === 2) await next(socket, 'upgrade')
      assert.equal(socket.transport.name, transports.at(-1))
      for (const text of ['tëxt', 'x'.repeat(300_000)]) {
        socket.send(text)
        assert.equal(await next(socket, 'message'), text)
      }
      const bytes = randomBytes(100_000)
      socket.send(bytes)
      assert.ok(bytes.equals(Buffer.from(await next(socket, 'message'))))
      socket.close()
    }
    assert.equal((await request(port)).body, 'page')
  })
}

test('messages in both directions during the upgrade keep their order', async (t) => {
  const { port } = await start(t, kWays['attach(server)'])
  const socket = client(t, port)
  await next(socket, 'open')
  const received = /** @type {number[]} */ ([])
  const done = new Promise((resolve) => socket.on('message', (/** @type {string} */ n) => {
    received.push(Number(n))
    if (received.length === 300) resolve(null)
  }))
  const upgraded = next(socket, 'upgrade')
  for (let i = 0; i < 300; i++) {
    socket.send(String(i))
    if (i % 10 === 0) await new Promise((resolve) => setImmediate(resolve))
  }
  await Promise.all([done, upgraded])
  assert.deepEqual(received, Array.from({ length: 300 }, (_, i) => i))
})

test('a poll that is under way is answered when the server closes its socket', async (t) => {
  const { eio, port } = await start(t, kWays['attach(server)'])
  const connection = next(eio, 'connection')
  const socket = client(t, port, { transports: ['polling'] })
  const ours = await connection
  const closed = next(socket, 'close')
  ours.close()
  assert.equal(await closed, 'transport close')
})

test('a polled body over maxHttpBufferSize is refused with 413, announced or in chunks', async (t) => {
  const { port } = await start(t, kWays['attach(server)'], { maxHttpBufferSize: 1000 })
  const path = '/engine.io/?EIO=4&transport=polling'
  for (const headers of [{ 'content-length': '2001' }, {}]) {
    const { body } = await request({ port, path })
    const { sid } = JSON.parse(body.slice(1))
    const answer = await request({ port, path: `${path}&sid=${sid}`, method: 'POST', headers }, `4${'x'.repeat(2000)}`)
      .then(({ status }) => status, (error) => error.code)
    assert.ok(answer === 413 || answer === 'ECONNRESET', `${answer}`)
  }
})

test('a connection that is cut is a close of its transport', async (t) => {
  const { eio, port } = await start(t, kWays['attach(server)'])
  const connection = next(eio, 'connection')
  const socket = client(t, port, { transports: ['websocket'] })
  const ours = await connection
  const closed = next(ours, 'close')
  socket.transport.ws.terminate()
  assert.equal(await closed, 'transport close')
})

test('a middleware sees the requests of both transports and adds headers', async (t) => {
  const { eio, port } = await start(t, kWays['attach(server)'])
  eio.use((/** @type {any} */ req, /** @type {any} */ res, /** @type {() => void} */ proceed) => {
    res.setHeader('X-Transport', new URL(req.url, 'http://a').searchParams.get('transport'))
    proceed()
  })
  const path = '/engine.io/?EIO=4&transport='
  assert.equal((await request({ port, path: `${path}polling` })).headers['x-transport'], 'polling')
  const socket = dial(t, port, `${path}websocket`)
  const response = await next(socket, 'upgrade')
  assert.deepEqual([response.statusCode, response.headers['x-transport']], [101, 'websocket'])
})
