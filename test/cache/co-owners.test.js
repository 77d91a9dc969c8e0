'use strict'

// Goal: what one owner of a URL makes obsolete, by an unsafe request or by a flush, no other owner gives out any more once the answer to that
// request, or the result of the flush, is there; and no other owner stores what was asked for before. Method: two processes of one queue, each
// with a cache and a client whose connection it has; every answer of JavaScript has no Age, and every stored one has.

const assert = require('node:assert/strict')
const http2 = require('node:http2')
const { once } = require('node:events')
const { describe, it } = require('node:test')
const { freePort } = require('../helpers/free-port')
const { localhost } = require('../helpers/tls')
const { silence } = require('../helpers/waiting')
const { Member, connect, kSkip, member, until } = require('../sharing/kit')

/** @typedef {{ status: number, owner: string, pid: string, isStored: boolean, requests: string }} Told */
/** @typedef {(target: string, method?: string) => Promise<Told>} Ask */

const kFresh = `cc=${encodeURIComponent('public, max-age=600')}`
const kHost = 'localhost'

/** @param {number} status @param {any} headers @param {string} body @returns {Told} */
function told (status, headers, body) {
  const [owner, pid] = body.split(' ')
  return { status, owner, pid, isStored: headers.age !== undefined, requests: headers['x-requests'] }
}

/** @param {import('node:test').TestContext} t @param {number} port @param {any} [secure] @returns {Promise<Ask>} */
async function byHttp1 (t, port, secure) {
  const client = await connect(t, port, '127.0.0.1', secure)
  return async (target, method = 'GET') => {
    const { status, headers, body } = await client.request(target, { method, host: `${kHost}:${port}`, ...(method === 'GET' ? {} : { body: 'x' }) })
    return told(status, headers, body)
  }
}

/** @param {import('node:test').TestContext} t @param {number} port @param {any} secure */
async function sessionTo (t, port, secure) {
  const session = http2.connect(`https://${kHost}:${port}`, secure)
  session.on('error', () => {})
  t.after(() => session.destroy())
  await once(session, 'connect')
  return session
}

/** @param {import('node:test').TestContext} t @param {number} port @param {any} secure @returns {Promise<Ask>} */
async function byHttp2 (t, port, secure) {
  let session = await sessionTo(t, port, secure)
  return async (target, method = 'GET') => {
    // A server may end a session between two requests.
    if (session.closed || session.destroyed) session = await sessionTo(t, port, secure)
    const stream = session.request({ ':path': target, ':method': method }, { endStream: method === 'GET' })
    if (method !== 'GET') stream.end('x')
    const [headers] = await once(stream, 'response')
    let body = ''
    for await (const piece of stream) body += piece.toString('latin1')
    return told(headers[':status'], headers, body)
  }
}

const kSecure = { ca: localhost().cert, servername: kHost }
/** @type {Record<string, { scheme: string, open: (t: import('node:test').TestContext, port: number) => Promise<Ask> }>} */
const kProtocols = {
  'HTTP/1.1': { scheme: 'http', open: byHttp1 },
  'HTTP/1.1 with TLS': { scheme: 'https', open: (t, port) => byHttp1(t, port, kSecure) },
  'HTTP/2': { scheme: 'https', open: (t, port) => byHttp2(t, port, kSecure) }
}

/**
 * A server that owns a prefix together with those of other processes.
 *
 * @param {Member} process @param {string} name @param {number} port @param {{ scheme?: string, cache?: any, path?: string }} [options]
 */
function own (process, name, port, { scheme = 'http', cache = true, path = '/shop/' } = {}) {
  const secure = scheme === 'https'
  const on = [{ prefix: `${scheme}://${kHost}:${port}${path}`, queueName: 'shop', queueMode: 'createOrAttach' }]
  return process.tell('listen', { name, on, secure, options: { cache, ...(secure && { ...localhost(), http2: true }) } })
}

/**
 * A client of one owner: its connection is with that process.
 *
 * @param {() => Promise<Ask>} open @param {(answer: Told) => boolean} isWanted
 */
