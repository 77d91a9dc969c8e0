'use strict'

// Unrelated processes on one port: every request reaches its owner, whoever accepts the connection.

const assert = require('node:assert/strict')
const crypto = require('node:crypto')
const { once } = require('node:events')
const net = require('node:net')
const { after, describe, it } = require('node:test')
const { isDeepStrictEqual } = require('node:util')
const { dial } = require('../helpers/client')
const { freePort } = require('../helpers/free-port')
const { apart } = require('../helpers/waiting')
const { Member, ask, connect, kSkip, member, silence, stateOf, until } = require('./kit')

const kMegabyte = 1024 * 1024

/** @param {string} text */
const sumOf = (text) => crypto.createHash('sha1').update(text, 'latin1').digest('hex')

/** Processes by name, the same for all tests. @type {Map<string, Member>} */
const pool = new Map()
after(() => Promise.all([...pool.values()].map((one) => one.kill())))

/** Servers on prefixes of their names, each in its own process. @param {import('node:test').TestContext} t @param {string[]} names */
async function membersOn (t, ...names) {
  const port = await freePort()
  for (const name of names) {
    const one = pool.get(name) ?? new Member()
    pool.set(name, one)
    await one.listen(name, `http://*:${port}/${name}/`)
    t.after(() => one.tell('stop', { name }))
  }
  return port
}

/**
 * Connections on which the process answers first: it may have accepted them or not. Both cases are there
 * when several are made.
 *
 * @param {import('node:test').TestContext} t @param {number} port @param {string[]} firsts
 */
async function connectionsVia (t, port, firsts) {
  const clients = []
  for (const first of [...firsts, ...firsts, ...firsts]) {
    const client = await connect(t, port)
    assert.equal((await client.request(`/${first}/first`)).owner, first)
    clients.push(client)
  }
  return clients
}

