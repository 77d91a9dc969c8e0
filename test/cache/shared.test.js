'use strict'

// Goal: whoever has a client's connection answers from the cache of the process that owns the URL, and never with what the owner would not
// answer with. Method: two and three processes on one port, of which one has a cache; a client whose requests go to both, so that the other
// one has the connection; an owner that is stopped, so that nobody but the other one can have answered.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const http2 = require('node:http2')
const net = require('node:net')
const os = require('node:os')
const path = require('node:path')
const { describe, it } = require('node:test')
const { once } = require('node:events')
const { freePort } = require('../helpers/free-port')
const { localhost } = require('../helpers/tls')
const { silence } = require('../helpers/waiting')
const { connect, kSkip, member, stateOf, until } = require('../sharing/kit')

/** @typedef {import('../sharing/kit').Member} Member */

/**
 * Two members of a port: `a` has no cache, and `b` has one. The client's connection is with `a` whenever it has asked for /a/.
 *
 * @param {import('node:test').TestContext} t
 * @param {any} [cache] the option of b
 * @param {any} [options] others of b's createServer()
 */
async function pair (t, cache = true, options = {}) {
  const port = await freePort()
  const a = await member(t, 'a', `http://*:${port}/a/`)
  const b = await member(t)
  await b.tell('listen', { name: 'b', on: [`http://*:${port}/b/`], options: { cache, ...options } })
  return { port, a, b, client: await connect(t, port) }
}

const kFresh = `cc=${encodeURIComponent('public, max-age=600')}`

/**
 * Asks for /a/ and then for the target: the member that has /a/ routes the second request.
 *
 * @param {import('../sharing/kit').Client} client
 * @param {string} target @param {any} [options] of request()
 */
async function askThere (client, target, options) {
  assert.equal((await client.request('/a/')).owner, 'a')
  return client.request(target, options)
}

/**
 * Asks until the answer comes from a cache although `a` has the connection. How often the owner's JavaScript has run is not told here.
 *
 * @param {import('../sharing/kit').Client} client
 * @param {Member} b
 * @param {string} target
 */
async function warm (client, b, target) {
  await until(async () => {
    const before = await b.tell('requests')
    const { headers } = await askThere(client, target)
    return headers.age !== undefined && await b.tell('requests') === before
  }, 'a hit')
}

