'use strict'

// Goal: connections that an application brings itself, servers with Node's lenient parser, and servers whose own listener for
// connections was removed are served by Node's own code.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const net = require('node:net')
const nodeTls = require('node:tls')
const { Duplex } = require('node:stream')
const { once } = require('node:events')
const core = require('@httpsys/core-native')
const { http } = require('../helpers/backend')
const { needs } = require('../helpers/capabilities')
const { certificate } = require('../helpers/certificates')
const { dial, get, listen, request, serve, stop } = require('../helpers/client')

const { https } = /** @type {{ https: typeof import('node:https') }} */ (/** @type {unknown} */ (core))

/** Two streams; what is written to one is read from the other. */
function duplexPair () {
  class Side extends Duplex {
    /** @type {Side | null} */
    other = null
    /** @type {(() => void) | null} */
    wanted = null

    _read () {
      const wanted = this.wanted
      this.wanted = null
      wanted?.()
    }

    /** @param {any} chunk @param {any} encoding @param {() => void} callback */
    _write (chunk, encoding, callback) {
      const other = /** @type {Side} */ (this.other)
      if (chunk.length === 0) return process.nextTick(callback)
      other.push(chunk)
      other.wanted = callback
    }

    /** @param {() => void} callback */
    _final (callback) {
      this.other?.on('end', callback)
      this.other?.push(null)
    }
  }
  const [a, b] = [new Side(), new Side()]
  a.other = b
  b.other = a
  return [a, b]
}

test('a net.Socket given to emit("connection") is served', async (t) => {
  const server = http.createServer((req, res) => res.end(`injected ${req.url}`))
  const door = net.createServer((socket) => server.emit('connection', socket))
  const port = await serve(t, Object.assign(door, { closeAllConnections () {} }))
  const answer = await request({ port, path: '/a' })
  assert.equal(answer.body, 'injected /a')
})

test('a Duplex given to emit("connection") is served, with keep-alive and a body', async () => {
  const server = http.createServer((req, res) => {
    let body = ''
    req.setEncoding('utf8').on('data', (piece) => { body += piece }).on('end', () => res.end(`${req.method} ${body}`))
  })
  const [near, far] = duplexPair()
  server.emit('connection', far)
  let text = ''
  near.on('data', (piece) => { text += piece })
  near.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi')
  while (!text.includes('POST hi')) await once(near, 'data')
  near.write(get())
  while (!text.includes('GET ')) await once(near, 'data')
  near.end()
})

test('a listening server serves injected connections beside its own', async (t) => {
  const server = http.createServer((req, res) => res.end(`at ${req.socket.localPort}`))
  const port = await serve(t, server)
  const door = net.createServer((socket) => server.emit('connection', socket))
  const doorPort = await serve(t, Object.assign(door, { closeAllConnections () {} }))
  assert.equal((await request(port)).body, `at ${port}`)
  assert.equal((await request(doorPort)).body, `at ${doorPort}`)
})

test('bytes already read may be put back before a socket is injected', async (t) => {
  const server = http.createServer((req, res) => res.end('sniffed'))
  const door = net.createServer((socket) => {
    socket.once('data', (first) => {
      socket.pause()
      socket.unshift(first)
      server.emit('connection', socket)
      process.nextTick(() => socket.resume())
    })
  })
  const port = await serve(t, Object.assign(door, { closeAllConnections () {} }))
  assert.equal((await request(port)).body, 'sniffed')
})

test('a bad request on an injected connection is a clientError', async (t) => {
  const server = http.createServer()
  const door = net.createServer((socket) => server.emit('connection', socket))
  const port = await serve(t, Object.assign(door, { closeAllConnections () {} }))
  const clientError = once(server, 'clientError')
  const wire = await dial(t, port)
  wire.write('nonsense\r\n\r\n')
  const [error, socket] = await clientError
  assert.match(error.code, /^HPE_/)
  socket.destroy()
})

test('an upgrade on an injected connection reaches the upgrade listener', async (t) => {
  const server = http.createServer()
  server.on('upgrade', (req, socket, head) => socket.end(`HTTP/1.1 101 Switching Protocols\r\n\r\n${head}`))
  const door = net.createServer((socket) => server.emit('connection', socket))
  const port = await serve(t, Object.assign(door, { closeAllConnections () {} }))
  const wire = await dial(t, port)
  wire.write('GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\nhead')
  assert.match(await wire.untilClosed(), /^HTTP\/1\.1 101 Switching Protocols\r\n\r\nhead$/)
})

