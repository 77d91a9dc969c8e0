'use strict'

// A coordinator that is stopped (SIGSTOP, a debugger): another member succeeds it, so that newcomers are served, and it
// joins that one when it goes on.

const assert = require('node:assert/strict')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { describe, it } = require('node:test')
const { freePort } = require('../helpers/free-port')
const { Member, ask, kSkip, member, stateOf, until } = require('./kit')

// Members need 1.5 s to find out. Beside a process that takes one of two cores they served newcomers within 1.4 to 1.7 s; the rest is what a
// busier machine adds at most.
const kServedMsMax = 3000

/** @param {import('node:test').TestContext} t @param {NodeJS.ProcessEnv} env */
function starter (t, env) {
  return async (/** @type {string | undefined} */ name, /** @type {any[]} */ ...on) => {
    const started = new Member(env)
    t.after(() => started.kill())
    await started.ready
    if (name !== undefined) await started.listen(name, ...on)
    return started
  }
}

/** @param {number} port @param {Record<string, string>} owners by target */
async function assertServed (port, owners) {
  for (const [target, owner] of Object.entries(owners)) {
    const answer = await ask(port, target)
    assert.deepEqual([target, answer.status, answer.owner], [target, 200, owner])
  }
}

/**
 * Lets processes go on. Each registers a prefix then: a member that has done so knows those of the others, too, which it may
 * answer with 404 until it has found the new coordinator.
 *
 * @param {number} port
 * @param {Record<string, Member>} members by name
 */
async function goOn (port, members) {
  for (const one of Object.values(members)) one.process.kill('SIGCONT')
  for (const [name, one] of Object.entries(members)) {
    await one.tell('addPrefix', { name, prefix: `http://*:${port}/${name}2/` })
  }
}

/** @param {Member[]} members */
function assertNothingLost (...members) {
  for (const one of members) assert.doesNotMatch(one.output, /HTTPSYS_PREFIX_/)
}

/** @type {Record<string, (t: import('node:test').TestContext) => NodeJS.ProcessEnv>} */
const kNames = {
  'abstract names': () => ({}),
  'names in a directory': (t) => {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'httpsys-run-'))
    t.after(() => fs.rmSync(folder, { recursive: true, force: true }))
    return { HTTPSYS_RUNTIME_DIRECTORY: folder }
  }
}

describe('A coordinator that is stopped', { skip: kSkip }, () => {
  for (const [what, environment] of Object.entries(kNames)) {
    it(`is succeeded by a member, and takes part again when it goes on, with ${what}`, async (t) => {
      const port = await freePort()
      const start = starter(t, environment(t))
      const prefix = (/** @type {string} */ name) => `http://*:${port}/${name}/`
      const a = await start('a', prefix('a'))
      const b = await start('b', prefix('b'))
      const c = await start(undefined)
      await a.standStill()
      const since = Date.now()
      await c.listen('c', prefix('c'))
      const ms = Date.now() - since
      t.diagnostic(`${ms} ms`)
      assert.ok(ms < kServedMsMax, `${ms} ms`)
      await b.tell('addPrefix', { name: 'b', prefix: prefix('b2') })
      await assertServed(port, { '/b/': 'b', '/b2/': 'b', '/c/': 'c' })
      // What the stopped one has is nobody else's.
      await assert.rejects(c.tell('addPrefix', { name: 'c', prefix: prefix('a') }), { code: 'EADDRINUSE', pid: a.pid })
      await goOn(port, { a })
      await assert.rejects(a.tell('addPrefix', { name: 'a', prefix: prefix('c') }), { code: 'EADDRINUSE', pid: c.pid })
      await assertServed(port, { '/a/': 'a', '/a2/': 'a', '/b/': 'b', '/b2/': 'b', '/c/': 'c' })
      const d = await start('d', prefix('d'))
      await assertServed(port, { '/a/': 'a', '/d/': 'd' })
      assertNothingLost(a, b, c, d)
    })
  }

  it('is succeeded by a member that registers something itself', async (t) => {
    const port = await freePort()
    const a = await member(t, 'a', `http://*:${port}/a/`)
    const b = await member(t, 'b', `http://*:${port}/b/`)
    await a.standStill()
    await b.tell('addPrefix', { name: 'b', prefix: `http://*:${port}/b2/` })
    await assertServed(port, { '/b/': 'b', '/b2/': 'b' })
    const pids = (await stateOf(port)).members.map((/** @type {any} */ one) => one.pid)
    assert.ok(pids.includes(b.pid), 'the successor tells the state')
    await goOn(port, { a })
    await assertServed(port, { '/a/': 'a', '/a2/': 'a', '/b/': 'b', '/b2/': 'b' })
    assertNothingLost(a, b)
  })

  it('may be killed, and its prefixes are free after a while', async (t) => {
    const port = await freePort()
    const a = await member(t, 'a', `http://*:${port}/a/`)
    const b = await member(t, 'b', `http://*:${port}/b/`)
    const c = await member(t)
    await a.standStill()
    await c.listen('c', `http://*:${port}/c/`)
    await a.kill()
    await until(async () => (await ask(port, '/a/')).status === 503, 'its death is known')
    await c.tell('addPrefix', { name: 'c', prefix: `http://*:${port}/a/` })
    const d = await member(t, 'd', `http://*:${port}/d/`)
    await assertServed(port, { '/a/': 'c', '/b/': 'b', '/c/': 'c', '/d/': 'd' })
    assertNothingLost(b, c, d)
  })

  it('may be followed by a successor that is stopped, too', async (t) => {
    const port = await freePort()
    const a = await member(t, 'a', `http://*:${port}/a/`)
    const b = await member(t, 'b', `http://*:${port}/b/`)
    const c = await member(t)
    const d = await member(t)
    await a.standStill()
    await c.listen('c', `http://*:${port}/c/`)
    await b.standStill()
    await d.listen('d', `http://*:${port}/d/`)
    await assertServed(port, { '/c/': 'c', '/d/': 'd' })
    await goOn(port, { b, a })
    await assertServed(port, { '/a/': 'a', '/a2/': 'a', '/b/': 'b', '/b2/': 'b', '/c/': 'c', '/d/': 'd' })
    for (const [name, one] of Object.entries({ c, d })) {
      await one.tell('addPrefix', { name, prefix: `http://*:${port}/${name}2/` })
    }
    const e = await member(t, 'e', `http://*:${port}/e/`)
    await assertServed(port, { '/a/': 'a', '/b/': 'b', '/c2/': 'c', '/d2/': 'd', '/e/': 'e' })
    assertNothingLost(a, b, c, d, e)
  })
})
