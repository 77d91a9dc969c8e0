'use strict'

// Processes that share a port with TLS: a connection goes to whoever has its certificate, untouched; requests
// for others on it are relayed.

const assert = require('node:assert/strict')
const crypto = require('node:crypto')
const http2 = require('node:http2')
const net = require('node:net')
const { once } = require('node:events')
const { describe, it } = require('node:test')
const { certificate } = require('../helpers/certificates')
const { freePort } = require('../helpers/free-port')
const { apart, knowsEnds } = require('../helpers/waiting')
const { Client, Load, connect, kSkip, member, readByPeer, stateOf } = require('./kit')

const kMegabyte = 1024 * 1024

/** @param {string} text */
const sumOf = (text) => crypto.createHash('sha1').update(text, 'latin1').digest('hex')

/** @param {string} [servername] */
const trusting = (servername = 'shared.test') => ({
  servername, ca: ['shared.test', 'a.test', 'b.test'].map((name) => certificate(name).cert)
})

/**
 * A process for each name, on a prefix of its name, all with one certificate.
 *
 * @param {import('node:test').TestContext} t @param {string[]} names
 */
async function membersOn (t, ...names) {
  const port = await freePort()
  const members = []
  for (const name of names) members.push(await member(t, name, `https://*:${port}/${name}/`, certificate('shared.test')))
  return { port, members }
}

/** Connections on which one or another process has the TLS. @param {import('node:test').TestContext} t @param {number} port */
function several (t, port) {
  return Promise.all(Array.from({ length: 8 }, () => connect(t, port, undefined, trusting())))
}

