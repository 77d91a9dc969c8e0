'use strict'

// What comes from a peer is untrusted: whatever is said at the sockets of members, they live on and serve.

const assert = require('node:assert/strict')
const crypto = require('node:crypto')
const fs = require('node:fs')
const { after, before, describe, it } = require('node:test')
const { freePort } = require('../helpers/free-port')
const { Load, Member, Stranger, ask, connect, dataSocket, descriptorsOf, kSkipStranger, meetingPlace, member, silence, stateOf, until } = require('./kit')
const { Type, frame, handOver, hello, link, register, relay, unsigned } = require('./peer-frames')

const kTypesMax = 40

/** @param {number} max */
const noise = (max) => crypto.randomBytes(crypto.randomInt(max))

describe('Members of a port', { skip: kSkipStranger }, () => {
  let port = 0
  /** @type {Member[]} */
  const members = []
  /** @type {string[]} */
  let sockets = []
  let descriptors = [0, 0]

  before(async () => {
    port = await freePort()
    for (const name of ['a', 'b']) {
      const one = new Member()
      members.push(one)
      await one.listen(name, `http://*:${port}/${name}/`)
      await ask(port, '/a/')
    }
    for (let i = 0; i < 10; i++) await Promise.all([ask(port, '/a/'), ask(port, '/b/')])
    const state = await stateOf(port)
    sockets = state.members.map((/** @type {any} */ { id }) => dataSocket(id))
    descriptors = members.map(({ pid }) => descriptorsOf(pid))
  })

  after(() => Promise.all(members.map((one) => one.kill())))

  const names = () => fs.readFileSync('/proc/net/unix', 'latin1')

  // The same processes answer, hold nothing of what they were sent, and do not spin.
  async function assertAlive () {
    const [a, b] = members
    for (let i = 0; i < 3; i++) {
      const answers = await Promise.all(['/a/', '/b/'].map((target) => ask(port, target)))
      assert.deepEqual(answers.map(({ status, owner, pid }) => [status, owner, pid]), [[200, 'a', String(a.pid)], [200, 'b', String(b.pid)]])
    }
    await until(() => members.every(({ pid }, i) => descriptorsOf(pid) <= descriptors[i] + 8), 'descriptors are given back')
  }

  it('have the names that the tests below speak to', () => {
    for (const name of [meetingPlace(port), ...sockets]) assert.ok(names().includes(`@${name}\n`), name)
  })

  it('live on when somebody sends random bytes', async (t) => {
    const stranger = new Stranger(t)
    for (const name of [meetingPlace(port), ...sockets]) {
      for (let i = 0; i < 12; i++) {
        const { failed } = await stranger.tell({ connect: name, send: [{ hex: noise(3000).toString('hex') }], waitMs: 5 })
        assert.equal(failed, undefined)
      }
    }
    await assertAlive()
  })

  it('hang up on frames of impossible lengths, and keep no memory for them', async (t) => {
    const stranger = new Stranger(t)
    for (const name of [meetingPlace(port), ...sockets]) {
      for (const length of [0xffffffff, 0x7fffffff, 0x10000000, 1024 * 1024 + 1]) {
        const { isClosed } = await stranger.tell({ connect: name, send: [{ hex: frame(Type.hello, Buffer.alloc(100), { length }).toString('hex') }], waitMs: 10_000 })
        assert.ok(isClosed, `${name} ${length}`)
      }
    }
    await assertAlive()
  })

  it('hang up on frames that come out of order', async (t) => {
    const stranger = new Stranger(t)
    const nothing = Buffer.alloc(0)
    for (const bytes of [
      frame(Type.register, nothing), frame(Type.unregister, nothing), frame(Type.socket, nothing), frame(Type.synced, unsigned(32, 1)),
      Buffer.concat([hello(7n), hello(7n)]), hello(0n), frame(Type.hello, nothing), frame(Type.hello, Buffer.alloc(2000, 255)),
      Buffer.concat([hello(), frame(Type.register, Buffer.alloc(40, 255))]), Buffer.concat([hello(), frame(Type.unregister, Buffer.alloc(3))])
    ]) {
      const { isClosed } = await stranger.tell({ connect: meetingPlace(port), send: [{ hex: bytes.toString('hex') }], waitMs: 10_000 })
      assert.ok(isClosed, bytes.toString('hex'))
    }
    for (const bytes of [frame(Type.taken, unsigned(32, 1)), frame(Type.handOver, Buffer.alloc(11)), frame(Type.link, nothing)]) {
      const { isClosed } = await stranger.tell({ connect: sockets[0], send: [{ hex: bytes.toString('hex') }], waitMs: 10_000 })
      assert.ok(isClosed, bytes.toString('hex'))
    }
    await assertAlive()
  })

  it('live on when a member says random things in frames', async (t) => {
    const stranger = new Stranger(t)
    const { received } = await stranger.tell({ connect: meetingPlace(port), send: [{ hex: hello().toString('hex') }], waitMs: 500 })
    assert.equal(Buffer.from(received, 'hex')[4], Type.welcome, 'the hello of this test is outdated')
    const load = new Load(t, { port, targets: ['/a/', '/b/'], connections: 2 })
    for (let i = 0; i < 60; i++) {
      const frames = Array.from({ length: 1 + crypto.randomInt(4) }, () => frame(1 + crypto.randomInt(kTypesMax), noise(80)))
      await stranger.tell({ connect: meetingPlace(port), send: [{ hex: Buffer.concat([hello(), ...frames]).toString('hex') }], waitMs: 2 })
    }
    for (const name of sockets) {
      for (let i = 0; i < 30; i++) {
        const frames = Array.from({ length: 1 + crypto.randomInt(4) }, () => frame(1 + crypto.randomInt(kTypesMax), noise(40)))
        await stranger.tell({ connect: name, send: [{ hex: Buffer.concat([link(), ...frames]).toString('hex') }], waitMs: 2 })
      }
    }
    await load.stopUnharmed()
    await assertAlive()
  })

  const kToB = 'GET /b/ HTTP/1.1\r\nHost: h\r\n\r\n'
  const unregister = frame(Type.unregister, Buffer.concat([unsigned(32, 1, 0), unsigned(8, 1), unsigned(16, 0), unsigned(32, 7)]))

  it('understand the frames that the tests here cut off, or send with something else, when they are whole', async (t) => {
    const stranger = new Stranger(t)
    /** @param {string} name @param {{ hex: string, fd?: string }[]} send */
    const typesOf = async (name, ...send) => {
      const { received, isClosed } = await stranger.tell({ connect: name, send, waitMs: 700 })
      assert.equal(isClosed, false)
      const types = []
      for (let rest = Buffer.from(received, 'hex'); rest.length > 0; rest = rest.subarray(8 + rest.readUInt32LE(0))) types.push(rest[4])
      return types
    }
    const whole = { hex: Buffer.concat([hello(), register(`http://*:${port}/whole/`), unregister]).toString('hex') }
    assert.equal((await typesOf(meetingPlace(port), whole)).filter((type) => type === Type.registered).length, 2)
    for (const name of sockets) {
      const greeting = { hex: link().toString('hex') }
      assert.deepEqual(await typesOf(name, greeting, { hex: handOver(port, kToB).toString('hex'), fd: 'connected' }), [Type.taken])
      assert.equal((await typesOf(name, greeting, { hex: relay(port).toString('hex'), fd: 'unix' }))[0], Type.taken)
    }
    await assertAlive()
  })

  it('live on when a peer dies in the middle of a frame, at whatever byte, and keep no descriptor that came with it', async (t) => {
    const stranger = new Stranger(t)
    const registration = register(`http://*:${port}/ghost/`)
    const socket = frame(Type.socket, unsigned(32, 0), { fds: 1 })
    const load = new Load(t, { port, targets: ['/a/', '/b/'], connections: 2 })
    /** @type {[string, Buffer, Buffer, string | undefined][]} */
    const cases = [
      [meetingPlace(port), Buffer.alloc(0), hello(), undefined], [meetingPlace(port), hello(), registration, undefined],
      [meetingPlace(port), hello(), unregister, undefined], [meetingPlace(port), hello(), socket, 'listening'],
      ...sockets.flatMap((name) => /** @type {[string, Buffer, Buffer, string | undefined][]} */ ([
        [name, Buffer.alloc(0), link(), undefined], [name, link(), handOver(port, kToB), 'connected'], [name, link(), relay(port), 'unix']
      ]))
    ]
    for (const [name, before, bytes, fd] of cases) {
      for (let cut = 1; cut < bytes.length; cut++) {
        const send = [{ hex: bytes.subarray(0, cut).toString('hex'), fd }]
        if (before.length > 0) send.unshift({ hex: before.toString('hex'), fd: undefined })
        const { failed } = await stranger.tell({ connect: name, send, waitMs: 0 })
        assert.equal(failed, undefined)
      }
    }
    await load.stopUnharmed()
    assert.equal((await ask(port, '/ghost/')).status, 404)
    await assertAlive()
  })

  it('close descriptors that are no connections of clients', async (t) => {
    const stranger = new Stranger(t)
    for (const kind of ['file', 'folder', 'pipe', 'unix', 'udp', 'fresh', 'bound', 'listening']) {
      for (const name of sockets) {
        for (const bytes of ['', 'GET /a/ HTTP/1.1\r\nHost: h\r\n\r\n', 'GET /b/ HTTP/1.1\r\nHost: h\r\n\r\n', 'nonsense\r\n\r\n']) {
          const answer = await stranger.tell({
            connect: name, send: [{ hex: link().toString('hex') }, { hex: handOver(port, bytes).toString('hex'), fd: kind }], waitMs: 5
          })
          assert.equal(answer.failed, undefined)
        }
      }
      for (const bytes of [hello(), Buffer.concat([hello(), frame(Type.socket, unsigned(32, 0), { fds: 1 })])]) {
        await stranger.tell({ connect: meetingPlace(port), send: [{ hex: bytes.toString('hex'), fd: kind }], waitMs: 5 })
      }
      await assertAlive()
    }
  })

  it('close descriptors that come in numbers or without a frame', async (t) => {
    const stranger = new Stranger(t)
    for (const name of [meetingPlace(port), ...sockets]) {
      for (const times of [2, 50, 250]) {
        const greeting = name === meetingPlace(port) ? hello() : link()
        const many = Array.from({ length: 20 }, () => ({ hex: '00', fd: 'file', times }))
        await stranger.tell({ connect: name, send: [{ hex: greeting.toString('hex'), fd: 'file', times }, ...many], waitMs: 5 })
      }
    }
    await assertAlive()
  })

  it('use no processor time for descriptors that they cannot accept on', async (t) => {
    const stranger = new Stranger(t)
    for (const kind of ['udp', 'fresh', 'bound', 'file', 'unix']) {
      const bytes = Buffer.concat([hello(), frame(Type.socket, unsigned(32, 0), { fds: 1 })])
      await stranger.tell({ connect: meetingPlace(port), send: [{ hex: bytes.toString('hex'), fd: kind }], waitMs: 20, keep: true })
    }
    await assertAlive()
    const ticks = () => members.map(({ pid }) => {
      const fields = fs.readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')[1].split(' ')
      return Number(fields[11]) + Number(fields[12])
    })
    const from = ticks()
    // Processor time, in hundredths of a second: a busy machine makes it less, not more.
    await silence(500)
    for (const [i, to] of ticks().entries()) assert.ok(to - from[i] < 20, `${to - from[i]} ticks in half a second`)
  })

  it('live on when many connect and say nothing', async (t) => {
    const stranger = new Stranger(t)
    for (const name of [meetingPlace(port), ...sockets]) {
      for (let i = 0; i < 100; i++) await stranger.tell({ connect: name, send: [], waitMs: 0, keep: true })
    }
    const [a, b] = [await ask(port, '/a/'), await ask(port, '/b/')]
    assert.deepEqual([a.owner, b.owner], ['a', 'b'])
    const c = await member(t, 'c', `http://*:${port}/c/`)
    assert.equal((await ask(port, '/c/')).owner, 'c')
    await c.close('c')
    stranger.process.kill('SIGKILL')
    await assertAlive()
  })

  it('answer 503 for the prefix of a member that cannot be reached, and forget it when it goes', async (t) => {
    const stranger = new Stranger(t)
    const registration = register(`http://*:${port}/ghost/`)
    const client = await connect(t, port)
    assert.equal((await client.request('/ghost/')).status, 404)
    await stranger.tell({ connect: meetingPlace(port), send: [{ hex: Buffer.concat([hello(), registration]).toString('hex') }], waitMs: 300, keep: true })
    await until(async () => (await client.request('/ghost/')).status === 503, 'the ghost is there')
    assert.equal((await client.request('/a/')).owner, 'a')
    stranger.process.kill('SIGKILL')
    await until(async () => (await ask(port, '/ghost/')).status === 404, 'the ghost has gone')
    await assertAlive()
  })
})