async function clientOf (open, isWanted) {
  /** @type {Ask | undefined} */
  let found
  await until(async () => {
    const ask = await open()
    if (isWanted(await ask('/shop/who'))) found = ask
    return found !== undefined
  }, 'a connection of the owner')
  return /** @type {Ask} */ (found)
}

/** @param {import('node:test').TestContext} t @param {any} [options] of own() @param {string} [protocol] */
async function pair (t, options = {}, protocol = 'HTTP/1.1') {
  const { scheme, open } = kProtocols[protocol]
  const port = await freePort()
  const [a, b] = [await member(t), await member(t)]
  await own(a, 'a', port, { ...options, scheme })
  await own(b, 'b', port, { ...options, scheme })
  return { port, a, b, ask: await open(t, port) }
}

/** The same with a client of each. @param {import('node:test').TestContext} t @param {any} [options] of own() */
async function pairOfClients (t, options) {
  const { port, a, b } = await pair(t, options)
  const of = (/** @type {string} */ name) => clientOf(() => byHttp1(t, port), ({ owner }) => owner === name)
  return { port, a, b, of, askA: await of('a'), askB: await of('b') }
}

/** Asks until the answer is a stored one. @param {Ask} ask @param {string} target @param {string} [name] of the owner that has stored it */
async function warm (ask, target, name) {
  /** @type {Told | undefined} */
  let answer
  await until(async () => {
    answer = await ask(target)
    return answer.isStored && (name === undefined || answer.owner === name)
  }, 'a stored answer')
  return /** @type {Told} */ (answer)
}

/** @param {Ask} ask @param {string} target @param {string} [message] */
async function assertFresh (ask, target, message) {
  const { status, isStored } = await ask(target)
  assert.deepEqual([status, isStored], [200, false], message)
}