describe('Processes on https prefixes of one port', { skip: kSkip }, () => {
  it('each get their requests, whoever has the connection', async (t) => {
    const { port } = await membersOn(t, 'a', 'b', 'c')
    for (const client of await several(t, port)) {
      for (const name of ['a', 'b', 'b', 'c', 'a']) {
        const { status, owner, body } = await client.request(`/${name}/x`)
        assert.deepEqual([status, owner, body.split(' ')[4]], [200, name, `/${name}/x`])
      }
      assert.equal((await client.request('/d/')).status, 404)
    }
  })

  it('learn which part of a relayed path was their prefix', async (t) => {
    const { port } = await membersOn(t, 'a', 'b')
    const kTargets = [['/a/x', '/a'], ['/A/x?y', '/A'], ['/x/../%62/x', '/x/../%62'], ['/B', '/B']]
    for (const client of await several(t, port)) {
      for (const [target, matched] of kTargets) {
        const { status, headers } = await client.request(target)
        assert.deepEqual([status, headers['x-prefix-path']], [200, matched])
      }
    }
    const session = http2.connect(`https://127.0.0.1:${port}`, trusting())
    t.after(() => session.destroy())
    for (const [target, matched] of kTargets) {
      const stream = session.request({ ':path': target, ':authority': 'shared.test' })
      const [headers] = await once(stream, 'response')
      assert.deepEqual([headers[':status'], headers['x-prefix-path']], [200, matched])
      stream.resume()
    }
  })

  it('answer pipelined requests in order', async (t) => {
    const { port } = await membersOn(t, 'a', 'b')
    const targets = ['/a/1?ms=30', '/b/2', '/b/3?ms=10', '/a/4', '/nobody', '/b/5']
    for (const client of await several(t, port)) {
      const answers = await Promise.all(client.send(
        targets.map((target) => `GET ${target} HTTP/1.1\r\nHost: shared.test\r\n\r\n`).join(''), targets.length))
      assert.deepEqual(answers.map(({ status, body }) => status === 200 ? body.split(' ')[4] : status),
        targets.map((target) => target === '/nobody' ? 404 : target))
    }
  })

  it('get bodies of any size, with and without a length, while the client waits for 100 Continue or not', async (t) => {
    const { port } = await membersOn(t, 'a', 'b')
    const body = crypto.randomBytes(kMegabyte).toString('latin1')
    const chunks = `3\r\nabc\r\n${(100_000).toString(16)}\r\n${'x'.repeat(100_000)}\r\n0\r\nX-Trailer: t\r\n\r\n`
    for (const client of await several(t, port)) {
      for (const name of ['a', 'b']) {
        const large = await client.request(`/${name}/`, { method: 'POST', body })
        assert.deepEqual([large.owner, ...large.body.split(' ').slice(5)], [name, String(kMegabyte), sumOf(body)])
        const head = `POST /${name}/ HTTP/1.1\r\nHost: shared.test\r\nTransfer-Encoding: chunked\r\n\r\n`
        const [chunked] = client.send(head + chunks.slice(0, 5000))
        await apart(5)
        client.socket.write(chunks.slice(5000), 'latin1')
        const { owner, body: text } = await chunked
        assert.deepEqual([owner, ...text.split(' ').slice(5)], [name, '100003', sumOf('abc' + 'x'.repeat(100_000))])
      }
    }
  })

  it('upgrade connections that another one has', async (t) => {
    const { port } = await membersOn(t, 'a', 'b')
    for (const name of ['a', 'b', 'a', 'b', 'a', 'b']) {
      const { socket } = new Client(port, undefined, trusting())
      socket.removeAllListeners('data')
      t.after(() => socket.destroy())
      let text = ''
      socket.on('data', (piece) => { text += piece.toString('latin1') })
      const until = async (/** @type {RegExp} */ wanted) => { while (!wanted.test(text)) await once(socket, 'data') }
      socket.write(`GET /${name}/ HTTP/1.1\r\nHost: shared.test\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\nfirst`)
      await until(/^HTTP\/1.1 101 [^]*first/)
      assert.match(text, new RegExp(`X-Owner: ${name}\r\n`))
      socket.write('y'.repeat(300_000))
      await until(/y{1000}$/)
      while (text.split('y').length <= 300_000) await once(socket, 'data')
      const ended = once(socket, 'close')
      socket.end('last')
      await ended
      assert.match(text, new RegExp(`${name}:last$`))
    }
  })

  it('hear of a client that goes, and end connections that they do not want', async (t) => {
    const { port } = await membersOn(t, 'a', 'b')
    for (const client of await several(t, port)) {
      for (const name of ['a', 'b']) client.send(`POST /${name}/gone HTTP/1.1\r\nHost: shared.test\r\nContent-Length: 10\r\n\r\n12345`)[0].catch(() => {})
      await readByPeer(client.socket)
      await client.destroy()
    }
    const client = await connect(t, port, undefined, trusting())
    for (const name of ['a', 'b']) assert.equal((await client.request(`/${name}/`)).owner, name)
  })

  it('answer 503 for one that was killed, and go on', async (t) => {
    const { port, members } = await membersOn(t, 'a', 'b', 'c')
    const clients = await several(t, port)
    for (const client of clients) assert.equal((await client.request('/a/1')).owner, 'a')
    await members[0].kill()
    // Those that the dead process had have gone with it.
    await knowsEnds(clients.map(({ socket }) => socket))
    const kept = clients.filter(({ isOpen }) => isOpen)
    if (kept.length === 0) kept.push(await connect(t, port, undefined, trusting()))
    for (const client of kept) {
      const { status } = await client.request('/a/2')
      assert.equal(status, 503)
      const next = client.isOpen ? client : await connect(t, port, undefined, trusting())
      assert.equal((await next.request('/b/3')).owner, 'b')
    }
  })

  it('lose no request while one of them restarts', async (t) => {
    const { port, members: [, b] } = await membersOn(t, 'a', 'b')
    const load = new Load(t, { port, targets: ['/a/', '/b/'], isKept: false, secure: trusting() })
    await load.further(20)
    for (let i = 0; i < 3; i++) {
      await b.close('b', { restart: true, waitMs: 10_000 })
      await b.listen('b', `https://*:${port}/b/`, certificate('shared.test'))
      await load.further(20)
    }
    await load.stopUnharmed()
  })

  it('do not take plain HTTP prefixes beside them', async (t) => {
    const { port } = await membersOn(t, 'a')
    await assert.rejects(member(t, 'b', `http://*:${port}/b/`), { code: 'EADDRINUSE' })
  })
})

