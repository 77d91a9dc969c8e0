'use strict'

// Goal: server.close() ends a server whose clients never stop asking: each connection has one more answer at most.

const assert = require('node:assert/strict')
const { fork } = require('node:child_process')
const { once } = require('node:events')
const net = require('node:net')
const path = require('node:path')
const { test } = require('node:test')
const { setTimeout: sleep } = require('node:timers/promises')
const { certificate } = require('../helpers/certificates')
const { dial, get } = require('../helpers/client')
const { freePort } = require('../helpers/free-port')
const { http, backend } = require('../helpers/backend')

const kClients = 8
// Of the I/O threads' way to JavaScript: what clients have sent by then is there.
const kBusyMs = 30
const isOurs = backend !== 'node'
const { hasHttp2 } = isOurs ? require('../../packages/core-native/lib/backend/binding').loadBinding() : { hasHttp2: false }
const kTimeout = 60_000

/** @typedef {{ name: string, scheme: string, hasPrefix?: boolean, options?: any }} Kind */
/** @type {Kind[]} */
const kinds = [
  { name: 'listen(port)', scheme: 'http' },
  { name: 'a prefix', scheme: 'http', hasPrefix: true },
  { name: 'TLS, listen(port)', scheme: 'https', options: { http2: false } },
  { name: 'TLS, a prefix', scheme: 'https', hasPrefix: true, options: { http2: false } },
  { name: 'HTTP/2, listen(port)', scheme: 'h2c', options: { http2: true } },
  { name: 'HTTP/2, a prefix', scheme: 'h2c', hasPrefix: true, options: { http2: true } },
  { name: 'HTTP/2 with TLS', scheme: 'h2', hasPrefix: true }
]

/** @param {Kind} kind */
const skipped = ({ scheme, hasPrefix }) => {
  if (!isOurs && (hasPrefix || scheme.startsWith('h2'))) return 'node:http has neither prefixes nor HTTP/2'
  return scheme.startsWith('h2') && !hasHttp2 ? 'this Node has no nghttp2' : false
}

function busy () {
  const end = performance.now() + kBusyMs
  while (performance.now() < end);
}

/**
 * A server, and clients in another process that have begun to ask it.
 *
 * @param {import('node:test').TestContext} t
 * @param {Kind} kind
 * @param {(req: any, res: any) => void} handler
 */
async function underLoad (t, { scheme, hasPrefix, options }, handler) {
  const isSecure = scheme === 'https' || scheme === 'h2'
  const server = isSecure
    ? /** @type {any} */ (http).https.createServer({ ...certificate('localhost'), ...options }, handler)
    : http.createServer(options ?? {}, handler)
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  const port = hasPrefix ? await freePort() : 0
  server.listen(...hasPrefix ? [`http${isSecure ? 's' : ''}://localhost:${port}/p/`] : [0, '127.0.0.1'])
  await once(server, 'listening')
  const clients = fork(path.join(__dirname, '..', 'fixtures', 'steady-clients.js'), [scheme, String(port || server.address().port), '/p/'])
  t.after(() => clients.kill('SIGKILL'))
  await once(clients, 'message')
  return { server, clients }
}

for (const kind of kinds) {
  for (const isLate of [false, true]) {
    test(`close() ends a server that answers ${isLate ? 'later' : 'at once'} and is asked all the time: ${kind.name}`, {
      skip: skipped(kind) || (isLate && !isOurs && 'stock Node leaves connections that were busy to their clients'), timeout: kTimeout
    }, async (t) => {
      let isClosing = false
      const isStream = kind.scheme.startsWith('h2')
      /** @type {Map<any, number>} */
      const after = new Map()
      const { server, clients } = await underLoad(t, kind, (req, res) => {
        const { socket } = req
        if (isClosing) after.set(socket, (after.get(socket) ?? 0) + 1)
        const answer = () => {
          res.end('served')
          if (isClosing && isOurs && !isStream) assert.match(res._header, /\r\nConnection: close\r\n/)
        }
        if (isLate) setTimeout(answer, 5)
        else answer()
      })
      const told = once(clients, 'message')
      const closed = once(server, 'close')
      busy()
      isClosing = true
      server.close()
      await closed
      const [{ answers, ended, goaways }] = await told
      assert.ok(answers >= 3 * kClients)
      assert.equal(ended, kClients)
      if (isStream) assert.ok(goaways >= kClients, `${goaways} GOAWAYs`)
      else assert.deepEqual([...after.values()].filter((count) => count > 1), [])
    })
  }
}

for (const kind of kinds) {
  test(`close() in a handler ends a server that is asked all the time: ${kind.name}`, { skip: skipped(kind) || (!isOurs && 'stock Node leaves connections that were busy to their clients'), timeout: kTimeout }, async (t) => {
    let closes = false
    const { server, clients } = await underLoad(t, kind, (req, res) => {
      if (closes && server.listening) {
        busy()
        server.close()
      }
      res.end('served')
    })
    const told = once(clients, 'message')
    closes = true
    await once(server, 'close')
    const [{ ended }] = await told
    assert.equal(ended, kClients)
  })
}

test('closeIdleConnections() leaves a server that is asked all the time to its clients, closeAllConnections() does not', { timeout: kTimeout }, async (t) => {
  const { server, clients } = await underLoad(t, kinds[0], (req, res) => res.end('served'))
  const told = once(clients, 'message')
  busy()
  server.closeIdleConnections()
  server.closeAllConnections()
  const [{ ended }] = await told
  assert.equal(ended, kClients)
  assert.ok(server.listening)
  const wire = await dial(t, server.address().port)
  wire.write(get())
  await wire.until('served')
  await new Promise((resolve) => server.getConnections((/** @type {any} */ _error, /** @type {number} */ count) => resolve(assert.equal(count, 1))))
})

