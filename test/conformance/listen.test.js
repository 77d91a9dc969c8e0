'use strict'

// Goal: every form of listen() that Node documents does the same here, errors included.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const fs = require('node:fs')
const net = require('node:net')
const os = require('node:os')
const path = require('node:path')
const { once } = require('node:events')
const { http } = require('../helpers/backend')
const { listen, request, serve, stop } = require('../helpers/client')
const { startChild } = require('../helpers/child')
const { freePort } = require('../helpers/free-port')

/** @param {string} [text] */
function hello (text = 'hello') {
  return http.createServer((req, res) => res.end(text))
}

/** @param {import('node:test').TestContext} t */
function temporaryPath (t) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'httpsys-'))
  t.after(() => fs.rmSync(folder, { recursive: true, force: true }))
  return path.join(folder, 's')
}

/** @param {any} server @returns {Promise<any>} */
async function listenError (server, ...args) {
  server.listen(...args)
  return (await once(server, 'error'))[0]
}

test('listen(0) takes a free port, and address() names it in the same tick', async (t) => {
  const server = hello()
  t.after(() => stop(server))
  assert.equal(server.address(), null)
  assert.equal(server.listen(0), server)
  const address = /** @type {net.AddressInfo} */ (server.address())
  assert.ok(address.port > 0)
  assert.deepEqual(address, { address: '::', family: 'IPv6', port: address.port })
  assert.equal(server.listening, true)
  assert.equal((await request(address.port)).body, 'hello')
})

test('listen() without arguments takes a free port', async (t) => {
  const server = hello()
  t.after(() => stop(server))
  server.listen()
  await once(server, 'listening')
  assert.equal((await request(/** @type {net.AddressInfo} */ (server.address()).port)).status, 200)
})

test('"listening" and the callback come in a later tick, with the server as this', async (t) => {
  const server = hello()
  t.after(() => stop(server))
  const order = /** @type {string[]} */ ([])
  await /** @type {Promise<void>} */ (new Promise((resolve) => {
    server.on('listening', () => order.push('event'))
    server.listen(0, function () {
      order.push('callback')
      assert.equal(this, server)
      setImmediate(resolve)
    })
    order.push('returned')
  }))
  assert.deepEqual(order, ['returned', 'event', 'callback'])
})

test('a port given as a numeric string is a port', async (t) => {
  const server = hello()
  t.after(() => stop(server))
  server.listen('0')
  await once(server, 'listening')
  const { port } = /** @type {net.AddressInfo} */ (server.address())
  assert.equal((await request(port)).body, 'hello')
})

test('a fixed port is served after another server has left it', async (t) => {
  const port = await freePort()
  const first = hello('first')
  assert.equal(await listen(first, port), port)
  assert.equal((await request(port)).body, 'first')
  await stop(first)
  const second = hello('second')
  assert.equal(await serve(t, second, port), port)
  assert.equal((await request(port)).body, 'second')
})

test('a host limits the address, and address() says which', async (t) => {
  const server = hello()
  const port = await serve(t, server, 0, '127.0.0.1')
  assert.deepEqual(server.address(), { address: '127.0.0.1', family: 'IPv4', port })
  await assert.rejects(request({ host: '::1', port }), { code: 'ECONNREFUSED' })
})

test('listen(port, host, backlog, callback) and listen(port, backlog) are understood', async (t) => {
  const first = hello()
  t.after(() => stop(first))
  await /** @type {Promise<void>} */ (new Promise((resolve) => first.listen(0, '127.0.0.1', 5, resolve)))
  assert.equal(/** @type {any} */ (first.address()).address, '127.0.0.1')
  const second = hello()
  const port = await serve(t, second, 0, 5)
  assert.equal((await request(port)).body, 'hello')
})

test('without a host IPv4 and IPv6 clients both reach the server', async (t) => {
  const port = await serve(t, http.createServer((req, res) => {
    res.end(`${req.socket.remoteFamily} ${req.socket.remoteAddress}`)
  }), 0)
  assert.equal((await request({ host: '127.0.0.1', port })).body, 'IPv6 ::ffff:127.0.0.1')
  assert.equal((await request({ host: '::1', port })).body, 'IPv6 ::1')
})

test('ipv6Only leaves IPv4 to another server', async (t) => {
  const six = hello('six')
  const port = await serve(t, six, { port: 0, host: '::', ipv6Only: true })
  await assert.rejects(request({ host: '127.0.0.1', port }), { code: 'ECONNREFUSED' })
  await serve(t, hello('four'), { port, host: '0.0.0.0' })
  assert.equal((await request({ host: '127.0.0.1', port })).body, 'four')
  assert.equal((await request({ host: '::1', port })).body, 'six')
})

