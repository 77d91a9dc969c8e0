'use strict'

// A server that closes while others are on its port leaves them what is not its own: the listening socket,
// idle connections, requests that it has not begun.

const assert = require('node:assert/strict')
const { once } = require('node:events')
const { describe, it } = require('node:test')
const { freePort } = require('../helpers/free-port')
const { ask, connect, kSkip, member, until } = require('./kit')

/** More than look for their owner at a time (src/base/limits.h, kWaitingPerRetry). */
const kWaiting = 1100

describe('A server that closes on a shared port', { skip: kSkip }, () => {
  for (const isFirst of [true, false]) {
    it(`leaves its idle connections to others, when it was ${isFirst ? 'the first' : 'a later'} one`, async (t) => {
      const port = await freePort()
      const [a, b] = [await member(t), await member(t)]
      for (const one of isFirst ? [a, b] : [b, a]) await one.listen(one === a ? 'a' : 'b', `http://*:${port}/${one === a ? 'a' : 'b'}/`)
      const clients = await Promise.all(Array.from({ length: 16 }, () => connect(t, port)))
      for (const client of clients) assert.equal((await client.request('/a/')).owner, 'a')
      const silent = await Promise.all(Array.from({ length: 8 }, () => connect(t, port)))
      const half = await Promise.all(Array.from({ length: 8 }, () => connect(t, port)))
      for (const client of half) client.socket.write('GET /b/half HT')
      await ask(port, '/a/')
      await a.close('a')
      for (const client of [...clients, ...silent]) {
        assert.ok(client.isOpen)
        assert.equal((await client.request('/b/')).owner, 'b')
        assert.equal((await client.request('/a/')).status, 404)
      }
      for (const client of half) assert.equal((await client.send('TP/1.1\r\nHost: h\r\n\r\n')[0]).owner, 'b')
    })
  }

  it('ends its process only when others have what it leaves', async (t) => {
    const port = await freePort()
    const a = await member(t, 'a', `http://*:${port}/a/`)
    await member(t, 'b', `http://*:${port}/b/`)
    const clients = await Promise.all(Array.from({ length: 32 }, () => connect(t, port)))
    for (const client of clients) assert.equal((await client.request('/a/')).owner, 'a')
    // No word after the last one: the process ends as soon as nothing holds it.
    a.close('a').catch(() => {})
    await a.tell('release')
    assert.equal((await a.exit).code, 0)
    for (const client of clients) assert.equal((await client.request('/b/')).owner, 'b')
  })

  it('answers what it has begun', async (t) => {
    const port = await freePort()
    const a = await member(t, 'a', `http://*:${port}/a/`)
    await member(t, 'b', `http://*:${port}/b/`)
    const client = await connect(t, port)
    const answer = client.request('/a/?ms=300')
    await until(async () => await a.tell('requests') !== 0, 'the request is begun')
    const closed = a.close('a')
    assert.equal((await answer).owner, 'a')
    assert.equal((await client.request('/b/')).owner, 'b')
    await closed
  })

  it('lets requests wait for its successor that it has announced', async (t) => {
    const port = await freePort()
    const a = await member(t, 'a', `http://*:${port}/a/`)
    const b = await member(t, 'b', `http://*:${port}/b/`)
    const client = await connect(t, port)
    await client.request('/b/')
    await a.close('a', { restart: true, waitMs: 20_000 })
    const waiting = [client.request('/a/'), ask(port, '/a/'), ask(port, '/a/')]
    assert.equal((await ask(port, '/b/')).owner, 'b')
    await b.listen('a2', `http://*:${port}/a/`)
    for (const { status, owner } of await Promise.all(waiting)) assert.deepEqual([status, owner], [200, 'a2'])
    await b.close('a2', { restart: true, waitMs: 300 })
    // Who waited in vain, and who came after the end of the wait.
    assert.equal((await ask(port, '/a/')).status, 503)
    assert.equal((await ask(port, '/a/')).status, 503)
  })

  it('is heard although the coordinator is killed before it has told anybody', async (t) => {
    const port = await freePort()
    const a = await member(t, 'a', `http://*:${port}/a/`)
    const b = await member(t, 'b', `http://*:${port}/b/`)
    const c = await member(t, 'c', `http://*:${port}/c/`)
    await b.listen('b2', `http://*:${port}/b2/`)
    a.process.kill('SIGSTOP')
    const closed = Promise.all([b.close('b', { restart: true, waitMs: 60_000 }), b.close('b2')])
    // The next answer comes behind both.
    await b.tell('requests')
    await a.kill()
    await closed
    const waiting = ask(port, '/b/')
    assert.equal((await ask(port, '/b2/')).status, 404)
    await c.listen('b', `http://*:${port}/b/`)
    assert.deepEqual(await waiting.then(({ status, owner }) => [status, owner]), [200, 'b'])
    // Nothing keeps who has left.
    await b.tell('release')
    assert.equal((await b.exit).code, 0)
  })

  it('lets as many wait for one prefix as come, and one who waits for another one goes on before them', async (t) => {
    process.env.HTTPSYS_IO_THREADS = '1' // All wait on one.
    const port = await freePort()
    // The one that stays is the coordinator.
    const [b, a, c] = [await member(t, 'b', `http://*:${port}/b/`), await member(t, 'a', `http://*:${port}/a/`), await member(t, 'c', `http://*:${port}/c/`)]
    delete process.env.HTTPSYS_IO_THREADS
    await a.close('a', { restart: true, waitMs: 60_000 })
    await c.close('c', { restart: true, waitMs: 60_000 })
    const clients = await Promise.all(Array.from({ length: kWaiting }, () => connect(t, port)))
    /** @type {number[]} */
    const statuses = []
    const answers = Promise.all(clients.map(async (client) => { statuses.push((await client.request('/a/')).status) }))
    const other = ask(port, '/c/')
    await b.listen('c2', `http://*:${port}/c/`)
    assert.equal((await other).owner, 'c2')
    assert.deepEqual(statuses, [])
    await b.listen('a2', `http://*:${port}/a/`)
    await answers
    assert.deepEqual(statuses, Array(kWaiting).fill(200))
  })

  it('frees the port as the last one, with the connections that are open', async (t) => {
    const port = await freePort()
    const a = await member(t, 'a', `http://*:${port}/a/`)
    const b = await member(t, 'b', `http://*:${port}/b/`)
    const client = await connect(t, port)
    await client.request('/a/')
    await a.close('a')
    await b.close('b')
    await client.closed
    await assert.rejects(ask(port, '/b/'), /ECONNREFUSED/)
    const server = require('node:net').createServer().listen(port)
    await once(server, 'listening')
    server.close()
  })
})
