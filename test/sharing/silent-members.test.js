'use strict'

// Goal: a member of a port that does not take what it is given, or cannot, costs clients of its prefixes at most
// kPeerAckMs, and nobody else anything.

const assert = require('node:assert/strict')
const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const http2 = require('node:http2')
const { once } = require('node:events')
const { describe, it } = require('node:test')
const { freePort } = require('../helpers/free-port')
const { loadBinding } = require('../../packages/core-native/lib/backend/binding')
const { ask, connect, descriptorsOf, kSkip, member, until } = require('./kit')

const isLinux = process.platform === 'linux'
const skipHttp2 = kSkip || (loadBinding().hasHttp2 ? false : 'this Node has no nghttp2')
/** kPeerAckMs of src/base/limits.h, and what a busy machine may add: a second attempt would take as long again. */
const kPeerAckMs = 5000
const kLateMs = kPeerAckMs + 4000
const kRequests = 16

/** @param {any} http2Session @param {string} target @returns {Promise<{ status: number, text: string }>} */
function askStream (http2Session, target) {
  return new Promise((resolve, reject) => {
    const stream = http2Session.request({ ':path': target, ':authority': 'shared.test' })
    let status = 0
    let text = ''
    stream.on('response', (/** @type {any} */ headers) => { status = headers[':status'] })
    stream.setEncoding('latin1').on('data', (/** @type {string} */ piece) => { text += piece })
    stream.on('error', reject)
    stream.on('end', () => resolve({ status, text }))
  })
}

/** @param {import('node:test').TestContext} t @param {number} port */
async function sessionTo (t, port) {
  const session = http2.connect(`http://127.0.0.1:${port}`)
  session.on('error', () => {})
  t.after(() => session.destroy())
  await once(session, 'remoteSettings')
  return session
}

/** @template T @param {Promise<T>} answers @param {number} mostMs */
async function within (answers, mostMs) {
  const since = performance.now()
  const result = await answers
  const ms = performance.now() - since
  assert.ok(ms < mostMs, `${ms} ms`)
  return result
}

describe('A member that accepts links and is silent', { skip: kSkip || (!isLinux && 'needs /proc') }, () => {
  it('loses requests of HTTP/1.1 to 503 in time, the next ones at once, and has them back when it goes on', async (t) => {
    const port = await freePort()
    await member(t, 'a', `http://*:${port}/a/`)
    const clients = await Promise.all(Array.from({ length: kRequests + 2 }, () => connect(t, port)))
    for (const client of clients) assert.equal((await client.request('/a/')).owner, 'a')
    const [piped, later, ...moved] = clients
    const b = await member(t, 'b', `http://*:${port}/b/`)
    t.after(() => b.process.kill('SIGCONT'))
    const kBoth = 'GET /b/1 HTTP/1.1\r\nHost: a\r\n\r\nGET /a/2 HTTP/1.1\r\nHost: a\r\n\r\n'
    const kept = await connect(t, port)
    assert.deepEqual((await Promise.all(kept.send(kBoth, 2))).map(({ owner }) => owner), ['b', 'a'])
    await b.standStill()
    // What stays here is relayed, everything else moves. A relay that the member took before is given up with its link.
    const [lost, behind] = kept.send(kBoth, 2)
    behind.catch(() => {})
    const relayed = piped.send(kBoth, 2)
    const answers = await within(Promise.all([lost, ...relayed, ...moved.map((client) => client.request('/b/'))]), kLateMs)
    assert.deepEqual(answers.map(({ status }) => status), [503, 503, 200, ...Array(kRequests).fill(503)])
    assert.equal((await within(later.request('/b/'), kPeerAckMs - 1000)).status, 503)
    for (const client of clients) assert.equal((await client.request('/a/')).owner, 'a')
    b.process.kill('SIGCONT')
    await until(async () => (await ask(port, '/b/')).owner === 'b', 'it is back')
    for (const client of [...moved, later]) assert.equal((await client.request('/b/')).owner, 'b')
  })

  it('loses streams of HTTP/2 to 503 in time, the next ones at once, and has them back when it goes on', { skip: skipHttp2 }, async (t) => {
    const port = await freePort()
    const a = await member(t)
    await a.tell('listen', { name: 'a', options: { http2: true }, on: [`http://*:${port}/a/`] })
    const session = await sessionTo(t, port)
    assert.match((await askStream(session, '/a/')).text, /^a /)
    const b = await member(t, 'b', `http://*:${port}/b/`)
    t.after(() => b.process.kill('SIGCONT'))
    await b.standStill()
    const answers = await within(Promise.all(Array.from({ length: kRequests }, () => askStream(session, '/b/'))), kLateMs)
    assert.deepEqual(answers.map(({ status }) => status), Array(kRequests).fill(503))
    assert.equal((await within(askStream(session, '/b/'), kPeerAckMs - 1000)).status, 503)
    assert.match((await askStream(session, '/a/')).text, /^a /)
    b.process.kill('SIGCONT')
    await until(async () => (await askStream(session, '/b/')).status === 200, 'it is back')
    assert.equal(session.destroyed, false)
  })

  it('loses requests of its queue to the next owner in time, and no further ones', async (t) => {
    const port = await freePort()
    const on = { prefix: `http://*:${port}/q/`, queueName: 'q', queueMode: 'createOrAttach' }
    await member(t, 'a', on)
    const b = await member(t, 'b', on)
    t.after(() => b.process.kill('SIGCONT'))
    await until(async () => (await ask(port, '/q/')).owner === 'b', 'both serve')
    await b.standStill()
    const answers = await within(Promise.all(Array.from({ length: kRequests }, () => ask(port, '/q/'))), kLateMs)
    assert.deepEqual(answers.map(({ owner }) => owner), Array(kRequests).fill('a'))
    const next = await within(Promise.all(Array.from({ length: kRequests }, () => ask(port, '/q/'))), kPeerAckMs - 1000)
    assert.deepEqual(next.map(({ owner }) => owner), Array(kRequests).fill('a'))
    b.process.kill('SIGCONT')
    await until(async () => (await ask(port, '/q/')).owner === 'b', 'it is back')
  })
})

