'use strict'

// Goal: sockjs works unmodified; it puts itself before the listeners of a server, and streams answers.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const { once } = require('node:events')
const sockjs = require('sockjs')
const SockJS = require('sockjs-client')
const { http } = require('../../helpers/backend')
const { request } = require('../../helpers/client')
const { ask, atEnd, connect, dial: dialPlain, open, refusal, serve } = require('./kit')

const kTransports = ['websocket', 'xhr-streaming', 'xhr-polling']

/**
 * @param {import('node:test').TestContext} t
 * @param {Record<string, (connection: any) => void>} services by prefix
 * @param {object} [options] of sockjs; a client that polls has disconnect_delay (ms) to come again, also on a busy machine
 */
async function start (t, services, options = {}) {
  const server = http.createServer((req, res) => res.end('page'))
  for (const [prefix, serviceOf] of Object.entries(services)) {
    const service = sockjs.createServer({ log: () => {}, disconnect_delay: 5000, ...options })
    service.on('connection', serviceOf)
    service.installHandlers(server, { prefix })
  }
  return serve(t, server)
}

/** @param {any} connection */
const echo = (connection) => connection.on('data', (/** @type {string} */ text) => connection.write(text))

/** @param {import('node:test').TestContext} t @param {number} port @param {string} prefix @param {string} transport @returns {Promise<any>} */
async function dial (t, port, prefix, transport) {
  const socket = /** @type {any} */ (new SockJS(`http://127.0.0.1:${port}${prefix}`, null, { transports: [transport] }))
  socket.received = []
  socket.onmessage = (/** @type {any} */ { data }) => socket.received.push(data)
  atEnd(t, () => socket.close())
  await new Promise((resolve, reject) => {
    socket.onopen = resolve
    socket.onclose = reject
  })
  assert.equal(socket.transport, transport)
  return socket
}

/** @param {any} socket @param {number} count @returns {Promise<string[]>} */
function messages (socket, count) {
  const { received } = socket
  return new Promise((resolve) => {
    if (received.length === count) resolve(received)
    socket.onmessage = (/** @type {any} */ { data }) => {
      received.push(data)
      if (received.length === count) resolve(received)
    }
  })
}

for (const transport of kTransports) {
  test(`${transport}: messages come back in order, unicode and big ones too`, async (t) => {
    const port = await start(t, { '/echo': echo })
    const socket = await dial(t, port, '/echo', transport)
    const sent = [...Array.from({ length: 50 }, (_, i) => `message ${i}`), 'tëxt ☃ \u2028', 'x'.repeat(200_000)]
    const received = messages(socket, sent.length)
    for (const text of sent) socket.send(text)
    assert.deepEqual(await received, sent)
  })

  test(`${transport}: the code and reason of a close by the server arrive`, async (t) => {
    const port = await start(t, { '/close': (connection) => connection.on('data', () => connection.close(4321, 'over')) })
    const socket = await dial(t, port, '/close', transport)
    const closed = new Promise((resolve) => { socket.onclose = resolve })
    socket.send('please')
    const { code, reason, wasClean } = await closed
    assert.deepEqual([code, reason, wasClean], [4321, 'over', true])
  })

  test(`${transport}: the server notices a client that leaves`, async (t) => {
    let left = () => {}
    const gone = new Promise((resolve) => { left = () => resolve(null) })
    const port = await start(t, { '/leave': (connection) => connection.on('close', left) }, { disconnect_delay: 50 })
    const socket = await dial(t, port, '/leave', transport)
    socket.close()
    await gone
  })
}

test('several services and the application share a server', async (t) => {
  const name = (/** @type {string} */ text) => (/** @type {any} */ connection) => connection.write(text)
  const port = await start(t, { '/one': name('one'), '/two': name('two') })
  for (const transport of kTransports) {
    for (const prefix of ['/one', '/two']) {
      const socket = await dial(t, port, prefix, transport)
      assert.deepEqual(await messages(socket, 1), [prefix.slice(1)])
    }
  }
  assert.equal((await request({ port, path: '/elsewhere' })).body, 'page')
  assert.equal((await request({ port, path: '/one' })).body, 'Welcome to SockJS!\n')
})

test('a connection knows who is at its other end', async (t) => {
  const port = await start(t, {
    '/who': (connection) => connection.write(JSON.stringify([
      connection.remoteAddress, connection.headers['x-forwarded-for'], connection.pathname.slice(0, 5), connection.protocol
    ]))
  })
  const socket = dialPlain(t, port, '/who/websocket', [], { headers: { 'x-forwarded-for': '10.0.0.9' } })
  const [data] = await once(socket, 'message')
  assert.deepEqual(JSON.parse(data.toString()), ['127.0.0.1', '10.0.0.9', '/who/', 'websocket-raw'])
})

test('the raw WebSocket below a prefix is a plain one, and what is none is refused', async (t) => {
  const port = await start(t, { '/raw': echo })
  assert.equal(await ask(await open(t, port, '/raw/websocket'), 'plain'), 'plain')
  const wire = await connect(t, port)
  wire.write('GET /raw/websocket HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
  assert.match(await wire.untilClosed(), /^HTTP\/1\.1 400 Bad Request\r\n[^]*Not a valid websocket request/)
  // sockjs lets whoever was there before answer what it does not know; stock Node closes when nobody does.
  assert.equal((await request({ port, path: '/raw/a/b/c' })).status, 404)
})

test('info and its preflight tell what a browser asks first', async (t) => {
  const port = await start(t, { '/echo': echo }, { websocket: false })
  const { status, headers, body } = await request({ port, path: '/echo/info', headers: { origin: 'http://there.test' } })
  assert.deepEqual([status, headers['access-control-allow-origin'], JSON.parse(body).websocket], [200, 'http://there.test', false])
  assert.equal((await request({ port, path: '/echo/info', method: 'OPTIONS' })).status, 204)
  assert.equal((await refusal(t, port, '/echo/000/abc/websocket')).status, 404)
})

test('event-stream and html-file transports stream as their clients expect', async (t) => {
  const port = await start(t, { '/echo': (connection) => connection.write('hi') })
  const events = await connect(t, port)
  events.write('GET /echo/000/a/eventsource HTTP/1.1\r\nHost: a\r\n\r\n')
  assert.match(await events.until('data: a\\["hi"\\]'.replace(/\\/g, '')), /content-type: text\/event-stream/i)
  const html = await connect(t, port)
  html.write('GET /echo/000/b/htmlfile?c=callback HTTP/1.1\r\nHost: a\r\n\r\n')
  await html.until('p("a[\\"hi\\"]")')
})