test('insecureHTTPParser accepts what the strict parser refuses', async (t) => {
  const bytes = 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n'
  const handler = (/** @type {any} */ req, /** @type {any} */ res) => {
    let body = ''
    req.on('data', (/** @type {any} */ piece) => { body += piece }).on('end', () => res.end(`read ${body}`))
  }
  const lenient = await dial(t, await serve(t, http.createServer({ insecureHTTPParser: true }, handler)))
  lenient.write(bytes)
  await lenient.until('read ok')
  const strict = await dial(t, await serve(t, http.createServer(handler)))
  strict.write(bytes)
  assert.match(await strict.untilClosed(), /^HTTP\/1\.1 400 Bad Request\r\n/)
})

test('a server with insecureHTTPParser closes as any other', async () => {
  const server = http.createServer({ insecureHTTPParser: true }, (req, res) => res.end('x'))
  const port = await listen(server)
  assert.equal((await request(port)).body, 'x')
  await stop(server)
  await assert.rejects(request(port), { code: 'ECONNREFUSED' })
})

test('a tunnel that the server gets back by emit("connection") carries requests, with keep-alive and bodies', async (t) => {
  const server = http.createServer((req, res) => {
    let body = ''
    req.setEncoding('utf8').on('data', (piece) => { body += piece }).on('end', () => res.end(`${req.method} ${req.url} ${body}.`))
  })
  server.on('connect', (req, socket) => {
    socket.write('HTTP/1.1 200 Connection Established\r\n\r\n')
    server.emit('connection', socket)
  })
  const port = await serve(t, server)
  const wire = await dial(t, port)
  wire.write('CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n')
  await wire.until('Established\r\n\r\n')
  wire.write('POST /in HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nbody')
  await wire.until('POST /in body.')
  wire.write(get('/again').replace('Host', 'Connection: close\r\nHost'))
  assert.match(await wire.untilClosed(), /GET \/again \.$/)
})

/** Kinds of servers whose own listener can be removed, and the event of that listener. */
const kOwnListeners = /** @type {const} */ ([['http', 'connection'], ['https', 'connection'], ['https', 'secureConnection']])

const kMoments = /** @type {const} */ (['before listen()', 'right after listen()', 'while the server listens'])

/** @param {import('node:net').Socket} client @param {string} text that it sends @returns {Promise<string>} the whole answer */
async function converse (client, text) {
  client.write(text)
  let answer = ''
  for await (const chunk of client) answer += chunk
  return answer
}

for (const [kind, event] of kOwnListeners) {
  const isSecure = event === 'secureConnection'
  const dialRaw = (/** @type {number} */ port) => isSecure ? nodeTls.connect({ port, rejectUnauthorized: false }) : net.connect(port)
  const create = () => kind === 'http' ? http.createServer((req, res) => res.end('HTTP')) : https.createServer(certificate('localhost'), (req, res) => res.end('HTTP'))

  for (const moment of kMoments) {
    test(`${kind}: a '${event}' listener in place of the server's own reads the bytes, if it is put there ${moment}`, needs('listensOnSockets'), async (t) => {
      const server = create()
      t.after(() => server.close())
      const replace = () => {
        server.removeAllListeners(event)
        server.on(event, (socket) => socket.once('data', (/** @type {Buffer} */ data) => socket.end(`raw: ${data}`)))
      }
      if (moment === kMoments[0]) replace()
      server.listen(0)
      if (moment === kMoments[1]) replace()
      await once(server, 'listening')
      if (moment === kMoments[2]) replace()
      const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
      assert.equal(await converse(dialRaw(port), 'hello'), 'raw: hello')
      assert.equal(await converse(dialRaw(port), 'again'), 'raw: again')
      const closed = once(server, 'close')
      server.close()
      await closed
    })
  }

  test(`${kind}: the server's own '${event}' listener, called by one in its place, serves HTTP`, needs('listensOnSockets'), async (t) => {
    const server = create()
    const own = server.listeners(event)
    server.removeAllListeners(event)
    server.on(event, (socket) => { for (const listener of own) listener.call(server, socket) })
    t.after(() => server.close())
    server.listen(0)
    await once(server, 'listening')
    const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
    const client = kind === 'https' ? nodeTls.connect({ port, rejectUnauthorized: false }) : net.connect(port)
    assert.match(await converse(client, 'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'), /^HTTP\/1\.1 200 OK[^]*\r\n\r\nHTTP$/)
  })
}