test('a host name is looked up first', async (t) => {
  const server = hello()
  server.listen(0, 'localhost')
  t.after(() => stop(server))
  assert.equal(server.address(), null)
  await once(server, 'listening')
  const address = /** @type {net.AddressInfo} */ (server.address())
  assert.ok(['127.0.0.1', '::1'].includes(address.address))
  assert.equal((await request({ host: address.address, port: address.port })).body, 'hello')
})

test('a host name that does not exist is an error event', async () => {
  const error = await listenError(http.createServer(), 0, 'no-such-host.invalid')
  assert.ok(['ENOTFOUND', 'EAI_AGAIN'].includes(error.code))
  assert.equal(error.syscall, 'getaddrinfo')
  assert.equal(error.hostname, 'no-such-host.invalid')
})

test('a Unix path is served, address() is the path, and close() removes the file', async (t) => {
  const file = temporaryPath(t)
  const server = hello()
  server.listen(file)
  await once(server, 'listening')
  assert.equal(server.address(), file)
  assert.ok(fs.statSync(file).isSocket())
  assert.equal((await request({ socketPath: file })).body, 'hello')
  await stop(server)
  assert.equal(fs.existsSync(file), false)
})

test('readableAll and writableAll set the mode of a Unix socket', async (t) => {
  const file = temporaryPath(t)
  const server = hello()
  await serve(t, server, { path: file, readableAll: true, writableAll: true })
  assert.equal(fs.statSync(file).mode & 0o666, 0o666)
  assert.equal((await request({ socketPath: file })).body, 'hello')
})

test('connections over a Unix socket have no addresses', async (t) => {
  const file = temporaryPath(t)
  await serve(t, http.createServer(({ socket }, res) => {
    res.end(JSON.stringify([socket.remoteAddress, socket.remotePort, socket.localPort].map(String)))
  }), { path: file })
  assert.deepEqual(JSON.parse((await request({ socketPath: file })).body), ['undefined', 'undefined', 'undefined'])
})

test('an abstract Unix socket is served', { skip: process.platform !== 'linux' && 'Linux only' }, async (t) => {
  const name = `\0httpsys-test-${process.pid}`
  const server = hello()
  await serve(t, server, { path: name })
  assert.equal((await request({ socketPath: name })).body, 'hello')
})

test('an inherited descriptor is served, as systemd passes it', async (t) => {
  const holder = net.createServer()
  const port = await listen(holder, 0, '127.0.0.1')
  const child = startChild(({ http, report }) => {
    const server = http.createServer((req, res) => {
      res.end('inherited')
      server.close()
    })
    server.listen({ fd: 4 }, () => report({ address: server.address() }))
  }, { fds: [(holder)._handle.fd] })
  assert.deepEqual(await child.message('address'), { address: '127.0.0.1', family: 'IPv4', port })
  await new Promise((resolve) => holder.close(resolve))
  assert.equal((await request(port)).body, 'inherited')
  const { code, stderr } = await child.exit
  assert.equal(code, 0, stderr)
})

test('a descriptor that is no socket is an error event', async (t) => {
  const fd = fs.openSync(__filename, 'r')
  t.after(() => fs.closeSync(fd))
  const error = await listenError(http.createServer(), { fd })
  assert.equal(error.code, 'EINVAL')
  assert.equal(error.syscall, 'listen')
})

test('another server can be listened on: both share its handle', async (t) => {
  const holder = net.createServer()
  const port = await listen(holder, 0, '127.0.0.1')
  const server = hello()
  await serve(t, server, holder)
  assert.deepEqual(server.address(), { address: '127.0.0.1', family: 'IPv4', port })
  assert.equal((await request(port)).body, 'hello')
})

test('a bare handle can be listened on', async (t) => {
  const holder = net.createServer()
  const port = await listen(holder, 0, '127.0.0.1')
  const server = hello()
  await serve(t, server, /** @type {any} */ (holder)._handle)
  assert.equal(/** @type {any} */ (server.address()).port, port)
  assert.equal((await request(port)).body, 'hello')
})