describe('Several owners of a URL with a cache', { skip: kSkip }, () => {
  for (const protocol of Object.keys(kProtocols)) {
    it(`give out nothing that an unsafe request to one of them has made obsolete, over ${protocol}`, async (t) => {
      const { port, ask, ...members } = await pair(t, {}, protocol)
      const other = await kProtocols[protocol].open(t, port)
      for (let i = 0; i < 5; i++) {
        const target = `/shop/${i}?${kFresh}`
        const stored = await warm(ask, target)
        // Whoever has the connections, the other one answers now.
        const owner = members[/** @type {'a' | 'b'} */ (stored.owner)]
        const release = await owner.block(t)
        const unsafe = await other(target, i % 2 === 0 ? 'POST' : 'DELETE')
        assert.equal(unsafe.status, 200)
        assert.notEqual(unsafe.owner, stored.owner)
        await assertFresh(ask, target)
        release()
        await owner.tell('requests')
      }
    })
  }

  it('give out nothing that an unsafe request to the other one has made obsolete, by turns', async (t) => {
    const { askA, askB } = await pairOfClients(t)
    for (let i = 0; i < 5; i++) {
      const target = `/shop/${i}?${kFresh}`
      await warm(askA, target, 'a')
      await warm(askB, target, 'b')
      await askB(target, 'POST')
      await assertFresh(askA, target)
      await assertFresh(askB, target)
      await warm(askA, target, 'a')
      await warm(askB, target, 'b')
      await askA(target, 'PUT')
      await assertFresh(askB, target)
    }
    const other = `/shop/other?${kFresh}`
    await warm(askA, other, 'a')
    await askB(`/shop/something?${kFresh}`, 'POST')
    assert.equal((await askA(other)).isStored, true, 'another URL')
  })

  for (const order of ['before', 'after']) {
    it(`hear of each other if one adds the prefix ${order} the other one has it`, async (t) => {
      const port = await freePort()
      const [a, b] = [await member(t), await member(t)]
      const adds = () => a.tell('addPrefix', { name: 'a', prefix: `http://${kHost}:${port}/shop/` })
      await own(a, 'a', port, { path: '/first/' })
      if (order === 'before') await adds()
      await own(b, 'b', port)
      if (order === 'after') await adds()
      const of = (/** @type {string} */ name) => clientOf(() => byHttp1(t, port), ({ owner }) => owner === name)
      const [askA, askB] = [await of('a'), await of('b')]
      const target = `/shop/1?${kFresh}`
      await warm(askA, target, 'a')
      await warm(askB, target, 'b')
      await askB(target, 'POST')
      await assertFresh(askA, target)
      await warm(askB, target, 'b')
      await askA(target, 'POST')
      await assertFresh(askB, target)
    })
  }

  it('forget what is flushed at one of them: a URL, all below one, everything', async (t) => {
    const { port, b, askA } = await pairOfClients(t)
    const targets = [`/shop/1?${kFresh}`, `/shop/2?${kFresh}`]
    const flush = (/** @type {any[]} */ ...args) => b.tell('cache', { name: 'b', call: 'flush', args })
    for (const target of targets) await warm(askA, target, 'a')
    await flush(`http://${kHost}:${port}${targets[0]}`)
    await assertFresh(askA, targets[0], 'a URL')
    assert.equal((await askA(targets[1])).isStored, true, 'another URL')
    for (const target of targets) await warm(askA, target, 'a')
    await flush(`http://*:${port}/shop/`, { recursive: true })
    for (const target of targets) await assertFresh(askA, target, 'all below a URL')
    for (const target of targets) await warm(askA, target, 'a')
    await flush()
    for (const target of targets) await assertFresh(askA, target, 'everything')
    for (const target of targets) await warm(askA, target, 'a')
  })

  it('store nothing that was asked for before, and give it to nobody who waits', async (t) => {
    const { a, b, of, askA, askB } = await pairOfClients(t)
    const second = await of('a')
    const ways = {
      post: (/** @type {string} */ target) => askB(target, 'POST'),
      flush: () => b.tell('cache', { name: 'b', call: 'flush' })
    }
    for (const [way, makeObsolete] of Object.entries(ways)) {
      const target = `/shop/slow-${way}?getms=800&${kFresh}`
      const before = await a.tell('requests')
      const first = askA(target)
      await until(async () => await a.tell('requests') > before, 'the request is there')
      await makeObsolete(target)
      // From here on nobody may get the answer but the client that has asked before.
      const waiter = second(target)
      const [one, two] = await Promise.all([first, waiter])
      assert.deepEqual([one.isStored, one.owner, two.owner], [false, 'a', 'a'])
      assert.notEqual(two.requests, one.requests)
      const three = await second(target)
      if (three.isStored) assert.equal(three.requests, two.requests)
    }
  })

  it('do not give out stale answers that one of them has made obsolete', async (t) => {
    const { askA, askB } = await pairOfClients(t)
    const target = `/shop/stale?cc=${encodeURIComponent('public, max-age=1, stale-while-revalidate=600, stale-if-error=600')}`
    await warm(askA, target, 'a')
    await silence(1100)
    await askB(target, 'POST')
    await assertFresh(askA, target)
  })

  it('keep what an unsafe request names by the rules of HTTP.SYS, and forget what is flushed', async (t) => {
    const { b, askA, askB } = await pairOfClients(t, { cache: { rules: 'httpsys' } })
    const target = `/shop/kept?type=text%2Fplain&${kFresh}`
    const first = await askA(target)
    await until(async () => (await askA(target)).requests === first.requests, 'a stored answer')
    await askB(target, 'POST')
    assert.equal((await askA(target)).requests, first.requests)
    await b.tell('cache', { name: 'b', call: 'flush' })
    assert.notEqual((await askA(target)).requests, first.requests)
  })

  it('hear of an owner that comes later, and from its first answer on', async (t) => {
    const port = await freePort()
    const a = await member(t)
    await own(a, 'a', port)
    const askA = await byHttp1(t, port)
    const targets = Array.from({ length: 20 }, (_, i) => `/shop/${i}?${kFresh}`)
    for (const target of targets) await warm(askA, target, 'a')
    for (let round = 0; round < 3; round++) {
      const b = await member(t)
      await own(b, 'b', port)
      const askB = await clientOf(() => byHttp1(t, port), ({ owner }) => owner === 'b')
      await askB(targets[round], 'POST')
      await assertFresh(askA, targets[round])
      // What the newcomer has not made obsolete is there as soon as its counters are known.
      await until(async () => (await askA(targets[19])).isStored, 'a stored answer')
      await b.kill()
    }
  })

  it('hear what one has said before it was killed, and of the process that takes its place', async (t) => {
    const { port, b, askA, askB } = await pairOfClients(t)
    const [one, two, three] = ['one', 'two', 'three'].map((name) => `/shop/${name}?${kFresh}`)
    for (const target of [one, two, three]) await warm(askA, target, 'a')
    await askB(one, 'POST')
    await b.kill()
    await assertFresh(askA, one)
    assert.equal((await askA(two)).isStored, true, 'nobody has made it obsolete')
    const next = await member(t)
    await own(next, 'b', port)
    const askNext = await clientOf(() => byHttp1(t, port), ({ owner }) => owner === 'b')
    await askNext(two, 'POST')
    await assertFresh(askA, two)
    await until(async () => (await askA(three)).isStored, 'a stored answer')
  })

  it('hear of a request that one answers after it has stopped listening', async (t) => {
    const { b, askA, askB } = await pairOfClients(t)
    const target = `/shop/late?ms=400&${kFresh}`
    await warm(askA, target, 'a')
    const before = await b.tell('requests')
    const late = askB(target, 'POST')
    await until(async () => await b.tell('requests') > before, 'the request is there')
    const closed = b.close('b')
    assert.equal((await late).status, 200)
    await assertFresh(askA, target)
    await closed
  })

  it('may be threads of one process, which have one cache', async (t) => {
    const port = await freePort()
    const process = new Member({ HTTPSYS_CACHE: 'rfc9111' })
    t.after(() => process.kill())
    await process.ready
    const on = [{ prefix: `http://${kHost}:${port}/shop/`, queueName: 'shop', queueMode: 'createOrAttach' }]
    await process.tell('listen', { name: 'a', on })
    await process.tell('thread', { name: 'b', on })
    const askA = await clientOf(() => byHttp1(t, port), ({ owner }) => owner === 'a')
    const askB = await clientOf(() => byHttp1(t, port), ({ owner }) => owner === 'b')
    const target = `/shop/thread?${kFresh}`
    await until(async () => (await askA(target)).isStored, 'a stored answer')
    assert.equal((await askB(target)).isStored, true)
    await askB(target, 'POST')
    await assertFresh(askA, target)
  })

  it('are separate for each prefix that they have together', async (t) => {
    const { port, a, b, askA } = await pairOfClients(t)
    await a.tell('addPrefix', { name: 'a', prefix: `http://${kHost}:${port}/mine/` })
    const mine = `/mine/1?${kFresh}`
    await warm(askA, mine)
    const shop = `/shop/1?${kFresh}`
    await warm(askA, shop)
    await b.tell('cache', { name: 'b', call: 'flush' })
    await assertFresh(askA, shop)
    assert.equal((await askA(mine)).isStored, true)
  })

  for (const [kind, on] of /** @type {[string, (port: number) => any][]} */ ([
    ['a prefix', (port) => `http://${kHost}:${port}/shop/`],
    ['a port', (port) => port]
  ])) {
    it(`may be workers of a cluster that listen on ${kind}`, async (t) => {
      const port = await freePort()
      const primary = await member(t)
      const pids = await primary.tell('workers', { name: 'worker', count: 2, on: [on(port)], options: { cache: true } })
      const clients = []
      for (const pid of pids) clients.push(await clientOf(() => byHttp1(t, port), (answer) => Number(answer.pid) === pid))
      for (let i = 0; i < 4; i++) {
        const target = `/shop/${i}?${kFresh}`
        const [one, two] = i % 2 === 0 ? clients : [...clients].reverse()
        await until(async () => (await one(target)).isStored, 'a stored answer')
        await until(async () => (await two(target)).isStored, 'a stored answer')
        await two(target, 'POST')
        await assertFresh(one, target)
      }
    })
  }
})