describe('Processes on prefixes of one port', { skip: kSkip }, () => {
  it('refuse a Host that is not one valid value, whoever accepted; a process on the port itself takes it', async (t) => {
    const port = await freePort()
    await member(t, 'a', `http://a.test:${port}/`)
    await member(t, 'b', `http://*:${port}/b/`)
    const plain = await member(t)
    /** @type {[string, string][]} */
    const odd = [['', ''], ...['u@a.test', 'a.test:80:x', 'b#@a.test', 'a.test\r\nHost: a.test'].map((host) => /** @type {[string, string]} */ ([host, `Host: ${host}\r\n`]))]
    /** @param {string} target @param {string} lines */
    const answerTo = async (target, lines) => {
      const client = await connect(t, port)
      const [answer] = client.send(`GET ${target} HTTP/1.1\r\n${lines}\r\n`)
      const { status, owner, body } = await answer
      return status === 400 ? `400 ${/Invalid Hostname/.test(body)}` : status === 200 ? owner : status
    }
    for (const [name, lines] of odd) {
      for (let i = 0; i < 3; i++) {
        assert.equal(await answerTo('/', lines), '400 true', name)
        assert.equal(await answerTo('/b/', lines), '400 true', name)
      }
    }
    await plain.tell('listen', { name: 'plain', on: [port], options: { requireHostHeader: false } })
    for (const [name, lines] of odd) {
      for (let i = 0; i < 3; i++) {
        assert.equal(await answerTo('/', lines), 'plain', name)
        assert.equal(await answerTo('/b/', lines), '400 true', name)
      }
    }
    const client = await connect(t, port)
    for (const [host, owner] of [['a.test', 'a'], ['x', 'plain'], ['A.test.:1', 'a'], ['', 'plain']]) {
      assert.equal((await client.request('/', { host })).owner, owner, host)
    }
  })

  it('each get their requests, over new connections from anybody', async (t) => {
    const port = await membersOn(t, 'a', 'b', 'c')
    for (let i = 0; i < 20; i++) {
      const answers = await Promise.all(['a', 'b', 'c'].map((name) => ask(port, `/${name}/${i}`)))
      assert.deepEqual(answers.map(({ status, owner, body }) => [status, owner, body.split(' ')[4]]),
        [[200, 'a', `/a/${i}`], [200, 'b', `/b/${i}`], [200, 'c', `/c/${i}`]])
    }
    assert.equal((await ask(port, '/d/')).status, 404)
    const { members } = await stateOf(port)
    assert.equal(members.length, 3)
    const handedOver = members.reduce((sum, one) => sum + one.handedOver, 0)
    const received = members.reduce((sum, one) => sum + one.received, 0)
    assert.ok(handedOver > 0, 'nothing was handed over: the test tests nothing')
    assert.equal(received, handedOver)
    for (const { registrations: [{ requests }] } of members) assert.equal(requests, 20)
  })

  it('count the connections that are open, each where it is', async (t) => {
    const port = await membersOn(t, 'a', 'b')
    const counts = async () => (await stateOf(port)).members.map(({ connections }) => connections)
    const clients = []
    for (let i = 0; i < 3; i++) {
      const client = await connect(t, port)
      assert.equal((await client.request('/a/')).owner, 'a')
      clients.push(client)
    }
    const isCount = (/** @type {number[]} */ ...expected) => until(async () => isDeepStrictEqual((await counts()).sort(), expected), `${expected}`)
    await isCount(0, 3)
    assert.equal((await clients[0].request('/b/')).owner, 'b')
    await isCount(1, 2)
    await Promise.all(clients.map((client) => client.destroy()))
    await isCount(0, 0)
  })

  it('get those of clients that have said nothing for a while', async (t) => {
    const port = await membersOn(t, 'a', 'b', 'c')
    const clients = []
    for (const owner of ['a', 'b', 'c', 'a', 'b', 'c']) clients.push({ owner, client: await connect(t, port) })
    // A while of silence, after which each of them is still somewhere.
    await silence(50)
    for (const { owner, client } of clients) assert.equal((await client.request(`/${owner}/late`)).owner, owner)
  })

  it('answer a connection that alternates between them', async (t) => {
    const port = await membersOn(t, 'a', 'b', 'c')
    const client = await connect(t, port)
    for (let i = 0; i < 60; i++) {
      const name = 'abc'[i % 3]
      const { owner, body } = await client.request(`/${name}/${i}`)
      assert.equal(owner, name)
      assert.equal(body.split(' ')[4], `/${name}/${i}`)
    }
  })

  it('answer pipelined requests for different owners in order', async (t) => {
    const port = await membersOn(t, 'a', 'b', 'c')
    // The slow one is overtaken if anybody can be.
    const targets = ['/a/1?ms=50', '/b/2', '/a/3', '/a/4', '/c/5?ms=20', '/b/6', '/b/7', '/c/8', '/nobody/9', '/a/10']
    for (const client of await connectionsVia(t, port, ['a', 'b'])) {
      const bytes = targets.map((target) => `GET ${target} HTTP/1.1\r\nHost: h\r\n\r\n`).join('')
      const answers = await Promise.all(client.send(bytes, targets.length))
      assert.deepEqual(answers.map(({ status, body }) => status === 200 ? body.split(' ')[4] : status),
        targets.map((target) => target === '/nobody/9' ? 404 : target))
    }
  })

  it('answer pipelined uploads for different owners in order', async (t) => {
    const port = await membersOn(t, 'a', 'b')
    const bodies = ['x'.repeat(10), 'y'.repeat(100_000), 'z'.repeat(3), 'w'.repeat(300_000)]
    for (const client of await connectionsVia(t, port, ['a', 'b'])) {
      const bytes = bodies.map((body, i) => `POST /${'ab'[i % 2]}/${i} HTTP/1.1\r\nHost: h\r\nContent-Length: ${body.length}\r\n\r\n${body}`).join('')
      const answers = await Promise.all(client.send(bytes, bodies.length))
      assert.deepEqual(answers.map(({ owner, body }) => [owner, ...body.split(' ').slice(4)]),
        bodies.map((body, i) => ['ab'[i % 2], `/${'ab'[i % 2]}/${i}`, String(body.length), sumOf(body)]))
    }
  })

  for (const [what, size] of /** @type {const} */ ([['small', 20], ['1 MB', kMegabyte]])) {
    it(`get the ${what} body of a request that is handed over`, async (t) => {
      const port = await membersOn(t, 'a', 'b')
      const body = crypto.randomBytes(size).toString('latin1')
      for (const client of await connectionsVia(t, port, ['a', 'b'])) {
        for (const name of ['a', 'b', 'b', 'a']) {
          const answer = await client.request(`/${name}/upload`, { method: 'POST', body })
          assert.deepEqual(answer.body.split(' ').slice(4), [`/${name}/upload`, String(size), sumOf(body)])
          assert.equal(answer.owner, name)
        }
      }
    })
  }

  it('get the chunked body of a request that is handed over, in one write and in many', async (t) => {
    const port = await membersOn(t, 'a', 'b')
    const pieces = ['hello ', 'x'.repeat(70_000), 'end']
    const text = pieces.map((piece) => `${piece.length.toString(16)}\r\n${piece}\r\n`).join('') + '0\r\n\r\n'
    for (const client of await connectionsVia(t, port, ['a', 'b'])) {
      for (const name of ['a', 'b']) {
        const head = `POST /${name}/ HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n`
        for (const writes of [[head + text], [head, ...text.match(/[^]{1,9000}/g) ?? []]]) {
          const [answer] = client.send(writes[0])
          for (const more of writes.slice(1)) {
            await apart(1)
            client.socket.write(more)
          }
          const { owner, body } = await answer
          assert.deepEqual([owner, ...body.split(' ').slice(5)], [name, String(pieces.join('').length), sumOf(pieces.join(''))])
        }
      }
    }
  })

  it('get the rest of a body that comes after the hand-over', async (t) => {
    const port = await membersOn(t, 'a', 'b')
    for (const client of await connectionsVia(t, port, ['a', 'b'])) {
      for (const name of ['a', 'b']) {
        const [answer] = client.send(`POST /${name}/ HTTP/1.1\r\nHost: h\r\nContent-Length: 20\r\n\r\n01234`)
        await apart(10)
        client.socket.write('56789')
        await apart(10)
        client.socket.write('abcdefghij')
        const { owner, body } = await answer
        assert.deepEqual([owner, body.split(' ')[6]], [name, sumOf('0123456789abcdefghij')])
      }
    }
  })

  it('leave others alone when a client ends its direction behind pipelined requests', async (t) => {
    const port = await membersOn(t, 'a', 'b')
    // Those that lanes have known longest.
    const others = await connectionsVia(t, port, ['a', 'b'])
    for (let i = 0; i < 20; i++) {
      const socket = net.connect(port, '127.0.0.1').resume()
      const gone = once(socket, 'close')
      socket.end(['/a/1?ms=5', '/a/2', '/b/3?ms=5', '/b/4'].map((target) => `GET ${target} HTTP/1.1\r\nHost: h\r\n\r\n`).join(''))
      await gone
    }
    for (const client of others) assert.equal((await client.request('/b/still')).owner, 'b')
  })

  it('get requests whose heads come in pieces', async (t) => {
    const port = await membersOn(t, 'a', 'b')
    for (const client of await connectionsVia(t, port, ['a', 'b'])) {
      for (const name of ['a', 'b']) {
        const pieces = ['GE', `T /${name[0]}`, '/slow HT', 'TP/1.1\r\nHos', 't: h\r', '\n\r', '\n']
        const [answer] = client.send(pieces[0])
        for (const piece of pieces.slice(1)) {
          await apart(2)
          client.socket.write(piece)
        }
        assert.equal((await answer).owner, name)
      }
    }
  })

  it('get requests in absolute form, whose authority counts', async (t) => {
    const port = await freePort()
    await member(t, 'one', `http://one.test:${port}/`)
    await member(t, 'two', `http://two.test:${port}/`)
    const client = await connect(t, port)
    for (const name of ['one', 'two', 'two', 'one']) {
      const other = name === 'one' ? 'two' : 'one'
      const [answer] = client.send(`GET http://${name}.test:${port}/x HTTP/1.1\r\nHost: ${other}.test\r\n\r\n`)
      assert.equal((await answer).owner, name)
    }
    const [answer] = client.send('GET / HTTP/1.1\r\nHost: three.test\r\n\r\n')
    assert.equal((await answer).status, 400)
  })

  it('answer HTTP/1.0, with and without keep-alive', async (t) => {
    const port = await membersOn(t, 'a', 'b')
    for (let i = 0; i < 4; i++) {
      for (const name of ['a', 'b']) {
        const wire = await dial(t, port)
        wire.write(`GET /${name}/ HTTP/1.0\r\n\r\n`)
        assert.match(await wire.untilClosed(), new RegExp(`\\r\\n\\r\\n${name} `))
      }
    }
    const client = await connect(t, port)
    for (const name of ['a', 'b', 'a']) {
      const { owner, headers } = await client.request(`/${name}/`, { version: '1.0', headers: ['Connection: keep-alive'] })
      assert.deepEqual([owner, headers.connection], [name, 'keep-alive'])
    }
  })

  it('upgrade connections that come to them from others', async (t) => {
    const port = await membersOn(t, 'a', 'b')
    for (const first of ['a', 'b', 'a', 'b']) {
      for (const name of ['a', 'b']) {
        const wire = await dial(t, port)
        wire.write(`GET /${first}/ HTTP/1.1\r\nHost: h\r\n\r\n`)
        await wire.until(new RegExp(`\\r\\n\\r\\n${first} .* ${sumOf('')}`))
        wire.write(`GET /${name}/chat HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\nearly`)
        await wire.until(`101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\nX-Owner: ${name}\r\n\r\n`)
        await wire.until(`${name}:early`)
        // No request any more, though it looks like one for the other.
        wire.write('GET /a/ HTTP/1.1\r\n\r\nGET /b/ HTTP/1.1\r\n\r\n')
        await wire.until('GET /b/ HTTP/1.1\r\n\r\n')
        assert.doesNotMatch(wire.text.split('101 Switching')[1], /HTTP\/1.1 \d/)
        wire.socket.end()
        await wire.untilClosed()
      }
    }
  })

  it('ask for the body that a client holds back until 100 Continue', async (t) => {
    const port = await membersOn(t, 'a', 'b')
    for (const first of ['a', 'b', 'a', 'b']) {
      const wire = await dial(t, port)
      for (const [turn, name] of [first, 'a', 'b'].entries()) {
        wire.write(`POST /${name}/${turn} HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n`)
        await wire.until('HTTP/1.1 100 Continue\r\n\r\n', turn + 1)
        wire.write('body')
        await wire.until(`/${name}/${turn} 4 ${sumOf('body')}`)
      }
    }
  })

  it('see the address of the client and of the socket that it reached', async (t) => {
    const port = await freePort()
    await member(t, 'first', `http://127.0.0.1:${port}/`)
    await member(t, 'second', `http://127.0.0.2:${port}/`)
    for (let i = 0; i < 3; i++) {
      assert.equal((await ask(port, '/')).owner, 'first')
      assert.equal((await ask(port, '/', { host: '127.0.0.2' })).owner, 'second')
    }
    await member(t, 'all', `http://*:${port}/`)
    for (let i = 0; i < 3; i++) {
      assert.equal((await ask(port, '/')).owner, 'first')
      assert.equal((await ask(port, '/', { host: '127.0.0.2' })).owner, 'second')
      assert.equal((await ask(port, '/', { host: '127.0.0.3' })).owner, 'all')
    }
  })
})