describe('Relayed streams', { skip: skipHttp2 || (!isLinux && 'needs /proc and prlimit') || (spawnSync('prlimit', ['--version']).status === 0 ? false : 'prlimit is not there') }, () => {
  for (const short of ['the process that has the connection', 'their owner']) {
    it(`leave descriptors to everything else, and get 503 where there are none for them: ${short}`, async (t) => {
      const kLimit = 128
      const kStreams = 90
      const port = await freePort()
      const log = `${fs.mkdtempSync('/tmp/httpsys-log-')}/httperr.log`
      t.after(() => fs.rmSync(log.replace(/\/[^/]*$/, ''), { recursive: true }))
      const { Member } = require('./kit')
      const a = new Member({ HTTPSYS_ERROR_LOG: log })
      t.after(() => a.kill())
      await a.tell('listen', { name: 'a', options: { http2: { maxConcurrentStreams: 1000 }, http503Verbosity: 'full' }, on: [`http://*:${port}/a/`] })
      const sessions = [await sessionTo(t, port), await sessionTo(t, port)]
      const b = await member(t, 'b', `http://*:${port}/b/`)
      const limited = short === 'their owner' ? b : a
      // Until now they have nothing to do with each other.
      assert.equal((await askStream(sessions[0], '/b/')).status, 200)
      assert.equal(spawnSync('prlimit', ['--pid', String(limited.pid), `--nofile=${kLimit}:`]).status, 0)
      // Each is answered after 4.5 s: by then all are there, and those that came back have waited long enough; a session without streams ends after 5 s.
      const streams = sessions.flatMap((session) => Array.from({ length: kStreams }, () => askStream(session, '/b/?ms=4500')))
      let isMany = false
      const watched = until(async () => {
        isMany ||= descriptorsOf(limited.pid) > kLimit / 2
        return isMany
      }, 'many streams are relayed')
      await watched
      // Who has the port accepts connections, and serves them.
      for (let i = 0; i < 10; i++) assert.equal((await ask(port, '/a/')).owner, 'a')
      const answers = await Promise.all(streams)
      const served = answers.filter(({ status }) => status === 200)
      const refused = answers.filter(({ status }) => status === 503)
      assert.equal(served.length + refused.length, 2 * kStreams)
      assert.ok(served.length >= 20, `${served.length} were served`)
      assert.ok(refused.length >= 20, `${refused.length} were refused`)
      assert.match(refused[0].text, limited === a ? /<p>ConnLimit<\/p>/ : /<p>(ConnLimit|AppOffline)<\/p>/)
      assert.match(fs.readFileSync(log, 'latin1'), / \/b\/\?ms=4500 503 \d+ (ConnLimit|AppOffline)\n/)
      for (const session of sessions) {
        assert.equal(session.destroyed, false)
        assert.equal((await askStream(session, '/b/')).status, 200)
      }
    })
  }
})