describe('The cache of another process', { skip: kSkip }, () => {
  it('answers without its process, and the connection stays', async (t) => {
    const { port, a, b, client } = await pair(t)
    const target = `/b/page?${kFresh}`
    await warm(client, b, target)
    await b.standStill()
    const answers = []
    for (let i = 0; i < 20; i++) answers.push(await askThere(client, target))
    for (const { status, owner, headers, body } of answers) {
      assert.deepEqual([status, owner, body], [200, 'b', answers[0].body])
      assert.match(headers.age, /^\d+$/)
    }
    // Conditions and ranges, too.
    const part = await askThere(client, target, { headers: ['Range: bytes=0-0'] })
    assert.deepEqual([part.status, part.body], [206, 'b'])
    b.process.kill('SIGCONT')
    const { members } = await stateOf(port)
    // The count of `a` includes the hits that `a` gave before `b` was stopped.
    assert.ok(members.find((/** @type {any} */ { pid }) => pid === a.process.pid).cacheAnswers > answers.length)
  })

  it('answers the last request of a connection, in each way to end one, and the other process lives on', async (t) => {
    const { port, a, b, client } = await pair(t)
    const target = `/b/page?${kFresh}`
    await warm(client, b, target)
    await b.standStill()
    const lines = ['Host: shared.test', '', ''].join('\r\n')
    for (const method of ['GET', 'HEAD']) {
      for (const last of [`${method} ${target} HTTP/1.1\r\nConnection: close\r\n${lines}`, `${method} ${target} HTTP/1.0\r\n${lines}`]) {
        for (const before of ['', `GET ${target} HTTP/1.1\r\n${lines}`]) {
          for (const ends of [false, true]) {
            const socket = net.connect({ port, host: '127.0.0.1', allowHalfOpen: true })
            if (before !== '') socket.write(before)
            socket[ends ? 'end' : 'write'](last)
            let text = ''
            for await (const piece of socket.setEncoding('latin1')) text += piece
            assert.equal(text.match(/HTTP\/1\.1 200 OK/g)?.length, before === '' ? 1 : 2, `${last}: ${text}`)
          }
        }
      }
    }
    b.process.kill('SIGCONT')
    const { members } = await stateOf(port)
    assert.deepEqual(members.map((/** @type {any} */ { pid }) => pid).sort(), [a.process.pid, b.process.pid].sort())
  })

  it('answers new connections that the other process accepts', async (t) => {
    const { port, b, client } = await pair(t)
    const target = `/b/page?${kFresh}`
    await warm(client, b, target)
    await b.standStill()
    for (let i = 0; i < 10; i++) {
      const other = await connect(t, port)
      const { status, owner } = await other.request(target)
      assert.deepEqual([status, owner], [200, 'b'])
      await other.destroy()
    }
    b.process.kill('SIGCONT')
  })

  it('of 1,000 connections that ask at once for a missing answer, one reaches the handler, whoever has accepted them', async (t) => {
    const { port, b } = await pair(t)
    const clients = await Promise.all(Array.from({ length: 1000 }, () => connect(t, port)))
    // Half of them are connections of `a`, which has answered on them.
    await Promise.all(clients.map((client, index) => index % 2 === 0 ? client.request('/a/') : undefined))
    const target = `/b/slow?getms=200&${kFresh}`
    await clients[0].request(target)
    await b.tell('cache', { name: 'b', call: 'flush' })
    const before = await b.tell('requests')
    const answers = await Promise.all(clients.map((client) => client.request(target)))
    assert.deepEqual([...new Set(answers.map(({ status, owner, headers }) => `${status} ${owner} ${headers['x-begun']}`))].length, 1)
    assert.equal(await b.tell('requests'), before + 1)
  })

  it('answers pipelined requests in their order, among those that JavaScript answers', async (t) => {
    const { b, client } = await pair(t)
    const target = `/b/page?${kFresh}`
    await warm(client, b, target)
    const one = (/** @type {string} */ path) => `GET ${path} HTTP/1.1\r\nHost: shared.test\r\n\r\n`
    const paths = ['/a/1', target, target, '/a/2', '/b/new', target, '/a/3']
    const answers = await Promise.all(client.send(paths.map(one).join(''), paths.length))
    assert.deepEqual(answers.map(({ owner }) => owner), ['a', 'b', 'b', 'a', 'b', 'b', 'a'])
    assert.deepEqual(answers.map(({ body }) => body.split(' ')[4]), paths)
  })

  it('is asked for what the request may have, and nothing else', async (t) => {
    const { b, client } = await pair(t)
    const target = `/b/page?${kFresh}`
    await warm(client, b, target)
    const asks = async (/** @type {any} */ options) => {
      const before = await b.tell('requests')
      const answer = await askThere(client, target, options)
      assert.equal(answer.status, 200)
      return await b.tell('requests') - before
    }
    assert.equal(await asks({}), 0)
    assert.equal(await asks({ headers: ['Authorization: Basic eDp5'] }), 1)
    assert.equal(await asks({ headers: ['Cache-Control: no-cache'] }), 1)
    assert.equal(await asks({ host: 'other.test' }), 1)
    assert.equal(await asks({ headers: ['X-Forwarded-Host: evil.test'] }), 1)
    assert.equal(await asks({ headers: ['X-Original-URL: /b/secret'] }), 1)
    assert.equal(await asks({ body: 'fat' }), 1)
    assert.equal(await asks({}), 0)
  })

  it('is empty at once: flushed, invalidated, without its prefix', async (t) => {
    const { port, b, client } = await pair(t)
    const target = `/b/page?${kFresh}`
    const misses = async (/** @type {() => Promise<any>} */ change, /** @type {RegExp} */ status) => {
      await warm(client, b, target)
      const before = await askThere(client, target)
      await change()
      const answer = await askThere(client, target)
      assert.match(String(answer.status), status)
      assert.notEqual(answer.headers['x-requests'], before.headers['x-requests'])
      assert.equal(answer.headers.age, undefined)
    }
    await misses(() => b.tell('cache', { name: 'b', call: 'flush', args: [`http://shared.test:${port}/b/`, { recursive: true }] }), /200/)
    await misses(() => askThere(client, target, { method: 'POST', body: 'x' }), /200/)
    await misses(() => b.tell('cache', { name: 'b', call: 'flush' }), /200/)
    await b.tell('addPrefix', { name: 'b', prefix: `http://*:${port}/more/` })
    await misses(() => b.tell('removePrefix', { name: 'b', prefix: `http://*:${port}/b/` }), /404/)
  })

  it('leaves with its server', async (t) => {
    const { port, a, b, client } = await pair(t)
    const target = `/b/page?${kFresh}`
    await warm(client, b, target)
    await b.close('b')
    assert.equal((await askThere(client, target)).status, 404)
    // Another process has the URL then, and nothing of the former one is found.
    await a.listen('c', `http://*:${port}/b/`)
    const { owner, headers } = await askThere(client, target)
    assert.deepEqual([owner, headers.age], ['c', undefined])
  })

  it('stands in for its process when that is killed, as long as the response allows and nobody else has the URL', async (t) => {
    const { port, a, b, client } = await pair(t)
    const stale = (/** @type {string} */ cc) => `/b/page?cc=${encodeURIComponent(cc)}`
    const targets = {
      fresh: stale('max-age=600'),
      stale: stale('max-age=1, stale-if-error=600'),
      over: stale('max-age=1'),
      strict: stale('max-age=1, stale-if-error=600, must-revalidate')
    }
    for (const target of Object.values(targets)) await warm(client, b, target)
    // The whole seconds of Age pass.
    await until(async () => Number((await askThere(client, targets.fresh)).headers.age) >= 3, 'the answers are old')
    await b.kill()
    const status = async (/** @type {string} */ target) => (await askThere(client, target)).status
    // Until `a` knows it may try the killed process, which is 503, too.
    await until(async () => await status(targets.over) === 503, 'the owner is known to be away')
    assert.equal(await status(targets.fresh), 200)
    assert.equal(await status(targets.stale), 200)
    assert.equal(await status(targets.strict), 503)
    assert.equal(await status(`/b/other?${kFresh}`), 503)
    await a.listen('c', `http://*:${port}/b/`)
    const { owner, headers } = await askThere(client, targets.stale)
    assert.deepEqual([owner, headers.age], ['c', undefined])
  })

  it('is that of the member that has the URL, of three', async (t) => {
    const { port, a, b, client } = await pair(t)
    const c = await member(t)
    await c.tell('listen', { name: 'c', on: [`http://*:${port}/c/`], options: { cache: true } })
    await a.listen('d', `http://*:${port}/d/`)
    const targets = { b: `/b/x?${kFresh}`, c: `/c/x?${kFresh}` }
    await warm(client, b, targets.b)
    await warm(client, c, targets.c)
    for (const [name, target] of Object.entries(targets)) {
      const { owner, headers } = await askThere(client, target)
      assert.deepEqual([owner, typeof headers.age], [name, 'string'])
    }
    await c.kill()
    assert.equal((await askThere(client, targets.b)).owner, 'b')
  })

  it('is not given where the owner has to count: connections, bandwidth', async (t) => {
    for (const options of [{ maxBandwidth: 1_000_000 }, { maxConnectionsPerAddress: 50 }, { maxConnectionsPerPrefix: 50 }]) {
      const { b, client } = await pair(t, true, options)
      const target = `/b/page?${kFresh}`
      for (let i = 0; i < 5; i++) {
        await askThere(client, target)
        await silence(20)
      }
      await b.standStill()
      // The stopped owner has the connection, or the request: there is no answer before it goes on.
      const answer = askThere(client, target)
      const first = await Promise.race([answer.then(() => 'answered', () => 'lost'), silence(300).then(() => 'waits')])
      b.process.kill('SIGCONT')
      assert.equal(first, 'waits', JSON.stringify(options))
      assert.equal((await answer).owner, 'b')
      await b.kill()
    }
  })
})

