'use strict'

// Test runners that give each test a context of its own (jest) fake its timers, process.nextTick() included, by default: what
// happens on a server and a WebSocket may not wait for them, as on node:http, whose modules are not in that context.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const { once } = require('node:events')
const stockHttp = require('node:http')
const fs = require('node:fs')
const { WebSocket } = require('ws')
const { TestContext } = require('../fixtures/test-context')
const { backend } = require('../helpers/backend')

const kTimeout = 20_000

/** How a handler answers. @type {Record<string, (req: any, res: any) => void>} */
const kAnswers = {
  '/end': (req, res) => res.end('hello'),
  '/callback': (req, res) => res.end('hello', () => res.emit('called back')),
  '/write': (req, res) => {
    res.write('hel')
    res.end('lo')
  },
  '/large': (req, res) => res.end('x'.repeat(1_000_000)),
  '/echo': (req, res) => req.pipe(res),
  '/destroy': (req) => req.socket.destroy()
}

/** @param {number} port @param {string} path @param {stockHttp.Agent | false} agent @returns {Promise<void>} when the answer has ended, or the connection */
function ask (port, path, agent) {
  return new Promise((resolve) => {
    stockHttp.request({ port, host: '127.0.0.1', path, agent, method: 'POST' }, (res) => res.on('end', resolve).resume())
      .on('error', () => resolve()).end('body')
  })
}

// A turn of the event loop, by something that nobody fakes.
const turn = () => fs.promises.stat('.')

/** @param {any} http @param {() => void} fakeTimers @returns {Promise<Record<string, string[]>>} the events of each answer, sorted */
async function eventsOf (http, fakeTimers) {
  /** @type {Record<string, string[]>} */
  const events = {}
  const server = http.createServer((/** @type {any} */ req, /** @type {any} */ res) => {
    const seen = events[req.url] ??= []
    for (const type of ['finish', 'close', 'called back']) res.on(type, () => seen.push(`res ${type}`))
    for (const type of ['end', 'close']) req.on(type, () => seen.push(`req ${type}`))
    req.on('error', () => {})
    if (req.url !== '/echo') req.resume()
    kAnswers[req.url](req, res)
  })
  fakeTimers()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address()
  const agent = new stockHttp.Agent({ keepAlive: true, maxSockets: 1 })
  for (const path of Object.keys(kAnswers)) {
    await ask(port, path, false)
    if (path !== '/destroy') await ask(port, path, agent)
  }
  const closed = once(server, 'close')
  server.close()
  agent.destroy()
  await closed
  // Events of the last sockets.
  for (let i = 0; i < 50; i++) await turn()
  for (const seen of Object.values(events)) seen.sort()
  return events
}

test('each event of a response comes while the timers of its context stand still', { timeout: kTimeout }, async () => {
  const context = new TestContext()
  const http = context.load(require.resolve('@httpsys/core-native'))
  assert.deepEqual(await eventsOf(http, () => context.useFakeTimers()), await eventsOf(stockHttp, () => {}))
})

test('a WebSocket echoes, calls back and closes while the timers of its context stand still', { timeout: kTimeout, skip: backend === 'node' && 'its WebSockets are those of ws' }, async (t) => {
  const context = new TestContext()
  const http = context.load(require.resolve('@httpsys/core-native'))
  const { WebSocketServer } = context.load(require.resolve('@httpsys/websocket'))
  const server = http.createServer()
  const sockets = new WebSocketServer({ server })
  const seen = /** @type {string[]} */ ([])
  sockets.on('connection', (/** @type {any} */ socket) => {
    socket.on('message', (/** @type {Buffer} */ data) => socket.send(data, () => seen.push('sent')))
    socket.on('close', () => {
      seen.push('close')
      socket.send('late', (/** @type {Error} */ error) => seen.push(error === undefined ? 'sent' : 'refused'))
    })
  })
  context.useFakeTimers()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const client = new WebSocket(`ws://127.0.0.1:${server.address().port}`)
  t.after(() => client.terminate())
  await once(client, 'open')
  client.send('hello')
  assert.equal(String((await once(client, 'message'))[0]), 'hello')
  client.close()
  await once(client, 'close')
  // sockets.close() is that of ws, which waits for the timers of its context.
  const closed = once(server, 'close')
  server.close()
  await closed
  while (seen.length < 3) await turn()
  assert.deepEqual(seen, ['sent', 'close', 'refused'])
})
