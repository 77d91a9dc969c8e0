'use strict'

// Goal: a socket has as many listeners of each event as Node's: programs count them, and one of 'error' decides whether a client
// that leaves ends the process.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const { once } = require('node:events')
const nodeHttp = require('node:http')
const nodeHttps = require('node:https')
const net = require('node:net')
const nodeTls = require('node:tls')
const core = require('@httpsys/core-native')
const { needs } = require('../helpers/capabilities')
const { certificate } = require('../helpers/certificates')

const { http, https } = /** @type {{ http: typeof nodeHttp, https: typeof nodeHttps }} */ (/** @type {unknown} */ ({ http: core, https: core.https }))

/** What a client sends, by what it leads to. */
const kMessages = {
  request: 'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n',
  upload: 'POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 10\r\n\r\n12345',
  upgrade: 'GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: other\r\n\r\n',
  websocket: 'GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
  connect: 'CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n',
  fault: 'nothing\r\n\r\n'
}

/** @param {import('node:events').EventEmitter} emitter @returns {Record<string, number>} */
function counts (emitter) {
  return Object.fromEntries(emitter.eventNames().map((event) => [String(event), emitter.listenerCount(event)]).sort())
}

/** @typedef {{ socket: import('node:net').Socket }} HasSocket */

/**
 * Listens to everything that shows a socket.
 *
 * @param {import('node:http').Server} server
 * @param {boolean} isSecure
 * @returns {Record<string, Record<string, number>>} the counts at each event, also those of the server itself
 */
function record (server, isSecure) {
  const seen = { server: counts(server) }
  const note = (/** @type {string} */ event, /** @type {import('node:net').Socket} */ socket) => Object.assign(seen, { [event]: counts(socket) })
  // With TLS, 'connection' has the raw socket on Node.
  const opened = isSecure ? 'secureConnection' : 'connection'
  server.on(opened, (socket) => note(opened, socket))
  server.on('request', (req, res) => {
    note('request', req.socket)
    res.on('finish', () => note('finish', req.socket))
    res.end('x')
  })
  for (const event of ['upgrade', 'connect']) {
    server.on(event, (req, socket) => {
      note(event, socket)
      socket.end('HTTP/1.1 401 Unauthorized\r\n\r\n')
    })
  }
  server.on('clientError', (error, socket) => {
    note('clientError', socket)
    // Node's own listener of 'error' is gone then: it does not emit 'clientError' once more.
    socket.destroy(error)
  })
  return seen
}

/** @param {import('node:test').TestContext} t @param {typeof nodeHttp | typeof nodeHttps} api @param {string} text @param {(port: number) => import('node:net').Socket} dial */
async function countsDuring (t, api, text, dial) {
  const isSecure = api === nodeHttps || api === https
  const server = /** @type {import('node:http').Server} */ (isSecure ? api.createServer(certificate('localhost')) : api.createServer())
  t.after(() => server.close())
  const seen = record(server, isSecure)
  server.listen(0)
  await once(server, 'listening')
  const client = dial(/** @type {import('node:net').AddressInfo} */ (server.address()).port)
  client.on('error', () => {}).resume().write(text)
  await once(client, 'close')
  return seen
}

const plain = (/** @type {number} */ port) => net.connect(port)
const secure = (/** @type {number} */ port) => nodeTls.connect({ port, rejectUnauthorized: false })

for (const [name, message] of Object.entries(kMessages)) {
  test(`${name}: a socket has the listeners that Node's has, at each event`, needs('listensOnSockets'), async (t) => {
    assert.deepEqual(await countsDuring(t, http, message, plain), await countsDuring(t, nodeHttp, message, plain))
  })

  test(`${name}: a socket with TLS has the listeners that Node's has, at each event`, needs('listensOnSockets'), async (t) => {
    assert.deepEqual(await countsDuring(t, https, message, secure), await countsDuring(t, nodeHttps, message, secure))
  })
}

test('a socket whose handshake fails has the listeners that Node\'s has', needs('listensOnSockets'), async (t) => {
  assert.deepEqual(await countsDuring(t, https, kMessages.request, plain), await countsDuring(t, nodeHttps, kMessages.request, plain))
})

for (const [event, message] of Object.entries({ upgrade: kMessages.upgrade, connect: kMessages.connect })) {
  test(`${event}: a client with TLS that has gone when it is refused does not end the process`, needs('listensOnSockets'), async (t) => {
    const server = https.createServer(certificate('localhost'))
    t.after(() => server.close())
    server.listen(0)
    await once(server, 'listening')
    const raw = plain(/** @type {import('node:net').AddressInfo} */ (server.address()).port).on('error', () => {})
    const client = nodeTls.connect({ socket: raw, rejectUnauthorized: false }).on('error', () => {})
    client.write(message)
    const [, socket] = await once(server, event)
    /** @type {unknown[]} */
    const uncaught = []
    const note = (/** @type {unknown} */ error) => uncaught.push(error)
    process.on('uncaughtExceptionMonitor', note)
    t.after(() => process.off('uncaughtExceptionMonitor', note))
    const closed = new Promise((resolve) => { socket.on('close', resolve) })
    raw.resetAndDestroy()
    while (socket.writable) {
      socket.write('a refusal that nobody reads')
      await new Promise((resolve) => setImmediate(resolve))
    }
    await closed
    assert.deepEqual(uncaught, [])
  })
}
