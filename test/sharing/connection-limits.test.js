'use strict'

// maxConnectionsPerAddress and maxConnectionsPerPrefix: on ports that one process has, and on ports that processes share.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const net = require('node:net')
const os = require('node:os')
const path = require('node:path')
const { once } = require('node:events')
const { describe, it } = require('node:test')
const core = require('@httpsys/core-native')
const { certificate } = require('../helpers/certificates')
const { freePort } = require('../helpers/free-port')
const { Member, connect, kSkip, session, until } = require('./kit')

/** @typedef {import('node:test').TestContext} Context */

const kTrusting = { servername: 'a.test', ca: [certificate('a.test').cert] }

/** A server of this process. @param {Context} t @param {object} options @param {...any} on */
async function serve (t, options, ...on) {
  const server = /** @type {any} */ (core).createServer(options, (/** @type {any} */ req, /** @type {any} */ res) => {
    if (!req.url.endsWith('/held')) res.end(`here ${process.pid}`)
  })
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  server.listen(...on)
  await once(server, 'listening')
  return server
}

/** A process with a server. @param {Context} t @param {string} name @param {object} options @param {...any} on */
async function member (t, name, options, ...on) {
  const one = new Member()
  t.after(() => one.kill())
  await one.tell('listen', { name, options, on })
  return one
}

/** Whether a new connection gets an answer, or is closed without one. @param {Context} t @param {number} port @param {string} [localAddress] */
async function isServed (t, port, localAddress) {
  const socket = net.connect({ port, host: '127.0.0.1', localAddress })
  t.after(() => socket.destroy())
  socket.on('error', () => {})
  socket.write('GET / HTTP/1.1\r\nHost: a.test\r\n\r\n')
  const piece = await new Promise((resolve) => socket.once('data', resolve).once('close', () => resolve('')))
  return { socket, served: String(piece).startsWith('HTTP/1.1 200') }
}

/** @param {import('node:http2').ClientHttp2Session} client @param {string} target @param {string} [authority] @returns {Promise<{ status: number, text: string }>} */
async function askStream (client, target, authority = 'a.test') {
  const stream = client.request({ ':path': target, ':authority': authority })
  let text = ''
  stream.on('data', (piece) => { text += piece })
  const [[headers]] = await Promise.all([once(stream, 'response'), once(stream, 'end')])
  return { status: headers[':status'], text }
}

