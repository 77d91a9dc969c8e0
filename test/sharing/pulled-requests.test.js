'use strict'

// Requests that a blocked process of a queue has not begun go to another one, and run exactly once. A
// process stays blocked until the test says otherwise: whoever waited for it would wait for ever.

const assert = require('node:assert/strict')
const http2 = require('node:http2')
const { once } = require('node:events')
const { describe, it } = require('node:test')
const { certificate } = require('../helpers/certificates')
const { freePort } = require('../helpers/free-port')
const { someOf } = require('../helpers/thorough')
const { blockade, connect, kSkip, member, silence, sleep, until } = require('./kit')

const kAtOnce = 64
/** So many that both processes have some of them. */
const kSessions = 8
const kPath = '/shop/'
/** Longer than what the engine keeps of a request for another owner. */
const kLongBytes = 17_000
const kLongEnoughMs = 300

/** @typedef {import('node:test').TestContext} Context */
/** @typedef {{ status: number, owner: string, pid: string }} Answer */
/** @typedef {(method: string, target: string, body: string) => Promise<Answer>} Ask */

const trusting = () => ({ servername: 'shared.test', ca: certificate('shared.test').cert })

/** @param {Context} t @param {number} port @param {import('node:tls').ConnectionOptions} [secure] @returns {Promise<Ask>} on one kept connection */
async function asking (t, port, secure) {
  const client = await connect(t, port, undefined, secure)
  return (method, target, body) => client.request(target, { method, body })
}

/** @param {Context} t @param {number} port @returns {Promise<Ask>} on streams of one connection */
async function streaming (t, port) {
  const session = http2.connect(`https://127.0.0.1:${port}`, trusting())
  session.on('error', () => {})
  t.after(() => session.destroy())
  await once(session, 'remoteSettings')
  return async (method, target, body) => {
    const stream = session.request({ ':method': method, ':path': target, ':authority': 'shared.test' }, { endStream: body === '' })
    if (body !== '') stream.end(body)
    const [headers] = await once(stream, 'response')
    let text = ''
    for await (const piece of stream.setEncoding('latin1')) text += piece
    const [owner, pid] = text.split(' ')
    return { status: Number(headers[':status']), owner, pid }
  }
}

/** How the requests come. @type {Record<string, { isSecure: boolean, clients: (t: Context, port: number) => Promise<Ask[]> }>} */
const kForms = {
  'on new connections': {
    isSecure: false,
    clients: async (t, port) => Array.from({ length: kAtOnce }, () => async (method, target, body) => (await asking(t, port))(method, target, body))
  },
  'on kept connections': {
    isSecure: false,
    clients: (t, port) => Promise.all(Array.from({ length: kAtOnce }, () => asking(t, port)))
  },
  'on connections with TLS': {
    isSecure: true,
    clients: (t, port) => Promise.all(Array.from({ length: kAtOnce }, () => asking(t, port, trusting())))
  },
  'on streams of HTTP/2': {
    isSecure: true,
    clients: async (t, port) => (await Promise.all(Array.from({ length: kSessions }, async () => Array(kAtOnce / kSessions).fill(await streaming(t, port))))).flat()
  }
}

/** @param {number} port @param {boolean} [isSecure] @returns {any[]} arguments of listen() */
const onQueue = (port, isSecure = false) => [
  { prefix: `http${isSecure ? 's' : ''}://*:${port}${kPath}`, queueName: 'shop', queueMode: 'createOrAttach' },
  ...(isSecure ? [certificate('shared.test')] : [])
]

/** @param {Context} t @param {number} port @param {boolean} [isSecure] */
const twoMembers = (t, port, isSecure) => Promise.all(['a', 'b'].map((name) => member(t, name, ...onQueue(port, isSecure))))

/** @param {import('./kit').Member[]} members @returns {Promise<number>} requests that their handlers have seen */
async function servedBy (members) {
  const counts = await Promise.all(members.map((one) => one.tell('requests')))
  return counts.reduce((sum, count) => sum + count, 0)
}

/** Two processes whose clients have all been answered once. @param {Context} t @param {{ isSecure: boolean, clients: (t: Context, port: number) => Promise<Ask[]> }} kind */
async function served (t, { isSecure, clients }) {
  const port = await freePort()
  const members = await twoMembers(t, port, isSecure)
  const asks = await clients(t, port)
  await Promise.all(asks.map((ask) => ask('GET', kPath, '')))
  return { members, asks, before: await servedBy(members) }
}

/** @param {Answer[]} answers @returns {string[]} */
const ownersOf = (answers) => [...new Set(answers.map(({ status, owner }) => `${status} ${owner}`))].sort()

/** @param {number} i */
const methodOf = (i) => /** @type {[string, string]} */ (i % 2 === 0 ? ['GET', ''] : ['POST', `body ${i}`])

