'use strict'

// WebSockets on a shared port: ws://host/{process}/{room} reaches the process that registered /{process}/, beside
// other HTTP, and again after it was killed; socket.io's polls stay with their process without anything sticky.

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')
const { EventEmitter, once } = require('node:events')
const nodeHttp = require('node:http')
const { setTimeout: sleep } = require('node:timers/promises')
const { io: connectTo } = require('socket.io-client')
const { WebSocket } = require('ws')
const { startFixture } = require('../helpers/child')
const { Wire } = require('../helpers/client')
const { freePort } = require('../helpers/free-port')
const { Load, ask, connect, kSkip, silence } = require('./kit')

const kNumbers = [1, 2, 3]
/** Ends a wait for echoes that do not come. */
const kEchoMs = 20_000

/** @param {import('node:test').TestContext} t @param {number} number @param {number} port */
async function member (t, number, port) {
  const child = startFixture('websocket-member.js', [String(number), String(port)])
  t.after(() => child.kill())
  await child.message('listening')
  return child
}

/** @param {import('node:test').TestContext} t */
async function chat (t) {
  const port = await freePort()
  const members = /** @type {any[]} */ ([])
  for (const number of kNumbers) members.push(await member(t, number, port))
  return { port, members, meOf: (/** @type {number} */ number) => `${number} ${members[number - 1].process.pid}` }
}

/**
 * Somebody in a room, who counts aloud, and comes back when cut off.
 */
class Guest {
  #isOver = false
  /** What was heard, in order. @type {string[]} */
  heard = []
  /** Its own numbers as they came back. @type {number[]} */
  echoed = []
  /** Connections that ended, and those that never began. */
  lost = 0
  refused = 0
  #said = 0
  #echoes = new EventEmitter()

  /** @param {import('node:test').TestContext} t @param {number} port @param {string} path */
  constructor (t, port, path) {
    t.after(() => this.stop())
    this.url = `ws://127.0.0.1:${port}${path}`
    this.#open()
  }

  #open () {
    const socket = new WebSocket(this.url)
    this.socket = socket
    let isOpen = false
    socket.on('open', () => {
      isOpen = true
      this.#say()
    })
    socket.on('error', () => {})
    socket.on('message', (data) => {
      const text = data.toString()
      this.heard.push(text)
      const number = Number(/ (\d+)$/.exec(text)?.[1] ?? NaN)
      if (Number.isNaN(number)) return
      this.echoed.push(number)
      this.#echoes.emit('echo')
      setTimeout(() => this.#say(), 2) // 60 guests without a pause would leave no time to the members, which share the processor with them.
    })
    socket.on('close', async () => {
      if (isOpen) this.lost++
      else this.refused++
      // A guest waits a little before it comes back, as clients do: while its member is away, it would do nothing else.
      await sleep(20)
      if (!this.#isOver) this.#open()
    })
  }

  #say () {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(String(++this.#said))
  }

  /** @param {number} count of further echoes */
  async further (count) {
    const wanted = this.echoed.length + count
    const signal = AbortSignal.timeout(kEchoMs)
    while (this.echoed.length < wanted) {
      await once(this.#echoes, 'echo', { signal }).catch((error) => {
        throw new Error(`${this.url}: ${this.echoed.length} of ${wanted} after ${kEchoMs} ms, the last ${this.heard.at(-1)}`, { cause: error })
      })
    }
  }

  stop () {
    this.#isOver = true
    this.socket?.terminate()
  }
}