describe('maxConnectionsPerAddress', { skip: kSkip }, () => {
  it('closes a further connection of the same address, and serves others', async (t) => {
    const server = await serve(t, { maxConnectionsPerAddress: 2 }, 0, '127.0.0.1')
    const { port } = server.address()
    const first = await isServed(t, port)
    assert.ok(first.served)
    assert.ok((await isServed(t, port)).served)
    for (let i = 0; i < 5; i++) assert.ok(!(await isServed(t, port)).served)
    assert.ok((await isServed(t, port, '127.0.0.2')).served)
    first.socket.destroy()
    await until(async () => (await isServed(t, port)).served, 'the place of the connection that has ended is free')
    assert.equal(await new Promise((resolve) => server.getConnections((/** @type {any} */ _, /** @type {number} */ count) => resolve(count))), 3)
  })

  it('counts connections without a request, and forgets those that end in any way', async (t) => {
    const server = await serve(t, { maxConnectionsPerAddress: 3 }, 0, '127.0.0.1')
    const { port } = server.address()
    for (let round = 0; round < 10; round++) {
      const silent = Array.from({ length: 3 }, () => net.connect({ port, host: '127.0.0.1' }).on('error', () => {}))
      await Promise.all(silent.map((socket) => once(socket, 'connect')))
      assert.ok(!(await isServed(t, port)).served)
      silent[0].destroy()
      silent[1].resetAndDestroy()
      silent[2].end('nonsense\r\n\r\n')
      await until(async () => {
        const { socket, served } = await isServed(t, port)
        socket.destroy()
        return served
      }, 'all have left')
      await until(async () => {
        const all = await Promise.all([1, 2, 3].map(() => isServed(t, port)))
        for (const { socket } of all) socket.destroy()
        return all.every(({ served }) => served)
      }, 'there is room for three')
      await until(async () => await new Promise((resolve) => server.getConnections((/** @type {any} */ _, /** @type {number} */ count) => resolve(count === 0))), 'all have left')
    }
  })

  it('counts an upgraded connection until its end', async (t) => {
    const server = await serve(t, { maxConnectionsPerAddress: 1 }, 0, '127.0.0.1')
    server.on('upgrade', (/** @type {any} */ _, /** @type {any} */ socket) => {
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: own\r\n\r\n')
      socket.resume().on('error', () => {}).on('end', () => socket.end())
    })
    const { port } = server.address()
    const socket = net.connect({ port, host: '127.0.0.1' })
    socket.write('GET / HTTP/1.1\r\nHost: a.test\r\nConnection: Upgrade\r\nUpgrade: own\r\n\r\n')
    await once(socket, 'data')
    assert.ok(!(await isServed(t, port)).served)
    socket.destroy()
    await until(async () => (await isServed(t, port)).served, 'it has ended')
  })

  it('refuses before the handshake of TLS', async (t) => {
    const port = await freePort()
    const one = await member(t, 'a', { maxConnectionsPerAddress: 1 }, `https://a.test:${port}/`, certificate('a.test'))
    const client = await connect(t, port, undefined, kTrusting)
    assert.equal((await client.request('/x', { host: 'a.test' })).owner, 'a')
    await assert.rejects(connect(t, port, undefined, kTrusting), /ECONNRESET|disconnected/)
    await client.destroy()
    await until(() => connect(t, port, undefined, kTrusting).then(() => true, () => false), 'it has ended')
    assert.equal(await one.tell('requests'), 1)
  })

  it('is that of the server which a connection moves to', async (t) => {
    const port = await freePort()
    await member(t, 'lax', {}, `http://*:${port}/lax/`)
    await member(t, 'strict', { maxConnectionsPerAddress: 2 }, `http://*:${port}/strict/`)
    const clients = await Promise.all(Array.from({ length: 6 }, () => connect(t, port)))
    /** @type {typeof clients} */
    const inside = []
    for (const client of clients) {
      // Whoever accepts it: it belongs to the first one before it goes to the other.
      if (!client.isOpen) continue
      const first = await client.request('/lax/').catch(() => null)
      if (first === null) continue
      assert.equal(first.owner, 'lax')
      const { status, body, headers } = await client.request('/strict/')
      if (status === 200) {
        inside.push(client)
      } else {
        assert.deepEqual([status, headers.connection], [503, 'close'])
        assert.match(body, /ConnLimit/)
        await client.closed
      }
    }
    assert.equal(inside.length, 2)
    assert.equal((await inside[0].request('/lax/')).owner, 'lax')
    const next = await connect(t, port)
    assert.equal((await next.request('/lax/')).owner, 'lax')
    assert.equal((await next.request('/strict/')).owner, 'strict', 'one has left the server')
  })
})

