'use strict'

// A port that speaks TLS at one address and plain HTTP at another one.

const assert = require('node:assert/strict')
const { describe, it } = require('node:test')
const { certificate } = require('../helpers/certificates')
const { freePort } = require('../helpers/free-port')
const { Client, ask, connect, kSkip, member, silence, until } = require('./kit')

const kNames = ['shared.test', 'a.test', 'b.test']
const kSecure = { servername: 'shared.test', ca: kNames.map((name) => certificate(name).cert) }
// Whoever accepts: after so many, everybody has.
const kConnections = 24

/**
 * @param {import('node:test').TestContext} t @param {number} port
 * @param {Record<string, string>} owners by address; those whose name begins with `s` have TLS
 */
async function assertSpoken (t, port, owners) {
  for (let i = 0; i < kConnections; i++) {
    await Promise.all(Object.entries(owners).map(async ([address, owner]) => {
      const client = await connect(t, port, address, owner.startsWith('s') ? kSecure : undefined)
      for (const target of ['/x', '/y']) {
        const answer = await client.request(target)
        assert.deepEqual([answer.status, answer.owner, address], [200, owner, address])
      }
      client.destroy()
    }))
  }
}

describe('http and https at two addresses of one port', { skip: kSkip }, () => {
  const plain = (/** @type {number} */ port, at = 1) => `http://127.0.0.${at}:${port}/`
  const secure = (/** @type {number} */ port, at = 2) => `https://127.0.0.${at}:${port}/`
  const shared = certificate('shared.test')

  it('are one server\'s, by its prefixes', async (t) => {
    for (const isPlainFirst of [true, false]) {
      const port = await freePort()
      const prefixes = [plain(port), secure(port)]
      const a = await member(t, 's', isPlainFirst ? prefixes : prefixes.reverse(), shared)
      const { owner } = await connect(t, port, '127.0.0.1').then((client) => client.request('/'))
      assert.equal(owner, 's')
      const client = await connect(t, port, '127.0.0.2', kSecure)
      assert.equal((await client.request('/')).owner, 's')
      await a.tell('addPrefix', { name: 's', prefix: secure(port, 3) })
      assert.equal((await (await connect(t, port, '127.0.0.3', kSecure)).request('/')).owner, 's')
      await assert.rejects(a.tell('addPrefix', { name: 's', prefix: plain(port, 2) }), { code: 'EADDRINUSE' })
      await assert.rejects(a.tell('addPrefix', { name: 's', prefix: `https://*:${port}/` }), { code: 'EADDRINUSE' })
      assert.equal((await (await connect(t, port, '127.0.0.1')).request('/')).owner, 's')
      assert.equal((await (await connect(t, port, '127.0.0.2', kSecure)).request('/')).owner, 's')
    }
  })

  it('are refused at the same one, with the reason', async (t) => {
    const port = await freePort()
    const a = await member(t)
    for (const prefixes of [[plain(port), secure(port, 1)], [`http://*:${port}/`, `https://*:${port}/`], [plain(port), `https://*:${port}/`]]) {
      await assert.rejects(a.listen('s', prefixes, shared), (/** @type {any} */ error) => {
        assert.equal(error.code, 'EADDRINUSE')
        assert.match(error.message, /a port speaks either http or https\. Use .* IP addresses, not the same one/)
        return true
      })
    }
    await a.listen('s', [plain(port), secure(port)], shared)
  })

  it('are those of two servers of one process', async (t) => {
    const port = await freePort()
    const a = await member(t, 'p', plain(port))
    await a.listen('s', secure(port), shared)
    await assertSpoken(t, port, { '127.0.0.1': 'p', '127.0.0.2': 's' })
  })

  for (const isPlainFirst of [true, false]) {
    it(`are those of two processes, when that with ${isPlainFirst ? 'http' : 'https'} is the first one`, async (t) => {
      const port = await freePort()
      const listen = [() => member(t, 'p', plain(port)), () => member(t, 's', secure(port), shared)]
      for (const one of isPlainFirst ? listen : listen.reverse()) await one()
      await assertSpoken(t, port, { '127.0.0.1': 'p', '127.0.0.2': 's' })
    })
  }

  it('are whose they are also when somebody else has accepted', async (t) => {
    const port = await freePort()
    const members = { p: await member(t, 'p', plain(port)), s: await member(t, 's', secure(port), shared) }
    for (const [owner, host, tls] of /** @type {const} */ ([['p', '127.0.0.1', undefined], ['s', '127.0.0.2', kSecure]])) {
      members[owner].process.kill('SIGSTOP')
      const clients = Array.from({ length: kConnections }, () => new Client(port, host, tls))
      t.after(() => Promise.all(clients.map((client) => client.destroy())))
      const answers = clients.map((client) => client.request('/'))
      // Whoever is on duty has accepted by now, or the other one's deputy. On a slow machine the owner itself may be the first.
      await silence(1000)
      members[owner].process.kill('SIGCONT')
      for (const answer of await Promise.all(answers)) assert.deepEqual([answer.status, answer.owner], [200, owner])
    }
  })

  it('are those of processes that have some of each, also when one has gone', async (t) => {
    const port = await freePort()
    const a = await member(t, 'p', plain(port))
    const b = await member(t, 's', secure(port), shared)
    await a.listen('s3', secure(port, 3), shared)
    await b.listen('p4', plain(port, 4))
    await assertSpoken(t, port, { '127.0.0.1': 'p', '127.0.0.2': 's', '127.0.0.3': 's3', '127.0.0.4': 'p4' })
    await a.kill()
    await until(async () => (await ask(port, '/', { host: '127.0.0.4' })).owner === 'p4', 'p4 answers')
    await assertSpoken(t, port, { '127.0.0.2': 's', '127.0.0.4': 'p4' })
  })

  it('present the certificates of their own process', async (t) => {
    const port = await freePort()
    await member(t, 's', secure(port, 1), certificate('a.test'))
    await member(t, 's2', secure(port, 2), certificate('b.test'))
    for (let i = 0; i < kConnections; i++) {
      for (const [at, name] of /** @type {const} */ ([[1, 'a.test'], [2, 'b.test']])) {
        const client = await connect(t, port, `127.0.0.${at}`, { ...kSecure, servername: name })
        assert.equal((await client.request('/', { host: name })).owner, at === 1 ? 's' : 's2')
        client.destroy()
      }
    }
  })
})