describe('WebSockets on a shared port', { skip: kSkip, concurrency: false }, () => {
  it('each room is in the process that its address names, beside other requests', async (t) => {
    const { port, meOf } = await chat(t)
    const load = new Load(t, {
      port, targets: kNumbers.map((number) => `/${number}/page`), owners: (target) => new RegExp(`^${target.split('/')[1]}$`)
    })
    const guests = kNumbers.flatMap((number) => Array.from({ length: 20 }, (_, i) => new Guest(t, port, `/${number}/room${i}?x=${i}`)))
    await Promise.all([...guests.map((guest) => guest.further(20)), load.further(50)])
    await load.stopUnharmed()
    for (const [i, { heard, echoed, lost, refused }] of guests.entries()) {
      const me = `${meOf(kNumbers[Math.floor(i / 20)])} /room${i % 20}?x=${i % 20}`
      assert.equal(heard[0], `${me} welcome`)
      assert.deepEqual(heard.slice(1), echoed.map((number) => `${me} ${number}`))
      assert.deepEqual([lost, refused], [0, 0])
    }
  })

  it('a room is one room, whichever connection its members came by', async (t) => {
    const { port, meOf } = await chat(t)
    const sockets = await Promise.all(Array.from({ length: 30 }, async () => {
      const socket = new WebSocket(`ws://127.0.0.1:${port}/2/lobby`)
      t.after(() => socket.terminate())
      await once(socket, 'message')
      return socket
    }))
    const heard = Promise.all(sockets.map((socket) => once(socket, 'message')))
    sockets[7].send('to all')
    for (const [data] of await heard) assert.equal(data.toString(), `${meOf(2)} /lobby to all`)
  })

  it('a connection that has asked one process upgrades at another, its first message included', async (t) => {
    const { port, meOf } = await chat(t)
    for (const number of kNumbers) {
      const wire = new Wire({ port, host: '127.0.0.1' })
      t.after(() => wire.destroy())
      for (const other of kNumbers) {
        wire.write(`GET /${other}/before HTTP/1.1\r\nHost: a\r\n\r\n`)
        await wire.until(`${meOf(other)} /before`)
      }
      // A message in the segment of the handshake moves with the connection.
      wire.write(Buffer.concat([
        Buffer.from(`GET /${number}/room HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
          'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n'),
        Buffer.from([0x81, 0x85, 0, 0, 0, 0]), Buffer.from('early')
      ]))
      const text = await wire.until(`${meOf(number)} /room early`)
      assert.match(text, /HTTP\/1\.1 101 Switching Protocols\r\n/)
      assert.match(text, new RegExp(`${meOf(number)} /room welcome`))
    }
  })

  it('after kill -9 and a restart its clients are back, and the others have noticed nothing', async (t) => {
    const { port, members, meOf } = await chat(t)
    const guests = kNumbers.map((number) => Array.from({ length: 8 }, (_, i) => new Guest(t, port, `/${number}/room${i}`)))
    await Promise.all(guests.flat().map((guest) => guest.further(5)))
    const before = meOf(2)
    await members[1].kill()
    // While it is away: the others go on, its rooms wait for nobody else.
    await Promise.all([...guests[0], ...guests[2]].map((guest) => guest.further(20)))
    assert.equal((await ask(port, '/2/page')).status, 503)
    members[1] = await member(t, 2, port)
    await Promise.all(guests.flat().map((guest) => guest.further(20)))
    for (const [at, list] of guests.entries()) {
      for (const { heard, echoed, lost } of list) {
        const owners = new Set(heard.map((text) => text.split(' ').slice(0, 2).join(' ')))
        assert.deepEqual([...owners], at === 1 ? [before, meOf(2)] : [meOf(kNumbers[at])])
        assert.equal(lost, at === 1 ? 1 : 0)
        // Only what was on its way to the process when it died is missing.
        assert.deepEqual(echoed, [...echoed].sort((a, b) => a - b))
        if (at !== 1) assert.deepEqual(echoed, echoed.map((_, i) => i + 1))
      }
    }
  })

  it('a room of a process that is not there is refused with 404', async (t) => {
    const { port } = await chat(t)
    const socket = new WebSocket(`ws://127.0.0.1:${port}/4/room`)
    assert.match((await once(socket, 'error'))[0].message, /404/)
    const client = await connect(t, port)
    assert.equal((await client.request('/4/page')).status, 404)
  })

  /** @param {import('node:test').TestContext} t @param {import('node:http').Agent} [agent] for all of them */
  async function pollers (t, agent) {
    const { port, members, meOf } = await chat(t)
    const clients = kNumbers.flatMap((number) => Array.from({ length: 6 }, () => {
      const socket = connectTo(`http://127.0.0.1:${port}`, /** @type {any} */ ({
        path: `/${number}/io/socket.io/`, transports: ['polling'], forceNew: true, agent, reconnectionDelay: 30, reconnectionDelayMax: 100
      }))
      t.after(() => socket.disconnect())
      let disconnects = 0
      socket.on('disconnect', () => { disconnects++ })
      return { number, socket, disconnects: () => disconnects }
    }))
    const round = async (/** @type {string} */ text) => {
      await Promise.all(clients.map(async ({ number, socket }) => {
        assert.equal(await socket.timeout(20_000).emitWithAck('who', text), `${meOf(number)} polling ${text}`)
      }))
    }
    return { port, members, clients, round }
  }

  it('polls of socket.io stay with their process on connections that all share', async (t) => {
    const agent = new nodeHttp.Agent({ keepAlive: true })
    t.after(() => agent.destroy())
    const { clients, round } = await pollers(t, agent)
    for (let i = 0; i < 10; i++) await round(`round ${i}`)
    assert.ok(clients.every(({ disconnects }) => disconnects() === 0))
  })

  it('polls of socket.io stay with their process, a connection for each, and after a restart', async (t) => {
    const { port, members, clients, round } = await pollers(t)
    for (let i = 0; i < 10; i++) await round(`round ${i}`)
    assert.ok(clients.every(({ disconnects }) => disconnects() === 0))
    const back = clients.filter(({ number }) => number === 2)
      .map(({ socket }) => new Promise((resolve) => socket.once('disconnect', () => socket.once('connect', () => resolve(null)))))
    // A poll that has just been accepted may be in the hands of the process that dies, whomever it is for.
    // Nothing tells when a poll is where it belongs. It has a second or more until the next one: see pollers().
    await silence(300)
    await members[1].kill()
    members[1] = await member(t, 2, port)
    await Promise.all(back)
    await round('after the restart')
    assert.deepEqual(clients.map(({ disconnects }) => disconnects()), clients.map(({ number }) => number === 2 ? 1 : 0))
  })

  it('socket.io upgrades from polling to WebSocket at its process', async (t) => {
    const { port, meOf } = await chat(t)
    await Promise.all(kNumbers.map(async (number) => {
      const socket = connectTo(`http://127.0.0.1:${port}`, { path: `/${number}/io/socket.io/`, forceNew: true })
      t.after(() => socket.disconnect())
      await once(socket, 'connect')
      if (socket.io.engine.transport.name !== 'websocket') await new Promise((resolve) => socket.io.engine.once('upgrade', resolve))
      assert.equal(await socket.emitWithAck('who', 'me'), `${meOf(number)} websocket me`)
    }))
  })
})