test('answers that close() has overtaken are the last ones of their connections, also behind others', { skip: !isOurs && 'stock Node goes on' }, async (t) => {
  /** @type {any[]} */
  const held = []
  const server = http.createServer((req, res) => {
    held.push(res)
    if (held.length === 3) server.emit('all')
  })
  t.after(() => server.closeAllConnections())
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const wire = await dial(t, server.address().port)
  wire.write(get('/1') + get('/2') + get('/3'))
  await once(server, 'all')
  const closed = once(server, 'close')
  server.close()
  for (const [i, res] of held.entries()) res.end(`answer ${i}`)
  const text = await wire.untilClosed()
  await closed
  assert.deepEqual(text.match(/^Connection: .*|answer \d/mg), ['Connection: keep-alive', 'answer 0', 'Connection: keep-alive', 'answer 1', 'Connection: close', 'answer 2'])
})

test('a connection whose head was written before close() ends with its answer', { skip: !isOurs && 'stock Node waits for keepAliveTimeout' }, async (t) => {
  const server = http.createServer((req, res) => {
    res.write('begun')
    server.emit('begun', res)
  })
  server.keepAliveTimeout = 3600_000
  t.after(() => server.closeAllConnections())
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const wire = await dial(t, server.address().port)
  wire.write(get('/'))
  const [res] = await once(server, 'begun')
  await wire.until('begun')
  const closed = once(server, 'close')
  server.close()
  res.end('ended')
  await closed
  assert.match(await wire.untilClosed(), /ended\r\n0\r\n\r\n$/)
})

for (const isChanged of [false, true]) {
  test(`a connection that was answered before its body had come ends with the body${isChanged ? ', whatever was set after close()' : ''}`, { skip: !isOurs && 'stock Node waits for keepAliveTimeout' }, async (t) => {
    const server = http.createServer((req, res) => res.end('early'))
    server.keepAliveTimeout = 3600_000
    t.after(() => server.closeAllConnections())
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const wire = await dial(t, server.address().port)
    wire.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\nhalf')
    await wire.until('early')
    const closed = once(server, 'close')
    server.close()
    if (isChanged) server.removeAllListeners('connection')
    wire.write('x'.repeat(100_000 - 4))
    await closed
    await wire.untilClosed()
  })
}

test('a server that listens again before its answers are due keeps their connections', { skip: !isOurs && 'stock Node keeps them anyway' }, async (t) => {
  const server = http.createServer((req, res) => {
    if (req.url === '/slow') server.emit('slow', res)
    else res.end('quick')
  })
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  /** @type {any[]} */
  const slow = []
  server.on('slow', (res) => slow.push(res))
  const wires = await Promise.all(Array.from({ length: kClients }, () => dial(t, server.address().port)))
  // The I/O thread hears of each answer by another way than of the server that listens again, and of both in the same turn.
  for (let round = 0; round < 5; round++) {
    for (const wire of wires) wire.write(get('/slow'))
    while (slow.length < kClients) {
      // Looked at again and again, so that a connection that was closed is not waited for.
      await Promise.race([once(server, 'slow'), sleep(20)])
      assert.equal(wires.filter(({ closed }) => closed).length, 0, 'connections were closed')
    }
    server.close()
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    for (const res of slow.splice(0)) res.end(`slow ${round}.`)
    for (const wire of wires) await wire.until(`slow ${round}.`)
  }
  for (const wire of wires) {
    wire.write(get('/quick'))
    assert.doesNotMatch(await wire.until('quick'), /Connection: close/)
  }
})

/** What listen() refuses, by where it fails. @type {{ name: string, listen: (server: any, taken: number) => void }[]} */
const failures = [
  { name: 'for its arguments', listen: (server) => assert.throws(() => server.listen(70_000), { code: 'ERR_SOCKET_BAD_PORT' }) },
  { name: 'on a port in use', listen: (server, taken) => server.listen(taken, '127.0.0.1') },
  { name: 'on a path that nobody can have', listen: (server) => server.listen('/no/such/folder/socket') },
  { name: 'on a host without an address', listen: (server) => server.listen({ port: 0, host: 'name.invalid' }) }
]

for (const { name, listen } of failures) {
  test(`a listen() that fails ${name} leaves a closed server closed, which ends with its answers`, { timeout: kTimeout, skip: !isOurs && 'stock Node waits for keepAliveTimeout' }, async (t) => {
    const other = net.createServer().listen(0, '127.0.0.1')
    t.after(() => other.close())
    await once(other, 'listening')
    const server = http.createServer((req, res) => server.emit('asked', res))
    server.keepAliveTimeout = 3600_000
    t.after(() => server.closeAllConnections())
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const wire = await dial(t, server.address().port)
    const asked = once(server, 'asked')
    wire.write(get('/'))
    const [res] = await asked
    // once() would reject with the error.
    const closed = new Promise((resolve) => server.once('close', resolve))
    server.close()
    const failed = name.startsWith('for') ? null : once(server, 'error')
    listen(server, /** @type {any} */ (other.address()).port)
    await failed
    assert.equal(server.listening, false)
    res.end('answered')
    await closed
    assert.match(await wire.untilClosed(), /\r\nConnection: close\r\n.*answered/s)
  })
}