test('an aborted signal closes the server', async (t) => {
  const controller = new AbortController()
  const server = hello()
  const port = await serve(t, server, { port: 0, host: '127.0.0.1', signal: controller.signal })
  assert.equal((await request(port)).status, 200)
  const closed = once(server, 'close')
  controller.abort()
  await closed
  await assert.rejects(request(port), { code: 'ECONNREFUSED' })
})

test('a signal aborted before listen() closes the server at once', async () => {
  const server = hello()
  const closed = once(server, 'close')
  server.listen({ port: 0, signal: AbortSignal.abort() })
  await closed
  assert.equal(server.listening, false)
})

test('exclusive is accepted outside a cluster', async (t) => {
  const port = await serve(t, hello(), { port: 0, host: '127.0.0.1', exclusive: true, backlog: 16 })
  assert.equal((await request(port)).body, 'hello')
})

test('a port in use is an EADDRINUSE event with Node\'s fields', async (t) => {
  const port = await serve(t, hello(), 0, '127.0.0.1')
  const server = http.createServer()
  const error = await listenError(server, port, '127.0.0.1')
  assert.equal(error.code, 'EADDRINUSE')
  assert.equal(error.errno, -os.constants.errno.EADDRINUSE)
  assert.equal(error.syscall, 'listen')
  assert.equal(error.address, '127.0.0.1')
  assert.equal(error.port, port)
  assert.equal(error.message, `listen EADDRINUSE: address already in use 127.0.0.1:${port}`)
  assert.deepEqual(Object.keys(error), ['code', 'errno', 'syscall', 'address', 'port'])
  assert.equal(server.listening, false)
  assert.equal(server.address(), null)
})

test('a port in use without a host names the unspecified address', async (t) => {
  const port = await serve(t, hello(), 0)
  const error = await listenError(http.createServer(), port)
  assert.equal(error.code, 'EADDRINUSE')
  assert.equal(error.message, `listen EADDRINUSE: address already in use :::${port}`)
})

test('a port in use is no reason to give up: the server may listen elsewhere afterwards', async (t) => {
  const taken = await serve(t, hello(), 0, '127.0.0.1')
  const server = hello('moved')
  await listenError(server, taken, '127.0.0.1')
  const port = await serve(t, server, 0, '127.0.0.1')
  assert.equal((await request(port)).body, 'moved')
})

test('a Unix path in use and one in a missing folder are EADDRINUSE and EACCES', async (t) => {
  const file = temporaryPath(t)
  await serve(t, hello(), { path: file })
  const inUse = await listenError(http.createServer(), file)
  assert.equal(inUse.message, `listen EADDRINUSE: address already in use ${file}`)
  assert.equal(inUse.address, file)
  assert.equal(inUse.port, -1)
  const denied = await listenError(http.createServer(), path.join(file, 'missing', 's'))
  assert.ok(['EACCES', 'ENOTDIR'].includes(denied.code))
  assert.equal(denied.syscall, 'listen')
})

test('an address that is not ours is EADDRNOTAVAIL', async () => {
  const error = await listenError(http.createServer(), 0, '192.0.2.1')
  assert.equal(error.code, 'EADDRNOTAVAIL')
  assert.equal(error.message, 'listen EADDRNOTAVAIL: address not available 192.0.2.1')
})

test('a privileged port is EACCES', {
  skip: (process.platform !== 'linux' || Number(fs.readFileSync('/proc/sys/net/ipv4/ip_unprivileged_port_start', 'utf8')) <= 1) &&
    'every port is open to everybody here'
}, async () => {
  const child = startChild(({ http, report }) => {
    const server = http.createServer()
    // Loads what listening needs while files can still be read.
    server.listen(0, () => server.close(() => {
      if (process.getuid?.() === 0) process.setuid?.(65534)
      server.once('error', (/** @type {any} */ { message, code, errno, syscall, address, port }) => {
        report({ error: { message, code, errno, syscall, address, port } })
      })
      server.listen(1, '127.0.0.1')
    }))
  })
  const { message, ...error } = await child.message('error')
  // The engine adds what to do.
  assert.ok(message.startsWith('listen EACCES: permission denied 127.0.0.1:1'), message)
  assert.deepEqual(error, {
    code: 'EACCES',
    errno: -13,
    syscall: 'listen',
    address: '127.0.0.1',
    port: 1
  })
  await child.exit
})

test('an error without a listener for it is thrown', async (t) => {
  const port = await serve(t, hello(), 0, '127.0.0.1')
  const child = startChild(({ http, args }) => {
    http.createServer().listen(args[0], '127.0.0.1')
  }, { args: [port] })
  const { code, stderr } = await child.exit
  assert.equal(code, 1)
  assert.match(stderr, /Error: listen EADDRINUSE: address already in use 127\.0\.0\.1/)
})

