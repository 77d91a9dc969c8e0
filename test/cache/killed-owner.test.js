'use strict'

// Goal: a process that is killed within thousands of stores a second leaves no half of an answer in its cache, from which another process
// answers, and nobody waits for it. Method: a process with a small cache is kept busy with new URLs and with URLs that it stores over each
// other, while clients of another process ask for the same ones; it is killed and started again. Each body has its URL, its process and a
// checksum.

const assert = require('node:assert/strict')
const crypto = require('node:crypto')
const { describe, it } = require('node:test')
const { freePort } = require('../helpers/free-port')
const { Pipeline } = require('./pipelines-kit')
const { kSkip, member, silence, until } = require('../sharing/kit')

/** @typedef {import('../sharing/kit').Member} Member */
/** @typedef {import('./pipelines-kit').Answer} Answer */
/** @typedef {import('./pipelines-kit').Request} Request */

const kRounds = 4
/** From the first hits of the other process until the kill. */
const kStoringMs = 600
/** Longer than any answer takes on a busy machine, and than what a member waits for a silent peer. */
const kBoundMs = 10_000
/** So little that each part of it is overwritten several times before the kill. With the least, 4 MiB, what is popular would not stay. */
const kCacheBytes = 8 * 1024 * 1024
const kWriters = 3
const kReaders = 3
const kAtOnce = 24
/** URLs that are stored again and again; no request for them is answered from the cache when it says so. */
const kHot = 8
const kStoreAgain = 'Cache-Control: no-cache\r\n'
const kBytes = [40, 400, 1500, 6000]

/** @param {string} name @param {number} number */
const targetOf = (name, number) => `/b/${name}${number}?sum=${kBytes[number % kBytes.length]}&cc=${encodeURIComponent('public, max-age=600')}`

/** Clients of a port, and what they have seen. */
class Clients {
  #port
  #isOver = false
  /** Of the URLs that were asked for once. */
  #last = 0
  /** @type {Promise<void>[]} */
  #work = []
  /** The process that has the URLs, or null while it may change. @type {string | null} */
  pid = null
  /** Nobody has the URLs, so that whatever comes from the cache is from the other process. */
  isOwnerDead = false
  seen = { fromHandler: 0, hits: 0, hitsOfTheDead: 0, refused: 0, lost: 0, longestMs: 0 }

  /** @param {number} port */
  constructor (port) {
    this.#port = port
  }

  start () {
    for (let i = 0; i < kWriters; i++) this.#work.push(this.#run(() => this.#written()))
    for (let i = 0; i < kReaders; i++) this.#work.push(this.#run(() => this.#read()))
  }

  async stop () {
    this.#isOver = true
    await Promise.all(this.#work)
  }

  /** All are for the owner, whose connection it is therefore. @returns {Request[]} */
  #written () {
    return Array.from({ length: kAtOnce }, (_, i) => i % 4 === 0
      ? { target: targetOf('hot', (this.#last + i / 4) % kHot), headers: kStoreAgain }
      : { target: targetOf('new', ++this.#last) })
  }

  /** The first and the last request is for the other process, which has the connection therefore. @returns {Request[]} */
  #read () {
    const own = { target: '/a/' }
    const others = Array.from({ length: kAtOnce }, (_, i) => ({ target: i % 4 !== 3 ? targetOf('hot', i % kHot) : targetOf('new', Math.max(1, this.#last - i * kAtOnce)) }))
    return [own, ...others, own]
  }

  /** @param {() => Request[]} next */
  async #run (next) {
    /** @type {Pipeline | null} */
    let pipeline = null
    while (!this.#isOver) {
      const pid = this.pid
      pipeline ??= new Pipeline(this.#port, (answer) => this.#look(answer, pid === this.pid ? pid : null))
      const since = performance.now()
      const timer = setTimeout(() => pipeline?.socket.destroy(), kBoundMs)
      const isAlive = await pipeline.send(next())
      clearTimeout(timer)
      const ms = performance.now() - since
      this.seen.longestMs = Math.max(this.seen.longestMs, ms)
      assert.ok(ms < kBoundMs, `no answers in ${ms} ms`)
      if (isAlive) continue
      this.seen.lost++
      pipeline = null
    }
    pipeline?.destroy()
  }

  /** @param {Answer} answer @param {string | null} pid the owner since before the request was sent, if that is known */
  #look ({ request, status, head, body }, pid) {
    if (request.target === '/a/') return assert.equal(`${status} ${body.slice(0, 2)}`, '200 a ')
    if (status === 503) {
      this.seen.refused++
      return
    }
    assert.equal(status, 200)
    const [text, sum] = body.split('|')
    assert.equal(crypto.createHash('sha1').update(text).digest('hex'), sum, `a torn answer for ${request.target}: ${head}`)
    const [owner, by, url] = text.split(' ', 3)
    assert.deepEqual([owner, url], ['b', request.target])
    if (pid !== null) assert.equal(by, pid, `an answer of a former process: ${head}`)
    if (/\r\nage: /i.test(head)) this.seen[this.isOwnerDead ? 'hitsOfTheDead' : 'hits']++
    else this.seen.fromHandler++
  }
}

describe('The cache of a process that is killed within thousands of stores a second', { skip: kSkip, timeout: 120_000 }, () => {
  it('gives whole answers of its own, each in bounded time, and so does that of the process that takes its place', async (t) => {
    const port = await freePort()
    await member(t, 'a', `http://*:${port}/a/`)
    const clients = new Clients(port)
    let perSecond = 0
    let ownHits = 0
    for (let round = 0; round < kRounds; round++) {
      const b = await member(t)
      clients.isOwnerDead = false
      await b.tell('listen', { name: 'b', on: [`http://*:${port}/b/`], options: { cache: { rules: 'rfc9111', cacheBytes: kCacheBytes } } })
      clients.pid = String(b.pid)
      if (round === 0) clients.start()
      const { hits } = clients.seen
      await until(() => clients.seen.hits > hits + kAtOnce, 'answers from its cache')
      const stats = () => b.tell('cache', { name: 'b', call: 'stats' })
      const [since, before] = [performance.now(), await stats()]
      await silence(kStoringMs)
      const after = await stats()
      perSecond = Math.max(perSecond, 1000 * (after.stored - before.stored) / (performance.now() - since))
      ownHits += after.hits
      clients.pid = null
      await b.kill()
      clients.isOwnerDead = true
      const { refused } = clients.seen
      await until(() => clients.seen.refused > refused + kAtOnce, 'its end is known')
    }
    await clients.stop()
    const { seen } = clients
    const text = `${Math.round(perSecond)} stores a second, ${ownHits} hits of the owner, ${JSON.stringify(seen)}`
    t.diagnostic(text)
    assert.ok(seen.hits - ownHits > kRounds * kAtOnce, `the other process has hardly answered from the owner's cache: ${text}`)
    assert.ok(seen.hitsOfTheDead > 0, `nothing was left of a cache whose process was killed: ${text}`)
    assert.ok(seen.lost >= kRounds, `it was not killed while it answered: ${text}`)
  })
})
