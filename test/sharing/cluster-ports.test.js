'use strict'

// Workers of node:cluster that listen(port): the primary accepts for them, as on Node, and other processes share the
// port all the same, whoever was there first.

const assert = require('node:assert/strict')
const net = require('node:net')
const { once } = require('node:events')
const { describe, it } = require('node:test')
const { addReservation } = require('@httpsys/core-native/reservations')
const { certificate } = require('../helpers/certificates')
const { freePort } = require('../helpers/free-port')
const { ownUrlacl } = require('../helpers/urlacl')
const { Load, Member, ask, assertFree, connect, kSkip, member, stateOf, until } = require('./kit')

/**
 * A process with workers that listen.
 *
 * @param {import('node:test').TestContext} t
 * @param {any} listening what the fixture's command `workers` takes
 * @param {NodeJS.ProcessEnv} [env]
 */
async function clusterOn (t, listening, env) {
  const primary = new Member(env)
  t.after(() => primary.kill())
  const pids = await primary.tell('workers', { name: 'worker', count: 2, ...listening })
  return { primary, pids: /** @type {number[]} */ (pids) }
}

/**
 * Asks until every one of them has answered, and nobody else does.
 *
 * @param {number} port @param {number[]} pids @param {string} [target]
 */
async function assertAllServe (port, pids, target = '/') {
  const answered = new Set()
  for (let i = 0; answered.size < pids.length && i < 200; i++) {
    const { status, pid } = await ask(port, target)
    assert.equal(status, 200)
    assert.ok(pids.includes(Number(pid)), `${pid} is none of ${pids}`)
    answered.add(pid)
  }
  assert.equal(answered.size, pids.length, 'each of them serves')
}

// cluster.on('listening')
/** @param {Member} primary @param {number[]} pids @param {number} port */
async function assertHeard (primary, pids, port) {
  const byPid = (/** @type {{ pid: number }} */ a, /** @type {{ pid: number }} */ b) => a.pid - b.pid
  const wanted = pids.map((pid) => ({ pid, addressType: 4, address: null, port }))
  assert.deepEqual((await primary.tell('heard')).sort(byPid), wanted.sort(byPid))
}

/** By turns on one connection. @param {import('node:test').TestContext} t @param {number} port */
async function assertAlternating (t, port) {
  for (const first of ['/', '/shop/']) {
    const client = await connect(t, port)
    await client.request(first)
    for (const [target, owner] of [['/', 'worker'], ['/shop/', 'shop'], ['/x', 'worker'], ['/', 'worker'], ['/shop/a', 'shop'], ['/shop/', 'shop'], ['/', 'worker']]) {
      const answer = await client.request(target)
      assert.equal(answer.owner, owner, target)
    }
    assert.equal(client.answered, 8)
  }
}

/** @param {number} port @returns {Promise<any>} null while nobody coordinates */
const lookAt = (port) => stateOf(port).catch(() => null)

