'use strict'

// What the tests of WebSocket libraries share: a server that ends with its test, whatever is still open then.

const { once } = require('node:events')
const { WebSocket } = require('ws')
const { Wire, listen, stop } = require('../../helpers/client')

/** @typedef {import('node:test').TestContext} TestContext */

/** @type {WeakMap<TestContext, (() => unknown)[]>} */
const endings = new WeakMap()

/**
 * Runs when the test ends, the last one first, before its server is stopped: an open WebSocket would keep the server
 * from closing.
 *
 * @param {TestContext} t
 * @param {() => unknown} work
 */
function atEnd (t, work) {
  const list = endings.get(t) ?? []
  endings.set(t, list)
  list.push(work)
}

/**
 * @param {TestContext} t
 * @param {any} server
 * @param {...any} args those of server.listen()
 * @returns {Promise<number>} the port
 */
async function serve (t, server, ...args) {
  const port = await listen(server, ...args)
  t.after(async () => {
    for (const end of endings.get(t)?.splice(0).reverse() ?? []) await end()
    await stop(server)
  })
  return port
}

/**
 * A connected plain connection; ends with the test.
 *
 * @param {TestContext} t
 * @param {number} port
 */
async function connect (t, port) {
  const wire = new Wire({ port, host: '127.0.0.1' })
  atEnd(t, () => wire.destroy())
  await once(wire.socket, 'connect')
  return wire
}

/** @param {import('node:events').EventEmitter} emitter @returns {Promise<any[]>} its 'close', whatever error comes before */
function closing (emitter) {
  return new Promise((resolve) => emitter.once('close', (...args) => resolve(args)))
}

/**
 * A client of ws on the way; ends with the test.
 *
 * @param {TestContext} t
 * @param {number} port
 * @param {string} [path]
 * @param {string | string[]} [protocols]
 * @param {import('ws').ClientOptions} [options]
 */
function dial (t, port, path = '/', protocols = [], options = {}) {
  const client = new WebSocket(`ws://127.0.0.1:${port}${path}`, protocols, options)
  atEnd(t, () => {
    client.on('error', () => {})
    client.terminate()
  })
  return client
}

/**
 * An open client of ws.
 *
 * @param {[TestContext, number, string?, (string | string[])?, import('ws').ClientOptions?]} args
 */
async function open (...args) {
  const client = dial(...args)
  await once(client, 'open')
  return client
}

/**
 * How a handshake is refused.
 *
 * @param {[TestContext, number, string?, (string | string[])?, import('ws').ClientOptions?]} args
 */
async function refusal (...args) {
  const client = dial(...args)
  const [, response] = await once(client, 'unexpected-response')
  let body = ''
  for await (const piece of response) body += piece
  return { status: response.statusCode, message: response.statusMessage, headers: response.headers, body }
}

/** @param {import('ws').WebSocket} socket @param {any} message @returns {Promise<string>} what comes back */
async function ask (socket, message) {
  const answered = once(socket, 'message')
  socket.send(message)
  return (await answered)[0].toString()
}

/** @param {import('ws').WebSocketServer} wss every message comes back */
function echo (wss) {
  wss.on('connection', (socket) => {
    socket.on('error', () => {})
    socket.on('message', (data, isBinary) => socket.send(data, { binary: isBinary }))
  })
  return wss
}

/** @param {string} [path] @param {string[]} [headers] @returns {string} the bytes of a handshake */
function handshake (path = '/', headers = []) {
  return [`GET ${path} HTTP/1.1`, 'Host: a', 'Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==', ...headers, '', ''].join('\r\n')
}

/**
 * A short frame of a client, masked with zeros.
 *
 * @param {string} text at most 125 bytes
 * @param {number} [opcode]
 */
function frame (text, opcode = 1) {
  const bytes = Buffer.from(text)
  return Buffer.concat([Buffer.of(0x80 | opcode, 0x80 | bytes.length, 0, 0, 0, 0), bytes])
}

module.exports = { ask, atEnd, closing, connect, dial, echo, frame, handshake, open, refusal, serve }