describe('Certificates of a shared port', { skip: kSkip }, () => {
  /** @param {import('node:test').TestContext} t */
  async function hosts (t) {
    const port = await freePort()
    const a = await member(t, 'a', `https://a.test:${port}/`, certificate('a.test'))
    const b = await member(t, 'b', `https://b.test:${port}/`, certificate('b.test'))
    return { port, a, b }
  }

  /** @param {import('node:tls').TLSSocket} socket */
  const subjectOf = (socket) => /** @type {any} */ (socket.getPeerCertificate().subject).CN

  it('belong to whoever registered the host', async (t) => {
    const { port } = await hosts(t)
    for (let i = 0; i < 6; i++) {
      for (const name of ['a', 'b']) {
        const client = await connect(t, port, undefined, trusting(`${name}.test`))
        assert.equal(subjectOf(/** @type {any} */ (client.socket)), `${name}.test`)
        assert.equal((await client.request('/', { host: `${name}.test:${port}` })).owner, name)
      }
    }
    const { members } = await stateOf(port)
    assert.ok(members.some((/** @type {any} */ one) => one.handedOver > 0), 'nothing was handed over: the test tests nothing')
  })

  it('are found in a ClientHello that comes byte by byte', async (t) => {
    const { port } = await hosts(t)
    for (const name of ['a', 'b', 'a', 'b']) {
      // A proxy that is as slow as can be.
      const proxy = net.createServer((client) => {
        const server = net.connect({ port, host: '127.0.0.1', noDelay: true })
        server.pipe(client)
        for (const one of [client, server]) one.on('error', () => {})
        client.once('data', async (hello) => {
          client.pause()
          for (const byte of hello) {
            server.write(Buffer.from([byte]))
            if (Math.random() < 0.05) await apart(1)
          }
          client.pipe(server)
        })
      }).listen(0, '127.0.0.1')
      await once(proxy, 'listening')
      t.after(() => proxy.close())
      const client = await connect(t, /** @type {any} */ (proxy.address()).port, undefined, trusting(`${name}.test`))
      assert.equal(subjectOf(/** @type {any} */ (client.socket)), `${name}.test`)
      assert.equal((await client.request('/', { host: `${name}.test` })).owner, name)
      client.destroy()
    }
  })

  it('do not stand for the hosts of others: 421', async (t) => {
    const { port } = await hosts(t)
    const client = await connect(t, port, undefined, trusting('a.test'))
    assert.equal((await client.request('/', { host: 'a.test' })).owner, 'a')
    assert.equal((await client.request('/', { host: 'b.test' })).status, 421)
    assert.equal((await client.request('/', { host: 'a.test' })).owner, 'a')
  })

  it('do not stand for the host of a URL in the request line, whatever its Host says: 421', async (t) => {
    const { port } = await hosts(t)
    const client = await connect(t, port, undefined, trusting('a.test'))
    assert.equal((await client.request('https://b.test/', { host: 'a.test' })).status, 421)
    assert.equal((await client.request('https://B.TEST.:443/x', { host: 'a.test' })).status, 421)
    assert.equal((await client.request('/', { host: 'b.test.' })).status, 421)
    assert.equal((await client.request('https://a.test/', { host: 'b.test' })).owner, 'a')
    assert.equal((await client.request('/', { host: 'A.test.:443' })).owner, 'a')
  })

  it('are not got around by a Host that can be read in two ways: 400', async (t) => {
    const { port } = await hosts(t)
    const odd = ['u@b.test', 'a.test@b.test', 'a.test#@b.test', 'b.test:80:x', 'b.test:x', 'b.test\r\nHost: a.test', 'a.test\r\nHost: b.test', 'b.test\r\nHost: b.test']
    for (const host of odd) {
      const client = await connect(t, port, undefined, trusting('a.test'))
      const { status, body } = await client.request('/', { host })
      assert.equal(status, 400, host)
      assert.match(body, /Invalid Hostname/)
    }
    for (const target of ['https://u@b.test/', 'https://b.test:80:x/']) {
      const client = await connect(t, port, undefined, trusting('a.test'))
      assert.equal((await client.request(target, { host: 'a.test' })).status, 400, target)
    }
  })

  it('are found by a name with a final dot', async (t) => {
    const { port } = await hosts(t)
    for (const name of ['a', 'b']) {
      const client = await connect(t, port, undefined, { ...trusting(`${name}.test.`), rejectUnauthorized: false })
      assert.equal(subjectOf(/** @type {any} */ (client.socket)), `${name}.test`)
      for (const host of [`${name}.test.`, `${name}.test`]) assert.equal((await client.request('/', { host })).owner, name)
    }
  })

  // What a client sees that sends these bytes, in one piece or byte by byte, and then goes on or ends.
  /** @param {number} port @param {string} bytes @param {{ isSlow: boolean, ends: boolean }} how */
  async function plainAnswer (port, bytes, { isSlow, ends }) {
    const socket = net.connect({ port, host: '127.0.0.1', noDelay: true, allowHalfOpen: true })
    let text = ''
    // A reset by the bytes that nobody reads is an end, too.
    const ended = new Promise((resolve) => {
      socket.on('data', (piece) => { text += piece.toString('latin1') }).on('end', resolve).on('close', resolve).on('error', resolve)
    })
    for (const piece of isSlow ? bytes : [bytes]) {
      socket.write(piece, 'latin1')
      if (isSlow) await apart(1)
    }
    if (ends) socket.end()
    await ended
    socket.destroy()
    return text.replaceAll(/^Date: .*$/gm, 'Date')
  }

  it('are not asked for by what is no TLS, which gets what it gets on a port of one process', async (t) => {
    const { port } = await hosts(t)
    const alone = await freePort()
    await member(t, 'alone', `https://*:${alone}/`, certificate('shared.test'))
    const kGet = 'GET / HTTP/1.1\r\nHost: a.test\r\n\r\n'
    const whole = [kGet, 'POST / HTTP/1.1\r\nHost: b.test\r\nContent-Length: 5\r\n\r\nhello', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'SSH-2.0-OpenSSH_9\r\n', '\x16\x03\x01\x00\x05\x02\x00\x00\x01\x00']
    // The rest of these could follow, unless the client ends.
    const parts = ['G', '\x80\x2e\x01\x00\x02', '\x16\x03\x01', '\x16\x03\x01\x00\x05\x01\x00\x00\x01\x00']
    const cases = [...whole.map((bytes) => ({ bytes, ends: false })), ...[...whole, ...parts].map((bytes) => ({ bytes, ends: true }))]
    for (const isSlow of [false, true]) {
      const answersOf = (/** @type {number} */ at) => Promise.all(cases.map(({ bytes, ends }) => plainAnswer(at, bytes, { isSlow, ends })))
      const expected = await answersOf(alone)
      assert.match(expected[0], /^HTTP\/1\.1 400 [^]* speaks HTTPS/)
      for (let i = 0; i < 3; i++) assert.deepEqual(await answersOf(port), expected)
    }
    for (const name of ['a', 'b']) {
      const client = await connect(t, port, undefined, trusting(`${name}.test`))
      assert.equal((await client.request('/', { host: `${name}.test` })).owner, name)
    }
  })
})
