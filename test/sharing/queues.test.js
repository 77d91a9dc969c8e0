'use strict'

// Several processes on one prefix: they take requests of one queue.

const assert = require('node:assert/strict')
const { describe, it } = require('node:test')
const { freePort } = require('../helpers/free-port')
const { Load, ask, blockade, connect, kSkip, member, readByPeer, silence, stateOf, until } = require('./kit')

const kConnections = 64
const kRequests = 50
const kAtATime = 4
const kPath = '/shop/'
// What has lain before a thread for 10 ms makes it a blocked one.
const kBlockedMs = 50
const kBothBlockedMs = 1500
const kBetweenRoundsMs = 25
const kRounds = 5
/** I/O threads of a process, at most. */
const kThreadsMax = 4

/** @typedef {import('./kit').Answer} Answer */

/** @param {import('./kit').Client[]} clients @returns {Promise<Answer[]>} of one request each */
async function askFewAtATime (clients) {
  const answers = []
  for (let first = 0; first < clients.length; first += kAtATime) {
    const few = clients.slice(first, first + kAtATime)
    answers.push(...await Promise.all(few.map((client) => client.request(kPath))))
  }
  return answers
}

/** @param {import('./kit').Client[]} clients @returns {Promise<string[]>} who has the connection of each */
async function ownersOf (clients) {
  return (await askFewAtATime(clients)).map(({ owner }) => owner)
}

/**
 * Finds a connection of a process. On a busy machine the process may have been found blocked, and have none for a while.
 *
 * @param {import('./kit').Client[]} clients
 * @param {string} owner
 * @returns {Promise<number>} which one
 */
async function oneOf (clients, owner) {
  let found = -1
  await until(async () => (found = (await ownersOf(clients)).indexOf(owner)) !== -1, `a connection of ${owner}`)
  return found
}

/**
 * Makes a process whose JavaScript is busy a blocked one, by a request that lies before it unread until it is taken back.
 *
 * @param {import('./kit').Client} first has its connection there
 * @param {import('./kit').Client[]} others
 * @returns {Promise<{ answer: Promise<any> }>} when it has lain there long enough
 */
async function layBefore (first, others) {
  const answer = first.request(kPath)
  answer.catch(() => {})
  await readByPeer(first.socket)
  // I/O threads answer these, and have laid before JavaScript what they had read before: otherwise the next requests could be
  // read together with that one, and wait with it.
  for (const { status } of await Promise.all(others.map((client) => client.request('/of-nobody')))) assert.equal(status, 404)
  await silence(kBlockedMs)
  return { answer }
}

/**
 * A process that has no CPU for a moment is passed over as a blocked one, and gets its connections back 100 ms after that. So the shares
 * are looked at in rounds, over a longer time, and the round in the middle decides.
 *
 * @param {number} rounds
 * @param {() => Promise<Answer[]>} ask
 * @returns {Promise<Answer[]>} all answers
 */
async function answersInEvenRounds (rounds, ask) {
  const answers = []
  const shares = []
  for (let i = 0; i < rounds; i++) {
    const some = await ask()
    answers.push(...some)
    shares.push(some.filter(({ owner }) => owner === 'a').length / some.length)
    await silence(kBetweenRoundsMs)
  }
  const middle = [...shares].sort((a, b) => a - b)[rounds >> 1]
  assert.ok(middle >= 0.4 && middle <= 0.6, `the share of a in each round: ${shares.join(' ')}`)
  return answers
}

/** @param {number} port @param {string} [queueMode] @param {string} [queueName] */
const onQueue = (port, queueMode = 'createOrAttach', queueName = 'shop') => ({ prefix: `http://*:${port}${kPath}`, queueName, queueMode })

