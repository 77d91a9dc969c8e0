'use strict'

// Goal: whatever owners of one queue do at the same time, no request gets an answer that was begun before an unsafe request for its URL, or a
// flush, which was over when the request was sent. Method: three processes of one queue, of which two are killed and replaced all the time;
// clients that ask, change and flush at random. Every answer says when JavaScript began it, by the clock that all processes have.
//
//   HTTPSYS_CO_OWNERS_SECONDS  how long (4)

const assert = require('node:assert/strict')
const { describe, it } = require('node:test')
const { setTimeout: sleep } = require('node:timers/promises')
const { freePort } = require('../helpers/free-port')
const { connect, kSkip, member } = require('../sharing/kit')

/** @typedef {import('../sharing/kit').Member} Member */
/** @typedef {import('../sharing/kit').Client} Client */

const kMs = 1000 * Number(process.env.HTTPSYS_CO_OWNERS_SECONDS ?? 4)
const kClients = 12
const kUrls = 25
const kFresh = `cc=${encodeURIComponent('public, max-age=600, stale-if-error=600')}`

const now = () => process.hrtime.bigint()
/** @param {number} count */
const oneOf = (count) => Math.floor(Math.random() * count)

describe('Several owners of a URL', { skip: kSkip }, () => {
  it('give out nothing obsolete, whatever they do at the same time', { timeout: 120_000 + 3 * kMs }, async (t) => {
    const port = await freePort()
    let joins = 0
    let isJoining = true
    /** @param {string} name */
    const join = async (name) => {
      isJoining = true
      joins++
      const joined = await member(t)
      await joined.tell('listen', { name, on: [{ prefix: `http://*:${port}/shop/`, queueName: 'shop', queueMode: 'createOrAttach' }], options: { cache: true } })
      isJoining = false
      return joined
    }
    const members = [await join('a'), await join('b'), await join('c')]
    const targets = Array.from({ length: kUrls }, (_, i) => `/shop/${i}?${i % 3 === 0 ? 'getms=3&' : ''}${kFresh}`)
    /** When the last unsafe request that is over was begun, by target. @type {Map<string, bigint>} */
    const changed = new Map(targets.map((target) => [target, 0n]))
    /** @param {string} target @param {bigint} at */
    const note = (target, at) => { if (at > /** @type {bigint} */ (changed.get(target))) changed.set(target, at) }
    const counts = { stored: 0, new: 0, unsafe: 0, flushes: 0, lost: 0 }
    /** @type {string[]} */
    const wrong = []
    let isOver = false
    // What an owner does before its listen() has called back, others may hear of later.
    /** @param {() => Promise<any>} change @param {string[]} of */
    const make = async (change, of) => {
      const [at, joinsBefore, wasJoining] = [now(), joins, isJoining]
      await change()
      if (wasJoining || joins !== joinsBefore) return
      for (const target of of) note(target, at)
    }

    /** @param {Client} client */
    const step = async (client) => {
      const target = targets[oneOf(kUrls)]
      const dice = Math.random()
      if (dice < 0.05) {
        counts.unsafe++
        return make(() => client.request(target, { method: 'POST', body: 'x' }), [target])
      }
      if (dice < 0.052) {
        counts.flushes++
        return make(() => members[0].tell('cache', { name: 'a', call: 'flush' }), targets)
      }
      const obsolete = /** @type {bigint} */ (changed.get(target))
      const { status, headers, owner } = await client.request(target)
      // While one is killed its requests may have no owner.
      if (status !== 200) return
      counts[headers.age === undefined ? 'new' : 'stored']++
      if (BigInt(headers['x-begun']) < obsolete) wrong.push(`${target} of ${owner}, age ${headers.age}, ${obsolete - BigInt(headers['x-begun'])} ns too old`)
    }
    const goesOn = () => !isOver
    const run = async () => {
      while (goesOn()) {
        const client = await connect(t, port)
        try {
          for (let i = 0; i < 300 && goesOn(); i++) await step(client)
        } catch {
          counts.lost++
        }
        await client.destroy()
      }
    }
    const clients = Array.from({ length: kClients }, run)
    const until = Date.now() + kMs
    for (let i = 0; Date.now() < until; i++) {
      await sleep(300)
      const index = 1 + i % 2
      await members[index].kill()
      members[index] = await join('bc'[index - 1])
    }
    isOver = true
    await Promise.all(clients)
    assert.deepEqual(wrong.slice(0, 5), [], `${wrong.length} of ${JSON.stringify(counts)}`)
    assert.ok(counts.stored > 300 && counts.unsafe > 30 && counts.new > 100, JSON.stringify(counts))
    t.diagnostic(JSON.stringify(counts))
  })
})
