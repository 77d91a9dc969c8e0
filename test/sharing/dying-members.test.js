'use strict'

// Goal: a member that dies within its answer to a request that it was given costs that request at most: the next owner of its
// queue answers, or 503 does. Method: a member that is played hangs up behind each byte of what it
// says to a connection that moves to it, or a request that is relayed to it.

const assert = require('node:assert/strict')
const { describe, it } = require('node:test')
const { freePort } = require('../helpers/free-port')
const { Member, Stranger, connect, dataSocket, descriptorsOf, kSkipStranger, meetingPlace, member, until } = require('./kit')
const { Type, hello, randomId, register } = require('./peer-frames')

/** Of kTaken, and of the longest frame that may follow it. */
const kTakenBytes = 12
const kNextBytes = 21
/** Links and connections that come and go meanwhile; what is tried here would hold more. */
const kSpareDescriptors = 4

/**
 * A process, and a member that dies whenever it is given something.
 *
 * @param {import('node:test').TestContext} t
 * @param {string} [queueName] of both, who then have the same prefix
 */
async function start (t, queueName = '') {
  const port = await freePort()
  const prefix = `http://*:${port}/dying/`
  const one = new Member()
  t.after(() => one.kill())
  await one.listen('a', `http://*:${port}/a/`)
  if (queueName !== '') await one.listen('q', { prefix, queueName, queueMode: 'createOrAttach' })
  await member(t, 'b', `http://*:${port}/b/`)
  const stranger = new Stranger(t)
  const id = randomId()
  await stranger.tell({ giveBack: dataSocket(id.toString(16).padStart(16, '0')), how: 'die' })
  const say = Buffer.concat([hello(id), register(prefix, queueName)]).toString('hex')
  // The coordinator waits for a member that confirms nothing, for half a second at most.
  const { received } = await stranger.tell({ connect: meetingPlace(port), send: [{ hex: say }], waitMs: 700, keep: true })
  assert.ok(Buffer.from(received, 'hex').includes(prefix), 'it has the prefix')
  return {
    port,
    pid: one.pid,
    dyingAt: (/** @type {number} */ cut, then = 0) => stranger.tell({ dying: { then, cut } }),
    given: async () => (await stranger.tell({ givenBack: true })).givenBack
  }
}

const kPipeline = 'GET /dying/ HTTP/1.1\r\nHost: a\r\n\r\nGET /a/ HTTP/1.1\r\nHost: a\r\n\r\n'

describe('A member that dies in the middle of its answer to what it is given', { skip: kSkipStranger }, () => {
  it('leaves a connection that moves to it to 503, and to the others', async (t) => {
    const { port, pid, dyingAt, given } = await start(t)
    const client = await connect(t, port)
    for (const name of ['a', 'b']) assert.equal((await client.request(`/${name}/`)).owner, name)
    const descriptors = descriptorsOf(pid)
    for (let cut = 0; cut < kTakenBytes; cut++) {
      await dyingAt(cut)
      const before = await given()
      assert.equal((await client.request('/dying/')).status, 503, `behind ${cut} bytes`)
      assert.ok(await given() > before, 'it was given')
      assert.equal((await client.request('/a/')).owner, 'a')
      assert.equal((await client.request('/b/')).owner, 'b')
    }
    await until(() => descriptorsOf(pid) <= descriptors + kSpareDescriptors, 'descriptors are given back')
  })

  it('leaves a request of its queue to the next owner', async (t) => {
    const { port, dyingAt, given } = await start(t, 'q')
    for (let cut = 0; cut < kTakenBytes; cut++) {
      await dyingAt(cut)
      const before = await given()
      for (let i = 0; i < 4; i++) {
        const client = await connect(t, port)
        const { status, owner } = await client.request('/dying/')
        assert.deepEqual([status, owner], [200, 'q'], `behind ${cut} bytes`)
      }
      assert.ok(await given() > before, 'it was given')
    }
  })

  for (const then of /** @type {const} */ (['answered', 'decided', 'returned', 'ended'])) {
    it(`leaves what is relayed to it to 503: within "${then}"`, async (t) => {
      const { port, pid, dyingAt, given } = await start(t)
      const first = await connect(t, port)
      for (const name of ['a', 'b']) assert.equal((await first.request(`/${name}/`)).owner, name)
      const descriptors = descriptorsOf(pid)
      for (let cut = then === 'answered' ? 0 : kTakenBytes; cut < kTakenBytes + kNextBytes; cut++) {
        await dyingAt(cut, Type[then])
        const before = await given()
        const client = await connect(t, port)
        const answers = await Promise.allSettled(client.send(kPipeline, 2))
        const statuses = answers.map((answer) => answer.status === 'fulfilled' ? answer.value.status : 'none')
        // Of one that has taken the request nobody knows how far it came, so that the connection ends with the answer.
        assert.deepEqual(statuses, [503, cut < kTakenBytes ? 200 : 'none'], `behind ${cut} bytes`)
        assert.ok(await given() > before, 'it was given')
        client.destroy()
      }
      assert.equal((await first.request('/a/')).owner, 'a')
      await until(() => descriptorsOf(pid) <= descriptors + kSpareDescriptors, 'descriptors are given back')
    })
  }
})