test('listening twice throws ERR_SERVER_ALREADY_LISTEN', async (t) => {
  const server = hello()
  t.after(() => stop(server))
  server.listen(0)
  assert.throws(() => server.listen(0), {
    code: 'ERR_SERVER_ALREADY_LISTEN',
    message: 'Listen method has been called more than once without closing.'
  })
  await once(server, 'listening')
  assert.equal((await request(/** @type {net.AddressInfo} */ (server.address()).port)).status, 200)
})

test('a second listen() that throws leaves the prefixes of the first as they are', async (t) => {
  const server = hello()
  const port = await freePort()
  await serve(t, server, `http://127.0.0.1:${port}/shop/`)
  const outside = async () => (await request({ port, path: '/elsewhere' })).status
  const before = await outside()
  assert.throws(() => server.listen(port), { code: 'ERR_SERVER_ALREADY_LISTEN' })
  // The lanes hear of settings again when this list changes.
  server.on('clientError', () => {})
  assert.equal(await outside(), before)
  assert.equal((await request({ port, path: '/shop/' })).status, 200)
})

test('prefixes on several ports are served where there is no IPv6', async () => {
  const child = startChild(({ http, report, args }) => {
    const server = http.createServer((req, res) => res.end('x'))
    server.on('error', (error) => report({ end: error.message }))
    server.listen(args.map((port) => `http://*:${port}/`), () => report({ end: 'listening' }))
  }, { args: [await freePort(), await freePort()], flags: ['--require', path.join(__dirname, '..', 'fixtures', 'no-ipv6.js')] })
  assert.equal(await child.message('end'), 'listening')
  await child.kill()
})

test('a closed server may listen again, ten times over', async () => {
  const server = hello()
  for (let i = 0; i < 10; i++) {
    const port = await listen(server, 0, '127.0.0.1')
    assert.equal((await request(port)).body, 'hello')
    await stop(server)
    assert.equal(server.address(), null)
  }
})

test('listen() and close() in one tick leave nothing behind', async () => {
  const server = hello()
  const events = /** @type {string[]} */ ([])
  server.on('listening', () => events.push('listening'))
  server.listen(0)
  server.close((error) => events.push(`closed ${error}`))
  await once(server, 'close')
  assert.equal(server.listening, false)
  assert.deepEqual(events.filter((name) => name !== 'listening'), ['closed undefined'])
})

for (const [args, code] of /** @type {[any[], string][]} */ ([
  [[65536], 'ERR_SOCKET_BAD_PORT'],
  [[-1], 'ERR_SOCKET_BAD_PORT'],
  [[1.5], 'ERR_SOCKET_BAD_PORT'],
  [[NaN], 'ERR_SOCKET_BAD_PORT'],
  [[{ port: 'many' }], 'ERR_SOCKET_BAD_PORT'],
  [[{ port: 70000 }], 'ERR_SOCKET_BAD_PORT'],
  [[{}], 'ERR_INVALID_ARG_VALUE'],
  [[{ host: '127.0.0.1' }], 'ERR_INVALID_ARG_VALUE'],
  [[{ fd: -1 }], 'ERR_INVALID_ARG_VALUE'],
  [[true], 'ERR_INVALID_ARG_VALUE'],
  [[{ port: 0, signal: 'INVALID' }], 'ERR_INVALID_ARG_TYPE']
])) {
  test(`listen(${JSON.stringify(args[0]) ?? args[0]}) throws ${code}`, () => {
    const server = http.createServer()
    assert.throws(() => server.listen(...args), { code })
    assert.equal(server.listening, false)
  })
}

test('many servers of one process each answer on their own port', async (t) => {
  const ports = await Promise.all(Array.from({ length: 20 }, (_, i) => serve(t, hello(`server ${i}`), 0, '127.0.0.1')))
  const answers = await Promise.all(ports.map((port) => request(port)))
  assert.deepEqual(answers.map(({ body }) => body), ports.map((_, i) => `server ${i}`))
})

test('a connection burst beyond the backlog is served whole', async (t) => {
  const port = await serve(t, hello(), 0, '127.0.0.1')
  const answers = await Promise.all(Array.from({ length: 200 }, () => request(port)))
  assert.ok(answers.every(({ body }) => body === 'hello'))
})
