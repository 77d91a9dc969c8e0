'use strict'

// Goal: options become the properties that the documentation names, with the values in its units; what HTTP.SYS
// refuses is an error of listen(), and nothing of the server stays.

const { afterEach, test } = require('node:test')
const assert = require('node:assert/strict')
const { once } = require('node:events')
const { http } = require('../helpers/backend')
const { dial, get, request, serve, stop } = require('../helpers/client')
const { forget, notesOf, plan, report } = require('../helpers/httpapi-double')

/** HTTP_SERVER_PROPERTY. */
const kProperty = { authentication: 0, logging: 1, qos: 2, timeouts: 3, queueLength: 4, verbosity: 6 }
const kBandwidth = 0
const kConnectionLimit = 1
const kInvalidParameter = 87
const kAccessDenied = 5

const timed = { timeout: 20_000 }

afterEach(() => plan(''))

/** What was set of a property. @param {number} property @param {string} [owner] */
async function valuesOf (property, owner = 'group') {
  return (await notesOf('property')).filter((note) => note.property === property && note.of === owner)
}

/** What is open when one server listens, and what was closed has been: queues take their time. */
async function settled () {
  for (;;) {
    const { open } = await report()
    if (open.queues === 1 && open.calls === 8) return open
    await new Promise(setImmediate)
  }
}

/**
 * A server that listens, after notes of others were dropped.
 *
 * @param {import('node:test').TestContext} t
 * @param {any} options of createServer
 * @param {any[]} args of listen()
 */
async function listening (t, options, ...args) {
  // The double is there from the first server on.
  await serve(t, http.createServer())
  await forget()
  const server = http.createServer(options, (req, res) => res.end('ok'))
  const port = await serve(t, server, ...args)
  return { server, port }
}

test('timeouts are those of the server, in seconds', timed, async (t) => {
  await listening(t, {
    keepAliveTimeout: 7_000,
    headersTimeout: 11_000,
    requestTimeout: 13_500,
    httpSys: { timeouts: { drainEntityBody: 3_000, requestQueue: 4_001, minSendRate: 240 } }
  })
  const [note] = await valuesOf(kProperty.timeouts)
  const { idleConnection, headerWait, entityBody, drainEntityBody, requestQueue, minSendRate } = note
  assert.deepEqual({ idleConnection, headerWait, entityBody, drainEntityBody, requestQueue, minSendRate },
    { idleConnection: 7, headerWait: 11, entityBody: 14, drainEntityBody: 3, requestQueue: 5, minSendRate: 240 })
})

test('limits of bandwidth and connections are two settings of one property', timed, async (t) => {
  await listening(t, { httpSys: { maxBandwidth: 2048, maxConnections: 9 } })
  const settings = await valuesOf(kProperty.qos)
  assert.deepEqual(settings.map(({ qosType }) => qosType), [kBandwidth, kConnectionLimit])
  assert.equal(settings[0].maxBandwidth, 2048)
  assert.equal(settings[1].maxConnections, 9)
})

test('maxBandwidth of the server is the same property, unless httpSys has its own', timed, async (t) => {
  await listening(t, { maxBandwidth: 4096 })
  assert.deepEqual((await valuesOf(kProperty.qos)).map(({ maxBandwidth }) => maxBandwidth), [4096])
  await listening(t, { maxBandwidth: 4096, httpSys: { maxBandwidth: 2048 } })
  assert.equal((await valuesOf(kProperty.qos)).at(-1)?.maxBandwidth, 2048)
})

test('a log has a folder and fields', timed, async (t) => {
  await listening(t, { httpSys: { logging: { directory: 'C:\\logs', rollover: 'hourly' } } })
  const [{ directory, format, fields }] = await valuesOf(kProperty.logging)
  assert.deepEqual([directory, format], ['C:\\logs', 0])
  assert.notEqual(fields, 0)
})

test('schemes of authentication are bits', timed, async (t) => {
  await listening(t, { httpSys: { authentication: { schemes: ['basic', 'negotiate'] } } })
  const [{ schemes }] = await valuesOf(kProperty.authentication)
  assert.equal(schemes, 1 | 8)
})

test('a server without such options has its timeouts alone', timed, async (t) => {
  await listening(t, {})
  for (const property of [kProperty.qos, kProperty.logging, kProperty.authentication]) assert.deepEqual(await valuesOf(property), [])
})

test('queueLimit and http503Verbosity are the queue\'s', timed, async (t) => {
  await listening(t, { queueLimit: 17, http503Verbosity: 'full' })
  assert.deepEqual((await valuesOf(kProperty.queueLength, 'queue')).map(({ value }) => value), [17])
  assert.deepEqual((await valuesOf(kProperty.verbosity, 'queue')).map(({ value }) => value), [2])
})

