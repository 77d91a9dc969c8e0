'use strict'

// Goal: what every request touches has a hidden class, and the tables it reads have no holes. Where V8 has made a
// dictionary of one of them, optimized code calls a stub for each of its properties.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const { Agent } = require('node:http')
const http2 = require('node:http2')
const v8 = require('node:v8')
const vm = require('node:vm')
const { once } = require('node:events')
const { http, backend } = require('../helpers/backend')
const { capabilities } = require('../helpers/capabilities')
const { request, serve } = require('../helpers/client')
const tls = require('../helpers/tls')

v8.setFlagsFromString('--allow-natives-syntax')
const hasFastProperties = /** @type {(object: object) => boolean} */ (vm.runInThisContext('(object) => %HasFastProperties(object)'))
const isDictionary = /** @type {(list: any[]) => boolean} */ (vm.runInThisContext('(list) => %HasDictionaryElements(list)'))

const skip = backend === 'node' && 'about the engine'
// A text gets its id when it comes back.
const kRequests = 8

/** @param {any} object @param {string} description of a symbol */
function field (object, description) {
  const symbol = Object.getOwnPropertySymbols(object).find((s) => s.description === description)
  assert.ok(symbol, description)
  return object[symbol]
}

/** @param {any} req @param {any} res */
function check (req, res) {
  const { socket } = req
  const objects = { server: socket.server, socket, req, res, listeners: res._events, headers: field(res, 'kOutHeaders') }
  for (const [name, object] of Object.entries(objects)) assert.ok(hasFastProperties(object), name)
  const lane = field(socket, 'httpsys.lane')
  for (const name of ['names', 'values', 'sockets']) assert.ok(!isDictionary(lane[name]), name)
  assert.ok(lane.names.length > 0, 'nothing was interned')
}

test('over HTTP/1.1', { skip }, async (t) => {
  let served = 0
  const server = http.createServer((req, res) => {
    res.setHeader('Content-Type', 'text/plain')
    if (++served === kRequests) check(req, res)
    res.end('x')
  })
  const port = await serve(t, server)
  // One connection: each lane has texts of its own.
  const agent = new Agent({ keepAlive: true })
  t.after(() => agent.destroy())
  for (let i = 0; i < kRequests; i++) {
    await request({ port, agent, path: '/again', headers: { 'X-Tenant': 'a', 'X-Number': String(i) } })
  }
  assert.equal(served, kRequests)
})

test('over HTTP/2', { skip: skip || (capabilities?.listensOnSockets !== true && 'the system decides about HTTP/2') }, async (t) => {
  let served = 0
  const server = http.createServer(/** @type {any} */ ({ http2: true }), (req, res) => {
    res.setHeader('Content-Type', 'text/plain')
    if (++served === kRequests) check(req, res)
    res.end('x')
  })
  const port = await serve(t, server)
  const client = http2.connect(`http://127.0.0.1:${port}`)
  t.after(() => client.destroy())
  for (let i = 0; i < kRequests; i++) {
    const stream = client.request({ ':path': '/again', 'x-number': String(i) })
    stream.resume()
    await once(stream, 'end')
  }
  assert.equal(served, kRequests)
})

// V8 learns from the first seven sockets how large they are, so that the first ones are used for nothing else.
const kSockets = 20

for (const scheme of ['http', 'https']) {
  test(`sockets keep it when they become streams and get fields of the application, ${scheme}`, { skip }, async (t) => {
    const own = Symbol('of the application')
    let served = 0
    /** @type {any[]} */
    const sockets = []
    /** @param {any} req @param {any} res */
    const listener = ({ socket }, res) => {
      res.end()
      if (++served <= kSockets) return
      sockets.push(socket.on('drain', () => {}).setTimeout(60_000))
      socket[own] = socket.ofTheApplication = true
    }
    const options = /** @type {any} */ ({ http2: true })
    const port = scheme === 'http' ? await serve(t, http.createServer(options, listener)) : (await tls.serve(t, options, listener)).port
    const all = new Array(kSockets).fill(true)
    for (let i = 0; i < 2 * kSockets; i++) await (scheme === 'http' ? request(port) : tls.request(port))
    assert.deepEqual(sockets.splice(0).map(hasFastProperties), all, 'over HTTP/1.1')
    if (capabilities?.listensOnSockets !== true) return // The system decides about HTTP/2.
    const client = http2.connect(`${scheme}://127.0.0.1:${port}`, { rejectUnauthorized: false })
    t.after(() => client.destroy())
    for (let i = 0; i < kSockets; i++) await once(client.request({ ':path': '/' }).resume(), 'end')
    assert.deepEqual(sockets.map(hasFastProperties), all, 'over HTTP/2')
  })
}
