'use strict'

// Servers, worker threads, cluster workers and many processes on one port; prefixes that come and go
// across them; sockets of several addresses.

const assert = require('node:assert/strict')
const { describe, it } = require('node:test')
const { freePort } = require('../helpers/free-port')
const { ask, assertFree, connect, kSkip, member, stateOf, until } = require('./kit')

const kProcesses = 20

describe('A shared port', { skip: kSkip }, () => {
  it('may be shared by servers of one process, and with others', async (t) => {
    const port = await freePort()
    const a = await member(t, 'a1', `http://*:${port}/a1/`)
    await a.listen('a2', `http://*:${port}/a2/`)
    await member(t, 'b', `http://*:${port}/b/`)
    await a.listen('a3', port)
    const client = await connect(t, port)
    for (const [target, owner] of [['/a1/', 'a1'], ['/a2/', 'a2'], ['/b/', 'b'], ['/a2/', 'a2'], ['/x', 'a3'], ['/a1/', 'a1'], ['/b/', 'b']]) {
      assert.equal((await client.request(target)).owner, owner)
      assert.equal((await ask(port, target)).owner, owner)
    }
    await assert.rejects(a.listen('a4', `http://*:${port}/A1/`), { code: 'EADDRINUSE', pid: a.pid })
    await a.close('a1')
    assert.equal((await client.request('/a1/')).owner, 'a3')
    await a.close('a3')
    assert.equal((await client.request('/a1/')).status, 404)
    assert.equal((await client.request('/a2/')).owner, 'a2')
  })

  it('is joined by worker threads as by processes', async (t) => {
    const port = await freePort()
    const a = await member(t, 'a', `http://*:${port}/a/`)
    const thread = await a.tell('thread', { name: 'thread', on: [`http://*:${port}/thread/`] })
    const b = await member(t)
    await b.tell('thread', { name: 'far', on: [`http://*:${port}/far/`] })
    for (let i = 0; i < 6; i++) {
      assert.equal((await ask(port, '/a/')).pid, String(a.pid))
      assert.equal((await ask(port, '/thread/')).pid, `${a.pid}/${thread}`)
      assert.equal((await ask(port, '/far/')).owner, 'far')
    }
    await assert.rejects(b.listen('b', `http://*:${port}/thread/`), { code: 'EADDRINUSE', pid: a.pid })
    await a.tell('endThread', { name: 'thread' })
    await until(async () => (await ask(port, '/thread/')).status === 404, 'the end of the prefix of the thread')
    await b.listen('b', `http://*:${port}/thread/`)
    assert.equal((await ask(port, '/thread/')).owner, 'b')
    assert.equal((await ask(port, '/a/')).owner, 'a')
  })

  it('is joined by the workers of a cluster, which are one queue', async (t) => {
    const port = await freePort()
    const primary = await member(t)
    const pids = await primary.tell('workers', { name: 'worker', on: [`http://*:${port}/app/`], count: 2 })
    const b = await member(t, 'b', `http://*:${port}/b/`)
    const answered = new Set()
    for (let i = 0; i < 40; i++) {
      const { owner, pid } = await ask(port, '/app/')
      assert.equal(owner, 'worker')
      answered.add(Number(pid))
      assert.equal((await ask(port, '/b/')).owner, 'b')
    }
    assert.deepEqual([...answered].sort(), [...pids].sort())
    await assert.rejects(b.listen('b2', `http://*:${port}/app/`), (/** @type {any} */ error) => error.code === 'EADDRINUSE' && pids.includes(error.pid))
  })

  it('has a prefix everywhere when addPrefix() resolves, and nowhere when removePrefix() does', async (t) => {
    const port = await freePort()
    const a = await member(t, 'a', `http://*:${port}/a/`)
    const b = await member(t, 'b', `http://*:${port}/b/`)
    const clients = await Promise.all(Array.from({ length: 8 }, () => connect(t, port)))
    for (const [i, client] of clients.entries()) await client.request(i % 2 === 0 ? '/a/' : '/b/')
    for (const [one, name] of /** @type {const} */ ([[a, 'a'], [b, 'b'], [a, 'a'], [b, 'b']])) {
      const prefix = `http://*:${port}/new/`
      await one.tell('addPrefix', { name, prefix })
      for (const answer of await Promise.all(clients.map((client) => client.request('/new/')))) assert.equal(answer.owner, name)
      assert.equal((await ask(port, '/new/')).owner, name)
      const other = one === a ? b : a
      await assert.rejects(other.tell('addPrefix', { name: one === a ? 'b' : 'a', prefix }), { code: 'EADDRINUSE', pid: one.pid })
      await one.tell('removePrefix', { name, prefix })
      for (const answer of await Promise.all(clients.map((client) => client.request('/new/')))) assert.equal(answer.status, 404)
      assert.equal((await ask(port, '/new/')).status, 404)
    }
    assert.deepEqual(await b.tell('prefixes', { name: 'b' }), [`http://*:${port}/b/`])
  })

  it('takes the part of a prefix that another process adds below it', async (t) => {
    const port = await freePort()
    await member(t, 'all', `http://*:${port}/`)
    const b = await member(t, 'b', `http://*:${port}/b/`)
    const client = await connect(t, port)
    assert.equal((await client.request('/c/d')).owner, 'all')
    await b.tell('addPrefix', { name: 'b', prefix: `http://*:${port}/c/` })
    assert.equal((await client.request('/c/d')).owner, 'b')
    await b.tell('removePrefix', { name: 'b', prefix: `http://*:${port}/c/` })
    assert.equal((await client.request('/c/d')).owner, 'all')
  })

  it('opens further addresses when a wider prefix joins, and closes them with their last user', async (t) => {
    const port = await freePort()
    const local = await member(t, 'local', `http://127.0.0.1:${port}/local/`)
    await assertFree(port, '127.0.0.2')
    const wide = await member(t, 'wide', `http://*:${port}/wide/`)
    for (let i = 0; i < 3; i++) {
      for (const host of ['127.0.0.1', '127.0.0.2', '::1']) {
        assert.equal((await ask(port, '/wide/', { host })).owner, 'wide', host)
        const { status, owner } = await ask(port, '/local/', { host })
        assert.deepEqual(host === '127.0.0.1' ? owner : status, host === '127.0.0.1' ? 'local' : 404, host)
      }
    }
    await local.close('local')
    for (const host of ['127.0.0.1', '127.0.0.2']) assert.equal((await ask(port, '/wide/', { host })).owner, 'wide')
    await wide.close('wide')
    await assertFree(port)
    await assertFree(port, '127.0.0.2')
  })

  it('is joined on an address by who comes after a wider prefix', async (t) => {
    const port = await freePort()
    const wide = await member(t, 'wide', `http://*:${port}/`)
    const local = await member(t, 'local', `http://127.0.0.1:${port}/`)
    for (let i = 0; i < 3; i++) {
      assert.equal((await ask(port, '/x')).owner, 'local')
      assert.equal((await ask(port, '/x', { host: '127.0.0.2' })).owner, 'wide')
    }
    await wide.close('wide')
    assert.equal((await ask(port, '/x')).owner, 'local')
    await wide.listen('wide', `http://*:${port}/`)
    await local.close('local')
    assert.equal((await ask(port, '/x')).owner, 'wide')
  })

  it(`is shared by ${kProcesses} processes`, async (t) => {
    const port = await freePort()
    const names = Array.from({ length: kProcesses }, (_, i) => `m${i}`)
    const members = await Promise.all(names.map((name) => member(t, name, `http://*:${port}/${name}/`)))
    const client = await connect(t, port)
    for (const name of names) assert.equal((await client.request(`/${name}/`)).owner, name)
    for (const answers of [await Promise.all(names.map((name) => ask(port, `/${name}/`)))]) {
      assert.deepEqual(answers.map(({ owner }) => owner), names)
    }
    assert.equal((await stateOf(port)).members.length, kProcesses)
    await Promise.all(members.slice(1).map((one) => one.kill()))
    // One of them may have been the coordinator: its place is empty for a moment.
    await until(async () => (await stateOf(port).catch(() => null))?.members.length === 1, 'the others have gone')
    assert.equal((await client.request('/m0/').catch(() => ask(port, '/m0/'))).owner, 'm0')
  })
})