describe('A queue', { skip: kSkip }, () => {
  it('is opened and attached to as its mode says', async (t) => {
    const port = await freePort()
    const [a, b, c] = await Promise.all([member(t), member(t), member(t)])
    await assert.rejects(a.listen('a', onQueue(port, 'attach')), (/** @type {any} */ error) => {
      assert.deepEqual([error.code, error.port], ['ENOENT', port])
      assert.match(error.message, /"shop"/)
      return true
    })
    await a.listen('a', onQueue(port, 'create'))
    await assert.rejects(b.listen('b', onQueue(port, 'create')), { code: 'EADDRINUSE', pid: a.pid })
    await assert.rejects(b.listen('b', onQueue(port, 'attach', 'other')), { code: 'ENOENT' })
    await assert.rejects(b.listen('b', onQueue(port, 'createOrAttach', 'other')), { code: 'EADDRINUSE', pid: a.pid })
    await assert.rejects(b.listen('b', `http://*:${port}${kPath}`), { code: 'EADDRINUSE', pid: a.pid })
    await b.listen('b', onQueue(port, 'attach'))
    await c.listen('c', onQueue(port, 'createOrAttach'))
    const owners = new Set()
    for (let i = 0; i < 60; i++) owners.add((await ask(port, kPath)).owner)
    assert.deepEqual([...owners].sort(), ['a', 'b', 'c'])
    // The one that opened it is nothing special.
    await a.close('a')
    await a.listen('a', onQueue(port, 'attach'))
    await assert.rejects(a.listen('a2', onQueue(port, 'create')), { code: 'EADDRINUSE' })
  })

  it('gives new connections to its processes evenly', async (t) => {
    const port = await freePort()
    const members = await Promise.all([member(t, 'a', onQueue(port)), member(t, 'b', onQueue(port))])
    const rounds = 25
    const count = rounds * 12
    // Code that has run is faster: a thread that compiles is passed over as a blocked one.
    for (let i = 0; i < 60; i++) await ask(port, kPath)
    /** @type {import('./kit').Client[]} */
    const clients = []
    const answers = await answersInEvenRounds(rounds, async () => {
      const some = []
      while (some.length < count / rounds) {
        const few = await Promise.all(Array.from({ length: kAtATime }, () => connect(t, port)))
        clients.push(...few)
        some.push(...await Promise.all(few.map((client) => client.request(kPath))))
      }
      return some
    })
    assert.deepEqual([...new Set(answers.map(({ owner }) => owner))].sort(), ['a', 'b'])
    // A connection stays where it is: what is handed to and fro moves in each round.
    const owners = answers.map(({ owner }) => owner)
    const moved = []
    for (let i = 0; i < kRounds; i++) {
      await silence(kBetweenRoundsMs)
      const now = await ownersOf(clients)
      moved.push(now.filter((owner, i) => owner !== owners[i]).length)
      owners.splice(0, count, ...now)
    }
    const middle = [...moved].sort((a, b) => a - b)[kRounds >> 1]
    assert.ok(middle <= 0.1 * count, `connections that moved in each round: ${moved.join(' ')}`)
    const served = await Promise.all(members.map((one) => one.tell('requests')))
    assert.equal(served[0] + served[1], (1 + kRounds) * count + 60)
  })

  it('shares the requests of keep-alive connections out evenly', async (t) => {
    const port = await freePort()
    await Promise.all([member(t, 'a', onQueue(port)), member(t, 'b', onQueue(port))])
    for (let i = 0; i < 60; i++) await ask(port, kPath)
    const clients = await Promise.all(Array.from({ length: kConnections }, () => connect(t, port)))
    const answers = await answersInEvenRounds(kRequests, () => askFewAtATime(clients))
    assert.equal(answers.filter(({ owner }) => owner === 'a' || owner === 'b').length, kConnections * kRequests)
  })

  it('gives what a blocked process has not begun to another one', async (t) => {
    const port = await freePort()
    // The first one accepts the connections.
    const b = await member(t, 'b', onQueue(port))
    const a = await member(t, 'a', onQueue(port))
    const clients = await Promise.all(Array.from({ length: kConnections }, () => connect(t, port)))
    await Promise.all(clients.map((client) => client.request(kPath)))
    const first = await oneOf(clients, 'a')
    const release = await a.block(t)
    const others = clients.filter((_, i) => i !== first)
    // How long others wait is measured by npm run bench.
    const { answer } = await layBefore(clients[first], others)
    const answers = await Promise.all(others.map((client) => client.request(kPath)))
    // The other one gives it nothing, because it knows.
    const handedOver = async () => (await stateOf(port)).members.map((/** @type {any} */ one) => [one.pid, one.handedOver])
    const before = Object.fromEntries(await handedOver())
    for (let i = 0; i < 40; i++) answers.push(await ask(port, kPath))
    const after = Object.fromEntries(await handedOver())
    // Each of its I/O threads hears of it with the first that it gets.
    assert.ok(after[b.pid] - before[b.pid] <= kThreadsMax, `${after[b.pid] - before[b.pid]} connections for the blocked process`)
    answers.push(await answer)
    assert.deepEqual([...new Set(answers.map(({ owner }) => owner))], ['b'])
    release()
  })

  it('gives a process its turn again when the last request that it was given is over', async (t) => {
    const port = await freePort()
    // The first one accepts the connections, and gives half of them to the other one.
    await member(t, 'b', onQueue(port))
    await member(t, 'a', onQueue(port))
    const clients = await Promise.all(Array.from({ length: kConnections }, () => connect(t, port)))
    const first = clients[await oneOf(clients, 'a')]
    const left = clients.filter((client) => client !== first)
    const second = left[await oneOf(left, 'a')]
    const { folder, isBusy, release } = blockade(t)
    const answer = first.request(`${kPath}?block=${folder}`)
    await isBusy()
    const free = (await second.request(kPath)).owner
    release()
    // On a busy machine the first connection may have moved before.
    const blocked = (await answer).owner
    assert.notEqual(blocked, free)
    await until(async () => (await ask(port, kPath)).owner === blocked, 'a request for the process that was blocked')
  })

  for (const isFirst of [true, false]) {
    const which = isFirst ? 'was blocked first' : 'was blocked last'
    it(`gives requests to the process that is free first, when all were blocked and it ${which}`, async (t) => {
      const port = await freePort()
      const [a, b] = await Promise.all([member(t, 'a', onQueue(port)), member(t, 'b', onQueue(port))])
      // A process with another prefix is not blocked, and cannot help.
      await member(t, 'c', `http://*:${port}/other/`)
      const clients = await Promise.all(Array.from({ length: kConnections }, () => connect(t, port)))
      const ofA = clients[await oneOf(clients, 'a')]
      const left = clients.filter((client) => client !== ofA)
      const ofB = left[await oneOf(left, 'b')]
      const others = left.filter((client) => client !== ofB)
      const releaseA = await a.block(t)
      const releaseB = await b.block(t)
      const first = await layBefore(ofA, [])
      const last = await layBefore(ofB, [])
      const answers = others.map((client) => client.request(kPath))
      // Requests that one of them has passed on wait for the other one.
      await silence(kBothBlockedMs)
      isFirst ? releaseA() : releaseB()
      const owners = (await Promise.all([...answers, first.answer, last.answer])).map(({ owner }) => owner)
      assert.deepEqual([...new Set(owners)], [isFirst ? 'a' : 'b'])
    })
  }

  it('gets its connections back when it is not blocked any more', async (t) => {
    const port = await freePort()
    const [a] = await Promise.all([member(t, 'a', onQueue(port)), member(t, 'b', onQueue(port))])
    for (let i = 0; i < 60; i++) await ask(port, kPath)
    const clients = await Promise.all(Array.from({ length: kConnections }, () => connect(t, port)))
    /** @type {string[]} */
    let owners = []
    const askAll = async () => {
      owners = await ownersOf(clients)
      const ofA = owners.filter((owner) => owner === 'a').length
      return { a: ofA, b: owners.length - ofA }
    }
    const isEven = (/** @type {{ a: number, b: number }} */ { a, b }) => Math.min(a, b) >= 0.4 * (a + b)
    await until(async () => isEven(await askAll()), 'an even start')
    const first = clients[owners.indexOf('a')]
    const release = await a.block(t)
    const others = clients.filter((client) => client !== first)
    const { answer } = await layBefore(first, others)
    // All at once, and again: what comes for the one that is blocked does not wait, also when the other one has its connection.
    for (let i = 0; i < 3; i++) {
      const answers = await Promise.all(others.map((client) => client.request(kPath)))
      assert.deepEqual([...new Set(answers.map(({ owner }) => owner))], ['b'])
    }
    assert.equal((await answer).owner, 'b')
    release()
    await until(async () => isEven(await askAll()), 'as even as before')
    // And they stay there: what moves now is due to a busy machine.
    const all = { a: 0, b: 0 }
    const handedOver = async () => (await stateOf(port)).members.reduce((/** @type {number} */ sum, /** @type {any} */ one) => sum + one.handedOver, 0)
    const before = await handedOver()
    for (let i = 0; i < 20; i++) {
      // Over so long that one moment in which a machine has no time for one of them does not count.
      await silence(kBetweenRoundsMs)
      const answers = await askAll()
      all.a += answers.a
      all.b += answers.b
    }
    assert.ok(isEven(all), JSON.stringify(all))
    const moved = await handedOver() - before
    assert.ok(moved <= 0.2 * (all.a + all.b), `${moved} connections moved`)
  })

  it('is not asked to give back connections of one that has gone', async (t) => {
    const port = await freePort()
    const [a] = await Promise.all([member(t, 'a', onQueue(port)), member(t, 'b', onQueue(port))])
    const clients = await Promise.all(Array.from({ length: kConnections }, () => connect(t, port)))
    const first = await oneOf(clients, 'a')
    await a.block(t)
    const others = clients.filter((_, i) => i !== first)
    await layBefore(clients[first], others)
    const kept = await Promise.all(others.map(async (client) => [client, (await client.request(kPath)).owner]))
    await a.kill()
    for (const [client, owner] of /** @type {[import('./kit').Client, string][]} */ (kept)) {
      if (owner === 'b') assert.equal((await client.request(kPath)).owner, 'b')
    }
  })

  it('goes on when one of its processes is killed', async (t) => {
    const port = await freePort()
    const [a] = await Promise.all([member(t, 'a', onQueue(port)), member(t, 'b', onQueue(port))])
    const clients = await Promise.all(Array.from({ length: 16 }, () => connect(t, port)))
    const answers = await Promise.all(clients.map((client) => client.request(kPath)))
    await a.kill()
    for (const [i, client] of clients.entries()) {
      if (answers[i].owner === 'b') assert.equal((await client.request(kPath)).owner, 'b')
    }
    for (let i = 0; i < 20; i++) assert.deepEqual(await ask(port, kPath).then(({ status, owner }) => [status, owner]), [200, 'b'])
  })

  it('loses no request while its processes come and go', async (t) => {
    const port = await freePort()
    const [a, b] = await Promise.all([member(t, 'a', onQueue(port)), member(t, 'b', onQueue(port))])
    const loads = [
      new Load(t, { port, targets: [kPath], owners: () => /^[abc]$/ }),
      new Load(t, { port, targets: [kPath], owners: () => /^[abc]$/, isKept: false })
    ]
    const goOn = () => Promise.all(loads.map((load) => load.further(10)))
    await goOn()
    for (const [one, name] of /** @type {const} */ ([[a, 'a'], [b, 'b'], [a, 'a'], [b, 'b']])) {
      await one.close(name)
      await goOn()
      await one.listen(name, onQueue(port))
      await goOn()
    }
    for (const load of loads) await load.stopUnharmed()
  })

  it('has its own requests only: other prefixes of the port are apart', async (t) => {
    const port = await freePort()
    await Promise.all([
      member(t, 'a', { prefixes: [`http://*:${port}/q/`, `http://*:${port}/r/`], queueName: 'q', queueMode: 'createOrAttach' }),
      member(t, 'b', { prefix: `http://*:${port}/q/`, queueName: 'q', queueMode: 'createOrAttach' }),
      member(t, 'c', `http://*:${port}/c/`)
    ])
    for (let i = 0; i < 10; i++) {
      assert.match((await ask(port, '/q/')).owner, /^[ab]$/)
      assert.equal((await ask(port, '/r/')).owner, 'a')
      assert.equal((await ask(port, '/c/')).owner, 'c')
    }
  })
})