describe('The cache of another process that has a folder', { skip: kSkip }, () => {
  it('is not given: the folder may have a file by now', async (t) => {
    const { port, b, client } = await pair(t)
    const target = `/b/new.txt?${kFresh}`
    await warm(client, b, target)
    const root = fs.mkdtempSync(path.join(os.tmpdir(), 'httpsys-'))
    t.after(() => fs.rmSync(root, { recursive: true }))
    await b.tell('serveFiles', { name: 'b', where: `http://*:${port}/b/`, root, options: { fallthrough: true } })
    fs.writeFileSync(path.join(root, 'new.txt'), 'of the folder')
    await until(async () => (await askThere(client, target)).body === 'of the folder', 'the file')
  })
})

describe('The cache of another process with TLS', { skip: kSkip }, () => {
  const secure = { ...localhost(), ALPNProtocols: ['h2', 'http/1.1'] }
  const asked = { ca: localhost().cert, servername: 'localhost' }

  /** @param {import('node:test').TestContext} t @param {any} options of b */
  async function securePair (t, options) {
    const port = await freePort()
    const a = await member(t)
    await a.tell('listen', { name: 'a', on: [`https://localhost:${port}/a/`], options: { ...localhost(), http2: true }, secure: true })
    const b = await member(t)
    await b.tell('listen', { name: 'b', on: [`https://localhost:${port}/b/`], options: { ...localhost(), http2: true, cache: true, ...options }, secure: true })
    return { port, a, b }
  }

  /** Connections until one is made by `a`. @param {import('node:test').TestContext} t @param {number} port */
  async function sessionOf (t, port) {
    const session = http2.connect(`https://localhost:${port}`, asked)
    session.on('error', () => {})
    t.after(() => session.destroy())
    await once(session, 'connect')
    return async (/** @type {string} */ path) => {
      const stream = session.request({ ':path': path })
      const [headers] = await once(stream, 'response')
      let body = ''
      for await (const piece of stream) body += piece.toString('latin1')
      return { status: headers[':status'], headers, body }
    }
  }

  it('answers where both negotiate alike, over HTTP/1.1 and HTTP/2', async (t) => {
    const { port, b } = await securePair(t, {})
    assert.ok(secure)
    const target = `/b/page?${kFresh}`
    const client = await connect(t, port, '127.0.0.1', asked)
    const ask = await sessionOf(t, port)
    await until(async () => {
      const before = await b.tell('requests')
      const one = await client.request(target, { host: `localhost:${port}` })
      const two = await ask(target)
      return one.headers.age !== undefined && two.headers.age !== undefined && await b.tell('requests') === before
    }, 'hits')
  })

  it('does not answer where the owner would not negotiate the version', async (t) => {
    const { port, b } = await securePair(t, { minVersion: 'TLSv1.3' })
    const target = `/b/page?${kFresh}`
    const good = await connect(t, port, '127.0.0.1', { ...asked, minVersion: 'TLSv1.3' })
    for (let i = 0; i < 5; i++) assert.equal((await good.request(target, { host: `localhost:${port}` })).status, 200)
    let older
    try {
      older = await connect(t, port, '127.0.0.1', { ...asked, maxVersion: 'TLSv1.2' })
    } catch {
      return // The owner has made the handshake, and refused it.
    }
    assert.equal((await older.request(target, { host: `localhost:${port}` })).status, 421)
    assert.ok(b)
  })
})