describe('Workers of node:cluster that listen on a port', { skip: kSkip }, () => {
  it('share it with a process that comes later, which has no socket there', async (t) => {
    const port = await freePort()
    const { primary, pids } = await clusterOn(t, { on: [port] })
    await assertHeard(primary, pids, port)
    const shop = await member(t)
    const { address } = await shop.listen('shop', `http://*:${port}/shop/`)
    assert.deepEqual(address, { address: '::', family: 'IPv6', port })
    await assertAllServe(port, pids)
    for (const host of ['127.0.0.1', '::1']) assert.equal((await ask(port, '/shop/', { host })).owner, 'shop')
    await assertAlternating(t, port)
    const { members, sockets } = await stateOf(port)
    assert.deepEqual(sockets, [])
    const registered = new Map(members.map((/** @type {any} */ one) => [one.pid, one.registrations.map((/** @type {any} */ { prefix }) => prefix)]))
    assert.deepEqual(registered, new Map([...pids.map((pid) => [pid, [`http://*:${port}/`]]), [shop.pid, [`http://*:${port}/shop/`]]]))
    await shop.close('shop')
    assert.equal((await ask(port, '/shop/')).owner, 'worker')
  })

  it('share it with a process that was there first', async (t) => {
    const port = await freePort()
    const shop = await member(t, 'shop', `http://*:${port}/shop/`)
    const { primary, pids } = await clusterOn(t, { on: [port] })
    await assertHeard(primary, pids, port)
    await assertAllServe(port, pids)
    assert.equal((await ask(port, '/shop/')).owner, 'shop')
    await assertAlternating(t, port)
    await shop.kill()
    await until(async () => (await lookAt(port))?.members.length === 2, 'the process has gone')
    await assertAllServe(port, pids)
    assert.deepEqual(await primary.tell('endWorker', { pid: pids[0] }), { code: 0, signal: null, voluntary: true })
    await assertAllServe(port, [pids[1]])
    await primary.tell('endCluster')
    await until(() => assertFree(port).then(() => true, () => false), 'the end of the port')
  })

  it('keep the connections that their primary gives them', async (t) => {
    const port = await freePort()
    const { pids } = await clusterOn(t, { on: [port] })
    await member(t, 'shop', `http://*:${port}/shop/`)
    const clients = await Promise.all(Array.from({ length: 6 }, () => connect(t, port)))
    for (const client of clients) {
      const { pid } = await client.request('/')
      await Promise.all(Array.from({ length: 6 }, async () => assert.equal((await client.request('/')).pid, pid)))
    }
    const { members } = await stateOf(port)
    const workers = members.filter((/** @type {any} */ { pid }) => pids.includes(pid))
    assert.deepEqual(workers.map((/** @type {any} */ { handedOver }) => handedOver), [0, 0])
  })

  it('come and go while others serve', async (t) => {
    const port = await freePort()
    const { primary, pids: [first, second] } = await clusterOn(t, { on: [port] })
    await member(t, 'shop', `http://*:${port}/shop/`)
    const load = new Load(t, { port, targets: ['/shop/', '/'], isKept: false, owners: (target) => target === '/' ? /^worker$/ : /^shop$/ })
    await load.further(10)
    assert.deepEqual(await primary.tell('endWorker', { pid: first }), { code: 0, signal: null, voluntary: true })
    await load.further(10)
    const [third] = await primary.tell('workers', { name: 'worker', on: [port], count: 1 })
    await load.further(10)
    assert.deepEqual(await primary.tell('endWorker', { pid: second }), { code: 0, signal: null, voluntary: true })
    await load.further(10)
    await load.stopUnharmed()
    await assertAllServe(port, [third])
  })

  it('are survived when they are killed', async (t) => {
    const port = await freePort()
    const { primary, pids: [first, second] } = await clusterOn(t, { on: [port] })
    await member(t, 'shop', `http://*:${port}/shop/`)
    assert.deepEqual(await primary.tell('endWorker', { pid: first, signal: 'SIGKILL' }), { code: null, signal: 'SIGKILL', voluntary: false })
    await until(async () => (await lookAt(port))?.members.length === 2, 'the others know')
    await assertAllServe(port, [second])
    assert.equal((await ask(port, '/shop/')).owner, 'shop')
    const [third] = await primary.tell('workers', { name: 'worker', on: [port], count: 1 })
    await assertAllServe(port, [second, third])
    await assertAlternating(t, port)
  })

  it('leave it to processes without a socket, and get it back from them', async (t) => {
    const port = await freePort()
    const { primary } = await clusterOn(t, { on: [port] })
    const shop = await member(t, 'shop', `http://*:${port}/shop/`)
    const blog = await member(t, 'blog', `http://*:${port}/blog/`)
    await primary.tell('endCluster')
    await until(() => ask(port, '/shop/').then(({ owner }) => owner === 'shop', () => false), 'one of them has taken the port')
    await until(async () => (await lookAt(port))?.members.length === 2, 'the others know')
    for (let i = 0; i < 4; i++) {
      assert.equal((await ask(port, '/blog/')).owner, 'blog')
      assert.equal((await ask(port, '/shop/')).owner, 'shop')
    }
    assert.deepEqual((await stateOf(port)).sockets, [`[::]:${port}`])
    const pids = await primary.tell('workers', { name: 'worker', on: [port], count: 2 })
    await assertAllServe(port, pids)
    await assertAlternating(t, port)
    // Both have the socket now, whoever opened it.
    await primary.kill()
    await shop.kill()
    await until(async () => (await lookAt(port))?.members.length === 1, 'the others have gone')
    assert.equal((await ask(port, '/blog/')).owner, 'blog')
    await blog.close('blog')
    await assertFree(port)
  })

  it('make place for the workers of the next cluster, when both name one queue', async (t) => {
    const port = await freePort()
    const on = [{ port, queueName: 'app' }]
    const old = await clusterOn(t, { on })
    const next = await clusterOn(t, { on })
    await assertHeard(next.primary, next.pids, port)
    // Connections come to the old ones, who keep them.
    await assertAllServe(port, old.pids)
    await old.primary.tell('endCluster')
    await until(() => ask(port, '/').then(({ status, pid }) => status === 200 && next.pids.includes(Number(pid)), () => false), 'one of the next has the port')
    await assertAllServe(port, next.pids)
    assert.deepEqual(await next.primary.tell('endWorker', { pid: next.pids[0] }), { code: 0, signal: null, voluntary: true })
    await assertAllServe(port, [next.pids[1]])
  })

  it('lose a process that closes before the port is free', async (t) => {
    const port = await freePort()
    const { primary, pids } = await clusterOn(t, { on: [port] })
    const shop = await member(t, 'shop', `http://*:${port}/shop/`)
    await shop.tell('addPrefix', { name: 'shop', prefix: `http://*:${port}/more/` })
    assert.equal((await ask(port, '/more/')).owner, 'shop')
    await shop.close('shop')
    await assertAllServe(port, pids, '/shop/')
    await shop.tell('release')
    assert.deepEqual(await shop.exit, { code: 0, signal: null })
    await primary.tell('endCluster')
    await assertFree(port)
  })

  it('all have the port that the first of them was given', async (t) => {
    const { primary, pids } = await clusterOn(t, { on: [0, '127.0.0.1'], count: 3 })
    const heard = await primary.tell('heard')
    assert.equal(heard.length, 3)
    const [{ port }] = heard
    assert.ok(heard.every((/** @type {any} */ one) => one.port === port && port > 0))
    await member(t, 'shop', `http://127.0.0.1:${port}/shop/`)
    await assertAllServe(port, pids)
    await assertAlternating(t, port)
    // For Node that is another socket than the one of listen(0).
    await assert.rejects(primary.tell('workers', { name: 'late', on: [port, '127.0.0.1'], count: 1 }), { code: 'EADDRINUSE', syscall: 'bind' })
    // Nobody passes on what comes to other addresses.
    const wide = await member(t)
    await assert.rejects(wide.listen('wide', `http://*:${port}/wide/`), { code: 'EADDRINUSE', port })
    await until(async () => (await stateOf(port)).members.length === 4, 'who was refused has left')
  })

  it('share it when each of them accepts by itself', async (t) => {
    const port = await freePort()
    const { primary, pids } = await clusterOn(t, { on: [port] }, { NODE_CLUSTER_SCHED_POLICY: 'none' })
    const shop = await member(t, 'shop', `http://*:${port}/shop/`)
    await assertAllServe(port, pids)
    await assertAlternating(t, port)
    assert.deepEqual((await stateOf(port)).sockets, [`[::]:${port}`])
    for (const pid of pids) assert.deepEqual(await primary.tell('endWorker', { pid }), { code: 0, signal: null, voluntary: true })
    assert.equal((await ask(port, '/shop/')).owner, 'shop')
    const again = await primary.tell('workers', { name: 'worker', on: [port], count: 2 })
    await assertHeard(primary, [...pids, ...again], port)
    await assertAllServe(port, again)
    assert.equal((await ask(port, '/shop/')).owner, 'shop')
    await shop.close('shop')
    await assertAllServe(port, again, '/shop/')
  })

  it('share it with TLS', async (t) => {
    const port = await freePort()
    const pair = certificate('shared.test')
    const { pids } = await clusterOn(t, { on: [port], secure: true, options: pair })
    await member(t, 'shop', `https://*:${port}/shop/`, pair)
    const answered = new Set()
    for (let i = 0; i < 8; i++) {
      const client = await connect(t, port, undefined, { servername: 'shared.test', ca: [pair.cert] })
      for (const [target, owner] of [['/', 'worker'], ['/shop/', 'shop'], ['/x', 'worker']]) {
        const answer = await client.request(target)
        assert.equal(answer.owner, owner)
        if (owner === 'worker') answered.add(Number(answer.pid))
      }
    }
    assert.deepEqual([...answered].sort(), [...pids].sort())
    const plain = await member(t)
    await assert.rejects(plain.listen('plain', `http://*:${port}/plain/`), { code: 'EADDRINUSE', message: /either http or https/ })
  })

  it('are refused what others have, as Node says it', async (t) => {
    const port = await freePort()
    const inUse = { code: 'EADDRINUSE', syscall: 'bind', address: null, port, message: `bind EADDRINUSE null:${port}` }
    const { pids } = await clusterOn(t, { on: [port] })
    const other = await member(t)
    await assert.rejects(other.tell('workers', { name: 'other', on: [port], count: 1 }), (/** @type {any} */ error) => {
      for (const [name, value] of Object.entries(inUse)) assert.equal(error[name], value, name)
      assert.ok(pids.includes(error.pid), 'who has it can be asked')
      return true
    })
    await assert.rejects(other.listen('all', `http://*:${port}/`), { code: 'EADDRINUSE' })
    await assert.rejects(other.listen('plain', port), { code: 'EADDRINUSE', syscall: 'listen' })
    await assertAllServe(port, pids)
    // Of programs that know nothing of us.
    const stranger = net.createServer().listen(0)
    t.after(() => stranger.close())
    await once(stranger, 'listening')
    const { port: taken } = /** @type {net.AddressInfo} */ (stranger.address())
    const [ours, stock] = await Promise.all([false, true].map(async (isStock) => {
      const one = await member(t)
      return one.tell('workers', { name: 'one', on: [taken], count: 1, stock: isStock }).then(() => null, (error) => ({ ...error, message: error.message }))
    }))
    assert.deepEqual(ours, stock)
    assert.equal(ours?.code, 'EADDRINUSE')
    await assert.rejects(stateOf(taken), 'nothing is left behind')
  })

  it('are refused a prefix that is registered for all of the port, and have it alone with exclusive', async (t) => {
    const port = await freePort()
    const all = await member(t, 'all', `http://*:${port}/`)
    const primary = await member(t)
    await assert.rejects(primary.tell('workers', { name: 'worker', on: [port], count: 1 }), { code: 'EADDRINUSE', syscall: 'bind', pid: all.pid })
    await all.close('all')
    await primary.tell('workers', { name: 'alone', on: [{ port, exclusive: true }], count: 1 })
    assert.equal((await ask(port, '/')).owner, 'alone')
    await assert.rejects(all.listen('all', `http://*:${port}/a/`), { code: 'EADDRINUSE', message: /exclusive: true/ })
    await assert.rejects(primary.tell('workers', { name: 'alone', on: [{ port, exclusive: true }], count: 1 }), { code: 'EADDRINUSE' })
  })

  it('are no application of their own to reservations', async (t) => {
    ownUrlacl(t)
    const port = await freePort()
    addReservation(`http://*:${port}/`, { register: ['app:nobody'] })
    const primary = await member(t)
    await assert.rejects(primary.tell('workers', { name: 'worker', on: [port], count: 1 }), { code: 'EACCES', port })
    await assertFree(port)
    const other = await freePort()
    const { pids } = await clusterOn(t, { on: [other] })
    addReservation(`http://*:${other}/kept/`, { register: ['app:nobody'] })
    await until(async () => (await ask(other, '/kept/')).status === 503, 'the reservation is in force')
    await assertAllServe(other, pids)
  })
})