test('a queue without http503Verbosity has the default of the HTTP Server API, basic', timed, async (t) => {
  await listening(t, { queueLimit: 18 })
  assert.deepEqual((await valuesOf(kProperty.verbosity, 'queue')).map(({ value }) => value), [0])
})

// A queue that is open already keeps its properties: another one for each.
for (const [name, fault, optionsFor] of /** @type {[string, string, (status: number) => any][]} */ ([
  ['httpSys.timeouts', 'HttpSetUrlGroupProperty:1', () => ({})],
  ['httpSys.maxConnections', 'HttpSetUrlGroupProperty:2', () => ({ httpSys: { maxConnections: 1 } })],
  ['httpSys.logging', 'HttpSetUrlGroupProperty:2', () => ({ httpSys: { logging: { directory: 'C:\\logs' } } })],
  ['httpSys.authentication', 'HttpSetUrlGroupProperty:2', () => ({ httpSys: { authentication: { schemes: ['ntlm'] } } })],
  ['queueLimit', 'HttpSetRequestQueueProperty:1', (status) => ({ queueLimit: 100 + status })],
  ['http503Verbosity', 'HttpSetRequestQueueProperty:2', (status) => ({ queueLimit: 200 + status, http503Verbosity: 'limited' })]
])) {
  test(`${fault} refuses ${name}: an error of listen() that names it`, timed, async (t) => {
    await serve(t, http.createServer())
    for (const [code, status] of /** @type {[string, number][]} */ ([['EINVAL', kInvalidParameter], ['EACCES', kAccessDenied]])) {
      const open = await settled()
      await plan(`${fault}:${status}`)
      const server = http.createServer(optionsFor(status))
      server.listen(0, '127.0.0.1')
      const [error] = await once(server, 'error')
      assert.equal(error.code, code)
      assert.equal(error.status, status)
      assert.ok(error.message.includes(`"${name}"`), error.message)
      await plan('')
      assert.deepEqual(await settled(), open)
      server.listen(0, '127.0.0.1')
      await once(server, 'listening')
      await stop(server)
    }
  })
}

test('requests beyond queueLimit are answered by the kernel', timed, async (t) => {
  // Nothing is received while this thread is busy, but for the calls that are outstanding.
  const { port } = await listening(t, { queueLimit: 1, http503Verbosity: 'full' })
  assert.equal((await request(port)).body, 'ok')
  const wires = await Promise.all(Array.from({ length: 40 }, () => dial(t, port)))
  await plan('HttpReceiveHttpRequest:1:1:10')
  for (const wire of wires) wire.write(get())
  await Promise.all(wires.map((wire) => wire.until(/^HTTP\/1\.1 (200|503)/)))
  assert.ok(wires.some(({ text }) => text.startsWith('HTTP/1.1 503 Service Unavailable')))
  assert.ok(wires.some(({ text }) => text.startsWith('HTTP/1.1 200')))
})

test('with a log each response is told with its fields, once', timed, async (t) => {
  const { port } = await listening(t, { httpSys: { logging: { directory: 'C:\\logs' } } })
  const headers = { Host: `localhost:${port}`, 'User-Agent': 'agent/1', Referer: 'http://a.example/' }
  assert.equal((await request({ port, path: '/stem?query=1', headers })).body, 'ok')
  const logs = await notesOf('log')
  assert.deepEqual(logs, [{
    log: '/stem',
    status: 200,
    port,
    query: 'query=1',
    method: 'GET',
    client: '127.0.0.1',
    server: '127.0.0.1',
    host: headers.Host,
    agent: 'agent/1',
    referrer: 'http://a.example/'
  }])
})

test('without a log no response has fields for one', timed, async (t) => {
  const { port } = await listening(t, {})
  await request(port)
  assert.deepEqual(await notesOf('log'), [])
})

for (const allowAnonymous of [true, false]) {
  test(`logins with allowAnonymous: ${allowAnonymous}, whose tokens are closed`, timed, async (t) => {
    const { port } = await listening(t, { httpSys: { authentication: { schemes: ['basic'], allowAnonymous } } })
    assert.equal((await request(port)).status, allowAnonymous ? 200 : 401)
    assert.equal((await request({ port, headers: { Authorization: 'Basic YTpi' } })).status, 200)
    // Of another scheme than those that are enabled.
    assert.equal((await request({ port, headers: { Authorization: 'Bearer token' } })).status, allowAnonymous ? 200 : 401)
    assert.equal((await report()).open.tokens, 0)
  })
}