describe('The memory of the caches of a port', { skip: kSkip }, () => {
  const kMiB = 1024 * 1024

  /** @param {Member} owner @param {string} name */
  const memoryOf = async (owner, name) => (await owner.tell('cache', { name, call: 'stats' })).memoryBytes

  it('is bounded for all processes together, and given back by one that is killed', async (t) => {
    const port = await freePort()
    const cache = { rules: 'rfc9111', cacheBytes: 32 * kMiB, portCacheBytes: 16 * kMiB }
    const members = []
    for (const name of ['b', 'c']) {
      const started = await member(t)
      await started.tell('listen', { name, on: [`http://*:${port}/${name}/`], options: { cache } })
      members.push({ name, started })
    }
    const client = await connect(t, port)
    const fill = async () => {
      for (const { name } of members) {
        for (let i = 0; i < 50; i++) assert.equal((await client.request(`/${name}/${i}?sum=500000&${kFresh}`)).status, 200)
      }
    }
    await fill()
    for (const { name, started } of members) {
      const bytes = await memoryOf(started, name)
      assert.ok(bytes > 0 && bytes <= 8 * kMiB, `${name} has ${bytes}`)
    }
    const [b] = members.splice(0, 1)
    await b.started.kill()
    await until(async () => {
      await fill()
      return await memoryOf(members[0].started, 'c') > 8 * kMiB
    }, 'the other one has more')
    assert.ok(await memoryOf(members[0].started, 'c') <= 16 * kMiB)
  })
})
