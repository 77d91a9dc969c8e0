'use strict'

// Reservations that change while several processes are on a port, or are to be.

const assert = require('node:assert/strict')
const path = require('node:path')
const { describe, it } = require('node:test')
const { addReservation, deleteReservation } = require('@httpsys/core-native/reservations')
const { freePort } = require('../helpers/free-port')
const { ownUrlacl } = require('../helpers/urlacl')
const { ask, assertFree, connect, kSkip, member, until } = require('./kit')

/** @param {number} port @param {string} target @param {number} status */
async function untilStatus (port, target, status) {
  await until(async () => (await ask(port, target)).status === status, `${status} for ${target}`)
}

describe('A reservation that takes a prefix from its only server', { skip: kSkip }, () => {
  it('lets the application that has the right now start on the port, and get it', async (t) => {
    ownUrlacl(t)
    const port = await freePort()
    const prefix = `http://*:${port}/a/`
    const a = await member(t, 'a', prefix)
    const kept = await connect(t, port)
    assert.equal((await kept.request('/a/')).owner, 'a')
    addReservation(prefix, { register: ['app:b'] })
    await untilStatus(port, '/a/', 503)
    const b = await member(t)
    await assert.rejects(b.listen('b', { prefix, queueName: 'c' }), { code: 'EACCES' })
    await b.listen('b', { prefix, queueName: 'b' })
    for (let i = 0; i < 4; i++) assert.equal((await ask(port, '/a/')).owner, 'b')
    assert.equal((await kept.request('/a/')).owner, 'b')
    assert.equal((await ask(port, '/x')).status, 404)
    assert.deepEqual(await a.tell('prefixes', { name: 'a' }), [])

    // It is on the port as long as it listens: nothing depends on it, and nothing is lost with the other one.
    await b.close('b')
    assert.equal((await ask(port, '/a/')).status, 503)
    await b.listen('b', { prefix, queueName: 'b' })
    await b.close('b')
    deleteReservation(prefix)
    await a.tell('addPrefix', { name: 'a', prefix })
    assert.equal((await ask(port, '/a/')).owner, 'a')
    await assert.rejects(b.listen('b', { prefix, queueName: 'b' }), { code: 'EADDRINUSE', pid: a.pid, prefix })
    await a.close('a')
    await assertFree(port)
  })

  it('leaves the port to the others when that server ends, in order or not', async (t) => {
    for (const end of ['close', 'kill']) {
      ownUrlacl(t)
      const port = await freePort()
      const prefix = `http://*:${port}/a/`
      const a = await member(t, 'a', prefix)
      addReservation(prefix, { register: ['app:b'] })
      await untilStatus(port, '/a/', 503)
      const b = await member(t, 'b', { prefix, queueName: 'b' })
      await (end === 'close' ? a.close('a') : a.kill())
      assert.equal((await ask(port, '/a/')).owner, 'b', end)
      const c = await member(t, 'c', `http://*:${port}/c/`)
      assert.equal((await ask(port, '/c/')).owner, 'c', end)
      await Promise.all([b.close('b'), c.close('c')])
      await assertFree(port)
    }
  })

  it('holds for one that is not the coordinator, and for the next coordinator', async (t) => {
    ownUrlacl(t)
    const port = await freePort()
    const prefix = `http://*:${port}/b/`
    const a = await member(t, 'a', `http://*:${port}/a/`)
    const b = await member(t, 'b', prefix)
    assert.equal((await ask(port, '/b/')).owner, 'b')
    addReservation(prefix, { register: ['app:c'] })
    await untilStatus(port, '/b/', 503)
    await until(async () => (await b.tell('prefixes', { name: 'b' })).length === 0, 'b has lost it')
    await a.kill()
    const c = await member(t, 'c', { prefix, queueName: 'c' })
    for (let i = 0; i < 4; i++) assert.equal((await ask(port, '/b/')).owner, 'c')
    await c.close('c')
    await untilStatus(port, '/b/', 503)
  })

  it('knows the workers of a cluster by the name of their application', async (t) => {
    ownUrlacl(t)
    const port = await freePort()
    const prefix = `http://*:${port}/a/`
    const root = path.join(__dirname, '..', '..')
    addReservation(prefix, { register: [`app:${path.basename(root)}/test/fixtures/sharing-member.js`] })
    const a = await member(t)
    await a.tell('workers', { name: 'worker', on: [prefix], count: 2 })
    assert.equal((await ask(port, '/a/')).owner, 'worker')
    addReservation(`http://*:${port}/a/b/`, { register: ['app:nobody'] })
    await untilStatus(port, '/a/b/', 503)
    assert.equal((await ask(port, '/a/')).owner, 'worker')
    assert.doesNotMatch(a.output, /HTTPSYS_PREFIX_DROPPED/)
  })
})

describe('A process that listens on a plain port', { skip: kSkip }, () => {
  it('gets nothing that is reserved for another application, whoever accepts', async (t) => {
    ownUrlacl(t)
    const port = await freePort()
    addReservation(`http://*:${port}/b/`, { register: ['app:b'] })
    const plain = await member(t, 'plain', port)
    const c = await member(t, 'c', `http://*:${port}/c/`)
    const statuses = async (/** @type {string} */ target) => new Set((await Promise.all(Array.from({ length: 20 }, () => ask(port, target)))).map(({ status }) => status))
    assert.deepEqual(await statuses('/b/'), new Set([503]))
    assert.deepEqual(await statuses('/'), new Set([200]))
    await plain.standStill()
    assert.equal((await ask(port, '/b/')).status, 503, 'accepted by the other one')
    plain.process.kill('SIGCONT')
    await c.close('c')
    assert.deepEqual(await statuses('/b/'), new Set([503]))
    const b = await member(t, 'b', { prefix: `http://*:${port}/b/`, queueName: 'b' })
    assert.deepEqual([(await ask(port, '/b/')).owner, (await ask(port, '/')).owner], ['b', 'plain'])
    await b.close('b')
    assert.deepEqual(await statuses('/b/'), new Set([503]))
  })

  it('loses a port that is reserved for another application, which can listen on it then', async (t) => {
    ownUrlacl(t)
    const port = await freePort()
    const a = await member(t, 'a', port)
    const b = await member(t)
    await assert.rejects(b.listen('b', { port, queueName: 'b' }), { code: 'EADDRINUSE', pid: a.pid })
    addReservation(`http://*:${port}/`, { register: ['app:b'] })
    await untilStatus(port, '/', 503)
    await assert.rejects(b.listen('b', port), { code: 'EACCES', port })
    await b.listen('b', { port, queueName: 'b' })
    for (let i = 0; i < 4; i++) assert.equal((await ask(port, '/')).owner, 'b')
    await a.close('a')
    assert.equal((await ask(port, '/')).owner, 'b')
  })
})