describe('maxConnectionsPerPrefix', { skip: kSkip }, () => {
  it('counts a connection for the prefix of its last request', async (t) => {
    const port = await freePort()
    await serve(t, { maxConnectionsPerPrefix: 1 }, [`http://*:${port}/a/`, `http://*:${port}/b/`])
    const [one, two] = [await connect(t, port), await connect(t, port)]
    for (let i = 0; i < 3; i++) {
      assert.equal((await one.request('/a/')).status, 200)
      assert.equal((await two.request('/b/')).status, 200)
    }
    const third = await connect(t, port)
    const { status, body, headers } = await third.request('/a/')
    assert.deepEqual([status, headers.connection], [503, 'close'])
    assert.match(body, /Service Unavailable.*ConnLimit/s)
    await third.closed
    await two.destroy()
    await until(async () => {
      const { status } = await one.request('/b/').catch(() => ({ status: 0 }))
      return status === 200
    }, 'the place on the other prefix is free')
    assert.equal((await (await connect(t, port)).request('/a/')).status, 200, 'the connection has left the first one')
  })

  it('counts for all of the port where the server has no prefix', async (t) => {
    const server = await serve(t, { maxConnectionsPerPrefix: 2 }, 0, '127.0.0.1')
    const { port } = server.address()
    const clients = await Promise.all([connect(t, port), connect(t, port), connect(t, port)])
    const statuses = []
    for (const client of clients) statuses.push((await client.request('/')).status)
    assert.deepEqual(statuses, [200, 200, 503])
  })

  it('counts what other processes relay once for each connection of a client', async (t) => {
    const port = await freePort()
    await member(t, 'front', {}, `https://a.test:${port}/`, certificate('a.test'))
    const back = await member(t, 'back', { maxConnectionsPerPrefix: 1 }, `https://*:${port}/back/`, certificate('a.test'))
    const [one, two] = [await session(t, port, kTrusting), await session(t, port, kTrusting)]
    const answers = await Promise.all(Array.from({ length: 8 }, () => askStream(one, '/back/?ms=50', 'other.test')))
    assert.deepEqual(answers.map(({ status, text }) => [status, text.split(' ')[0]]), Array(8).fill([200, 'back']))
    const held = askStream(one, '/back/?ms=2000', 'other.test')
    await until(async () => await back.tell('requests') === 9, 'the request has come')
    const refused = await askStream(two, '/back/', 'other.test')
    assert.equal(refused.status, 503)
    assert.match(refused.text, /ConnLimit/)
    assert.equal((await askStream(two, '/', 'a.test')).status, 200, 'the connection of HTTP/2 lives')
    assert.equal((await held).status, 200)
    await until(async () => (await askStream(two, '/back/', 'other.test')).status === 200, 'its place is free')
  })

  it('counts a connection of HTTP/2 for each prefix that it has asked for', async (t) => {
    const port = await freePort()
    await member(t, 'a', { maxConnectionsPerPrefix: 1 }, [`https://a.test:${port}/a/`, `https://a.test:${port}/b/`], certificate('a.test'))
    const [one, two] = [await session(t, port, kTrusting), await session(t, port, kTrusting)]
    for (const target of ['/a/', '/b/', '/a/']) assert.equal((await askStream(one, target)).status, 200)
    for (const target of ['/a/', '/b/']) assert.equal((await askStream(two, target)).status, 503)
    one.destroy()
    await until(async () => (await askStream(two, '/a/')).status === 200, 'the place is free')
  })

  it('is that of the process to which connections go', async (t) => {
    const port = await freePort()
    await member(t, 'lax', {}, `http://*:${port}/lax/`)
    const strict = await member(t, 'strict', { maxConnectionsPerPrefix: 3 }, `http://*:${port}/strict/`)
    const clients = await Promise.all(Array.from({ length: 10 }, () => connect(t, port)))
    const answers = await Promise.all(clients.map((client) => client.request('/strict/')))
    assert.equal(answers.filter(({ status }) => status === 200).length, 3)
    assert.equal(answers.filter(({ status, headers }) => status === 503 && headers.connection === 'close').length, 7)
    assert.equal(await strict.tell('requests'), 3)
    assert.equal((await (await connect(t, port)).request('/lax/')).status, 200)
  })
})

describe('the numbers of connections', { skip: kSkip }, () => {
  it('are in the error log where they are too high', async (t) => {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'httpsys-log-'))
    const file = path.join(folder, 'error.log')
    const port = await freePort()
    const one = new Member({ HTTPSYS_ERROR_LOG: file })
    t.after(async () => {
      await one.kill()
      fs.rmSync(folder, { recursive: true })
    })
    await one.tell('listen', { name: 'one', options: { maxConnectionsPerAddress: 2, maxConnectionsPerPrefix: 1 }, on: [`http://*:${port}/a/`] })
    const [first, second] = [await connect(t, port), await connect(t, port)]
    assert.equal((await first.request('/a/1')).status, 200)
    assert.equal((await second.request('/a/2')).status, 503)
    await second.closed
    await connect(t, port)
    assert.ok((await isServed(t, port)).served === false)
    const lines = () => fs.readFileSync(file, 'latin1').split('\n').filter((line) => line !== '' && !line.startsWith('#'))
    await until(() => lines().length === 2, 'both are logged')
    assert.match(lines()[0], /127\.0\.0\.1 \d+ \S*127\.0\.0\.1 \d+ HTTP\/1\.1 GET \/a\/2 503 1 ConnLimit$/)
    assert.match(lines()[1], /127\.0\.0\.1 \d+ \S*127\.0\.0\.1 \d+ - - - - 1 ConnLimit$/)
  })

  it('have limits that are whole numbers', () => {
    const { createServer } = /** @type {any} */ (core)
    for (const name of ['maxConnectionsPerAddress', 'maxConnectionsPerPrefix']) {
      assert.throws(() => createServer({ [name]: -1 }), { code: 'ERR_OUT_OF_RANGE' })
      assert.throws(() => createServer({ [name]: 1.5 }), { code: 'ERR_OUT_OF_RANGE' })
      assert.throws(() => createServer({ [name]: '1' }), { code: 'ERR_INVALID_ARG_TYPE' })
      assert.throws(() => createServer({ [name.toLowerCase()]: 1 }), { code: 'ERR_HTTPSYS_OPTION' })
    }
  })
})