describe('Requests that a blocked process has not begun', { skip: kSkip }, () => {
  for (const [form, kind] of Object.entries(kForms)) {
    it(`go to another process: ${form}, blocked by its own work`, async (t) => {
      const { members, asks, before } = await served(t, kind)
      const release = await members[0].block(t)
      const answers = await Promise.all(asks.map((ask, i) => ask(methodOf(i)[0], `${kPath}?n=${i}`, methodOf(i)[1])))
      assert.deepEqual(ownersOf(answers), ['200 b'])
      release()
      await members[0].tell('requests')
      assert.equal(await servedBy(members), before + kAtOnce)
      // Whoever was lent is served as before.
      assert.deepEqual(ownersOf(await Promise.all(asks.map((ask) => ask('GET', kPath, '')))).filter((owner) => !/^200 [ab]$/.test(owner)), [])
    })

    it(`go to another process: ${form}, blocked by one of them`, async (t) => {
      const { members, asks, before } = await served(t, kind)
      const { folder, release } = blockade(t)
      const all = asks.map((ask, i) => i === kAtOnce / 2 ? ask('GET', `${kPath}?block=${folder}`, '') : ask(methodOf(i)[0], `${kPath}?n=${i}`, methodOf(i)[1]))
      const [blocked] = all.splice(kAtOnce / 2, 1)
      const answers = await Promise.all(all)
      assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200])
      release()
      assert.equal((await blocked).status, 200)
      assert.equal(await servedBy(members), before + kAtOnce)
    })
  }

  for (const form of ['on connections with TLS', 'on streams of HTTP/2']) {
    it(`go to the one of three that is free, also from a second one that is blocked: ${form}`, async (t) => {
      const port = await freePort()
      const members = await Promise.all(['a', 'b', 'c'].map((name) => member(t, name, ...onQueue(port, true))))
      const asks = await kForms[form].clients(t, port)
      const first = await Promise.all(asks.map((ask) => ask('GET', kPath, '')))
      const before = await servedBy(members)
      const releases = [await members[0].block(t), await members[1].block(t)]
      const answers = await Promise.all(asks.map((ask, i) => ask(methodOf(i)[0], `${kPath}?n=${i}`, methodOf(i)[1])))
      assert.deepEqual(ownersOf(answers), ['200 c'], `before: ${ownersOf(first)}`)
      for (const release of releases) release()
      assert.equal(await servedBy(members), before + kAtOnce)
    })
  }

  it('stay in order on their connection, behind one that it has begun', async (t) => {
    const port = await freePort()
    const members = await twoMembers(t, port)
    const client = await connect(t, port)
    const { folder, release, isBusy } = blockade(t)
    const first = client.request(`${kPath}?block=${folder}`)
    await isBusy()
    const rest = client.send(['x', 'y', 'z'].map((name) => `GET ${kPath}${name} HTTP/1.1\r\nHost: shared.test\r\n\r\n`).join(''), 3)
    await silence(kLongEnoughMs)
    release()
    const bodies = (await Promise.all([first, ...rest])).map(({ body }) => body.split(' ')[4].split('?')[0])
    assert.deepEqual(bodies, ['', 'x', 'y', 'z'].map((name) => `${kPath}${name}`))
    assert.equal(await servedBy(members), 4)
  })

  it('stay in order when several of one connection go', async (t) => {
    const port = await freePort()
    const members = await twoMembers(t, port)
    const clients = await Promise.all(Array.from({ length: 16 }, () => connect(t, port)))
    for (const client of clients) await client.request(kPath)
    await members[0].block(t)
    // A connection may have 16 requests under way.
    const names = Array.from({ length: 16 }, (_, i) => `x${i}`)
    const answers = await Promise.all(clients.map((client) => Promise.all(client.send(
      names.map((name) => `GET ${kPath}${name} HTTP/1.1\r\nHost: shared.test\r\n\r\n`).join(''), names.length))))
    for (const some of answers) assert.deepEqual(some.map(({ owner, body }) => [owner, body.split(' ')[4]]), names.map((name) => ['b', `${kPath}${name}`]))
  })

  it('go although their clients will ask nothing more', async (t) => {
    const port = await freePort()
    const members = await twoMembers(t, port)
    const clients = await Promise.all(Array.from({ length: 16 }, () => connect(t, port)))
    for (const client of clients) await client.request(kPath)
    await members[0].block(t)
    const answers = await Promise.all(clients.map((client) => client.request(kPath, { headers: ['Connection: close'] })))
    assert.deepEqual(ownersOf(answers), ['200 b'])
    await Promise.all(clients.map(({ closed }) => closed))
  })

  it('go as upgrades, too', async (t) => {
    const port = await freePort()
    const members = await twoMembers(t, port)
    const clients = await Promise.all(Array.from({ length: 16 }, () => connect(t, port)))
    for (const client of clients) await client.request(kPath)
    await members[0].block(t)
    for (const { socket } of clients) {
      socket.removeAllListeners('data')
      socket.write(`GET ${kPath} HTTP/1.1\r\nHost: shared.test\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\nfirst`)
    }
    const texts = await Promise.all(clients.map(async ({ socket }) => {
      let text = ''
      socket.on('data', (piece) => { text += piece })
      await until(() => text.endsWith('first'), 'the echo')
      return text
    }))
    for (const text of texts) assert.match(text, /^HTTP\/1\.1 101 [^]*X-Owner: b\r\n\r\nb:first$/)
  })

  const kHead = 'HTTP/1.1\r\nHost: shared.test\r\n'
  const kLong = `${kHead}Content-Length: ${kLongBytes}\r\n\r\n${'x'.repeat(kLongBytes)}`
  /** What comes at first, what comes later, and the path and the body bytes of each request. @type {Record<string, [string, string, [string, number][]]>} */
  const kStaying = {
    'too long to be kept': [`POST ${kPath} ${kLong}`, '', [[kPath, kLongBytes]]],
    'not whole': [`POST ${kPath} ${kHead}Content-Length: 10\r\n\r\nfive `, 'bytes', [[kPath, 10]]],
    'before one that waits': [`GET ${kPath} ${kHead}\r\nPOST ${kPath} ${kLong}`, '', [[kPath, 0], [kPath, kLongBytes]]]
  }
  for (const [what, [first, later, requests]] of Object.entries(kStaying)) {
    it(`wait for it when they are ${what}`, async (t) => {
      const port = await freePort()
      const members = await twoMembers(t, port)
      const clients = await Promise.all(Array.from({ length: 8 }, () => connect(t, port)))
      let ofA = clients[0]
      await until(async () => {
        const owners = await Promise.all(clients.map((client) => client.request(kPath)))
        const found = clients.find((_, i) => owners[i].owner === 'a')
        if (found !== undefined) ofA = found
        return found !== undefined
      }, 'a connection of a')
      const release = await members[0].block(t)
      const answers = ofA.send(first, requests.length)
      await silence(kLongEnoughMs)
      ofA.socket.write(later)
      assert.equal(await Promise.race([...answers, sleep(kLongEnoughMs)]), undefined)
      release()
      const told = (await Promise.all(answers)).map(({ owner, body }) => [owner, body.split(' ')[4], Number(body.split(' ')[5])])
      assert.deepEqual(told, requests.map(([target, bytes]) => ['a', target, bytes]))
    })
  }

  it('are answered by others when it is killed', async (t) => {
    for (const form of someOf(Object.keys(kForms), 2)) {
      const { members, asks } = await served(t, kForms[form])
      await members[0].block(t)
      // A connection that the process holds is lost with it; requests that have gone are not.
      const answers = Promise.all(asks.map((ask) => ask('POST', kPath, 'body').catch(() => null)))
      await sleep(kLongEnoughMs)
      await members[0].kill()
      assert.deepEqual(ownersOf(/** @type {Answer[]} */ ((await answers).filter((answer) => answer !== null))), ['200 b'], form)
      await members[1].kill()
    }
  })

  for (const isSecure of [false, true]) {
    it(`are answered by whoever is free first when all are blocked${isSecure ? ', with TLS' : ''}`, async (t) => {
      const port = await freePort()
      const members = await twoMembers(t, port, isSecure)
      const asks = await Promise.all(Array.from({ length: kAtOnce }, () => asking(t, port, isSecure ? trusting() : undefined)))
      await Promise.all(asks.map((ask) => ask('GET', kPath, '')))
      const before = await servedBy(members)
      const releaseA = await members[0].block(t)
      const release = await members[1].block(t)
      const all = Promise.all(asks.map((ask, i) => ask(methodOf(i)[0], `${kPath}?n=${i}`, methodOf(i)[1])))
      await silence(kLongEnoughMs * 3)
      release()
      assert.deepEqual(ownersOf(await all), ['200 b'])
      releaseA()
      assert.equal(await servedBy(members), before + kAtOnce)
    })
  }

  it('go from one worker thread to another, and to other processes', async (t) => {
    const port = await freePort()
    const one = await member(t)
    for (const name of ['t1', 't2']) await one.tell('thread', { name, on: onQueue(port) })
    await testThreads(t, port, 2)
    await member(t, 'b', ...onQueue(port))
    await testThreads(t, port, 3)
  })

  it('go from one worker of a cluster to another', async (t) => {
    const port = await freePort()
    const primary = await member(t)
    await primary.tell('workers', { name: 'worker', on: onQueue(port), count: 2 })
    await testThreads(t, port, 2)
  })
})

/** Blocks one of `count` owners by a request: the others answer the rest. @param {Context} t @param {number} port @param {number} count */
async function testThreads (t, port, count) {
  const asks = await kForms['on kept connections'].clients(t, port)
  const pids = new Set()
  await until(async () => {
    for (const { pid } of await Promise.all(asks.map((ask) => ask('GET', kPath, '')))) pids.add(pid)
    return pids.size === count
  }, `answers of ${count} owners`)
  const { folder, release } = blockade(t)
  const blocked = asks[0]('GET', `${kPath}?block=${folder}`, '')
  const answers = await Promise.all(asks.slice(1).map((ask, i) => ask(methodOf(i)[0], `${kPath}?n=${i}`, methodOf(i)[1])))
  assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200])
  release()
  assert.equal((await blocked).status, 200)
}
