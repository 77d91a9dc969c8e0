'use strict'

// Goal: a request whose owner gives it back again and again is answered in bounded time, by the next owner of its queue or
// with 503, and its connection goes on. Method: a member that is played declines what moves to it, and declines what is
// relayed to it or takes it and returns it, as one that has left (kReturned) or whose JavaScript is blocked (kUnbegun).

const assert = require('node:assert/strict')
const http2 = require('node:http2')
const { once } = require('node:events')
const { describe, it } = require('node:test')
const { loadBinding } = require('../../packages/core-native/lib/backend/binding')
const { freePort } = require('../helpers/free-port')
const { Member, Stranger, connect, dataSocket, kSkipStranger, meetingPlace, member } = require('./kit')
const { hello, randomId, register } = require('./peer-frames')

/** kReturnsMax of src/base/limits.h; the waits between returns (kWaitingRetryMs, kReturnsPerWait) are 3 s together. */
const kReturnsMax = 100
const kBoundMs = 5000
/** kWaitingRetryMs of the same file, and kHopsMax: how often a request of a connection without TLS goes to another owner. */
const kWaitingRetryMs = 5
const kHopsMax = 20
/** A clock of whole milliseconds may be one early. */
const kShortMs = kWaitingRetryMs - 2
const skipHttp2 = !loadBinding().hasHttp2 && 'this Node has no nghttp2'

/**
 * Two processes with a prefix each, and a member that gives back what it gets for another one.
 *
 * @param {import('node:test').TestContext} t
 * @param {string} how
 * @param {string} [queueName] of both, who then have the same prefix
 */
async function start (t, how, queueName = '') {
  const port = await freePort()
  const prefix = `http://*:${port}/back/`
  const one = new Member()
  t.after(() => one.kill())
  const other = await member(t)
  // Whoever accepts a connection decides whether it may speak HTTP/2.
  const options = { http2: skipHttp2 === false }
  await one.tell('listen', { name: 'a', options, on: [`http://*:${port}/a/`] })
  if (queueName !== '') await one.listen('q', { prefix, queueName, queueMode: 'createOrAttach' })
  await other.tell('listen', { name: 'b', options, on: [`http://*:${port}/b/`] })
  const stranger = new Stranger(t)
  const id = randomId()
  await stranger.tell({ giveBack: dataSocket(id.toString(16).padStart(16, '0')), how })
  const say = Buffer.concat([hello(id), register(prefix, queueName)]).toString('hex')
  // The coordinator waits for a member that confirms nothing, for half a second at most.
  const { received } = await stranger.tell({ connect: meetingPlace(port), send: [{ hex: say }], waitMs: 550, keep: true })
  assert.ok(Buffer.from(received, 'hex').includes(prefix), 'it has the prefix')
  const givenBack = async () => (await stranger.tell({ givenBack: true })).givenBack
  const gapsMs = async () => (await stranger.tell({ givenBack: true })).gapsMs
  return { port, givenBack, gapsMs }
}

/** @param {Promise<any>} answer @returns {Promise<any>} in time */
async function soon (answer) {
  const since = performance.now()
  const result = await answer
  const ms = performance.now() - since
  assert.ok(ms < kBoundMs, `${ms} ms`)
  return result
}

describe('A member that gives back whatever it is given', { skip: kSkipStranger }, () => {
  it('leaves each request that moves to it to 503, and its connection to the others', async (t) => {
    const { port, givenBack } = await start(t, 'decline')
    const client = await connect(t, port)
    for (const next of ['a', 'back', 'b']) {
      const before = await givenBack()
      assert.equal((await soon(client.request('/back/'))).status, 503)
      const times = await givenBack() - before
      // As often as the first one: what became of an earlier request does not count.
      assert.ok(times > kReturnsMax / 2 && times <= kReturnsMax, `given back ${times} times before ${next}`)
      if (next !== 'back') assert.equal((await client.request(`/${next}/`)).owner, next)
    }
  })

  for (const how of ['decline', 'return', 'unbegun']) {
    it(`leaves what is relayed to it to 503, and the connection to the others: ${how}`, async (t) => {
      const { port, givenBack } = await start(t, how)
      const client = await connect(t, port)
      const answers = await soon(Promise.all(client.send('GET /back/ HTTP/1.1\r\nHost: a\r\n\r\nGET /a/ HTTP/1.1\r\nHost: a\r\n\r\n', 2)))
      assert.deepEqual(answers.map(({ status }) => status), [503, 200])
      const times = await givenBack()
      assert.ok(times > 1 && times <= kReturnsMax, `given back ${times} times`)
      if (skipHttp2) return
      const session = http2.connect(`http://127.0.0.1:${port}`)
      t.after(() => session.destroy())
      const statusOf = async (/** @type {string} */ path) => {
        const stream = session.request({ ':path': path, ':authority': 'shared.test' })
        const [headers] = await once(stream, 'response')
        stream.resume()
        return headers[':status']
      }
      assert.deepEqual(await soon(Promise.all(['/back/1', '/a/', '/back/2'].map(statusOf))), [503, 200, 503])
      assert.ok(await givenBack() - times <= 2 * kReturnsMax)
      assert.equal(await statusOf('/a/'), 200)
    })
  }

  it('is asked again at once when its JavaScript is blocked, and a little later when it has left', async (t) => {
    /** @type {Record<string, number[]>} from one that was given back to the next one, in ms */
    const gaps = {}
    for (const how of ['unbegun', 'return']) {
      const { port, gapsMs } = await start(t, how)
      const client = await connect(t, port)
      const answers = await soon(Promise.all(client.send('GET /back/ HTTP/1.1\r\nHost: a\r\n\r\nGET /a/ HTTP/1.1\r\nHost: a\r\n\r\n', 2)))
      assert.deepEqual(answers.map(({ status }) => status), [503, 200])
      gaps[how] = await gapsMs()
      assert.equal(gaps[how].length, kHopsMax - 1)
    }
    // The shortest of them: how quick the machine is does not count.
    const text = JSON.stringify(gaps)
    assert.ok(Math.min(...gaps.unbegun) < kShortMs, text)
    assert.ok(Math.min(...gaps.return) > kShortMs, text)
  })

  it('leaves requests of its queue to the next owner', async (t) => {
    const { port, givenBack } = await start(t, 'decline', 'q')
    const clients = await Promise.all(Array.from({ length: 8 }, () => connect(t, port)))
    const answers = await soon(Promise.all(clients.map((client) => client.request('/back/'))))
    assert.deepEqual(answers.map(({ status, owner }) => [status, owner]), Array(8).fill([200, 'q']))
    assert.ok(await givenBack() > 0)
  })
})
