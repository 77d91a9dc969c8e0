'use strict'

// Processes come to a port and leave it, in any order and by any way, while requests run.

const assert = require('node:assert/strict')
const http = require('node:http')
const net = require('node:net')
const { once } = require('node:events')
const { text } = require('node:stream/consumers')
const { describe, it } = require('node:test')
const { startChild } = require('../helpers/child')
const { freePort } = require('../helpers/free-port')
const { Load, ask, assertFree, connect, kSkip, member, silence, unexplained, until } = require('./kit')

/** @param {number} port @param {string} name */
const prefixOf = (port, name) => `http://*:${port}/${name}/`

/** @param {import('node:test').TestContext} t @param {number} port @param {string} name */
const join = (t, port, name) => member(t, name, prefixOf(port, name))

/** Both kinds of clients. @param {import('node:test').TestContext} t @param {number} port @param {...string} names */
function loadsOn (t, port, ...names) {
  const targets = names.map((name) => `/${name}/`)
  return [
    new Load(t, { port, targets, connections: 2 * names.length }),
    new Load(t, { port, targets, connections: names.length, isKept: false })
  ]
}

/** @param {Load[]} loads @param {number} [count] @param {string} [target] */
const goOn = (loads, count = 10, target) => Promise.all(loads.map((load) => load.further(count, target)))

/** @param {Load[]} loads @param {(target: string) => boolean} [isExcepted] */
async function stopUnharmed (loads, isExcepted) {
  for (const load of loads) await load.stopUnharmed(isExcepted)
}

/** A stock server that takes the port. @param {number} port */
async function takeWithStock (port) {
  const server = net.createServer().listen(port)
  await once(server, 'listening')
  server.close()
  await once(server, 'close')
}

/** @param {import('node:http').RequestOptions} where */
async function bodyOf (where) {
  const [res] = await once(http.get({ ...where, agent: false }), 'response')
  return text(res)
}

describe('Members of a port', { skip: kSkip }, () => {
  it('find all sockets of the first one, which has several addresses and is slow between them', async (t) => {
    const port = await freePort()
    const first = startChild(({ http, report, args: [prefix] }) => {
      const { Listener } = require(`${process.cwd()}/packages/core-native/lib/listen/listener`)
      const { contribute } = Listener.prototype
      Listener.prototype.contribute = function (/** @type {any} */ handle, /** @type {boolean} */ isLast) {
        contribute.call(this, handle, isLast)
        if (!isLast) report({ first: true })
        // The thread is held up for longer than another process takes to open what it finds free.
        if (!isLast) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500)
      }
      const server = http.createServer((req, res) => { res.end('first') })
      server.on('error', (error) => report({ error: error.message }))
      server.listen(/** @type {any} */ (prefix), () => report({ listening: true }))
    }, { args: [`http://localhost:${port}/first/`] })
    t.after(() => first.kill())
    await first.message('first')
    const second = await member(t, 'second', `http://localhost:${port}/second/`)
    await first.message('listening')
    for (const host of ['127.0.0.1', '::1']) {
      assert.equal(await bodyOf({ host, port, path: '/first/', headers: { host: `localhost:${port}` } }), 'first', host)
      assert.match(await bodyOf({ host, port, path: '/second/', headers: { host: `localhost:${port}` } }), /second/, host)
    }
    await second.close('second')
  })

  it('come and go while others are asked, the one that was first too', async (t) => {
    const port = await freePort()
    const a = await join(t, port, 'a')
    const loads = loadsOn(t, port, 'b', 'c')
    const b = await join(t, port, 'b')
    const c = await join(t, port, 'c')
    await goOn(loads)
    for (const load of loads) await load.stop()
    const [kept, fresh] = loadsOn(t, port, 'b', 'c')
    await goOn([kept, fresh])
    const d = await join(t, port, 'd')
    await goOn([kept, fresh])
    await a.close('a')
    await goOn([kept, fresh])
    assert.equal((await ask(port, '/a/')).status, 404)
    await a.listen('a', prefixOf(port, 'a'))
    await d.close('d')
    await goOn([kept, fresh])
    assert.equal((await ask(port, '/a/')).owner, 'a')
    await stopUnharmed([kept, fresh])
    await Promise.all([a.close('a'), b.close('b'), c.close('c')])
    await assertFree(port)
  })

  it('leave one after the other in either order, and the last one frees the port', async (t) => {
    for (const order of ['abc', 'cba', 'bac']) {
      const port = await freePort()
      /** @type {Record<string, import('./kit').Member>} */
      const members = {}
      for (const name of 'abc') members[name] = await join(t, port, name)
      for (const [i, name] of [...order].entries()) {
        const left = order.slice(i + 1)
        const loads = left === '' ? [] : loadsOn(t, port, ...left)
        await goOn(loads, 3)
        await members[name].close(name)
        await goOn(loads, 3)
        await stopUnharmed(loads)
      }
      await assertFree(port)
      await takeWithStock(port)
      await members.b.listen('b', prefixOf(port, 'b'))
      assert.equal((await ask(port, '/b/')).owner, 'b')
    }
  })

  it('end by themselves once their servers are closed, though others share the port', async (t) => {
    const port = await freePort()
    const a = await join(t, port, 'a')
    const b = await join(t, port, 'b')
    const client = await connect(t, port)
    await client.request('/b/')
    for (const [one, name] of /** @type {const} */ ([[a, 'a'], [b, 'b']])) {
      await one.close(name)
      await one.tell('release')
      assert.deepEqual(await one.exit, { code: 0, signal: null })
    }
    await takeWithStock(port)
  })

  for (const victim of ['the first', 'another']) {
    it(`survive that ${victim} is killed, which costs others no request`, async (t) => {
      const port = await freePort()
      // The longest-lived one leads, unless it is the one that is killed.
      const victims = victim === 'the first' ? ['a', 'b', 'c'] : ['c', 'c', 'c']
      /** @type {Record<string, import('./kit').Member>} */
      const members = {}
      for (const name of 'abc') members[name] = await join(t, port, name)
      const last = await join(t, port, 'last')
      const [kept, fresh] = loadsOn(t, port, 'last')
      await goOn([kept, fresh])
      const kills = []
      for (const name of victims) {
        const from = performance.now()
        await members[name].kill()
        kills.push({ from, to: performance.now() })
        // Its owner is expected back.
        await until(async () => (await ask(port, `/${name}/`)).status === 503, 'the end of the owner')
        await goOn([kept, fresh], 5)
        members[name] = await join(t, port, name)
        assert.equal((await ask(port, `/${name}/`)).pid, String(members[name].pid))
        await goOn([kept, fresh], 5)
      }
      await kept.stopUnharmed()
      const [{ answers, statuses, lost, wrong }] = await fresh.stop()
      assert.deepEqual([statuses, wrong, lost.kept], [{ 200: answers }, [], []])
      assert.deepEqual(unexplained(fresh.losses, kills), [], lost.new.join('\n'))
      assert.doesNotMatch(lost.new.join('\n'), /ECONNREFUSED/)
      assert.equal(await last.tell('requests') >= answers, true)
    })
  }

  it('take their prefixes along when they end in order, also without closing their servers', async (t) => {
    const port = await freePort()
    await join(t, port, 'base')
    const a = await join(t, port, 'a')
    const exit = once(a.process, 'exit')
    await a.tell('exit')
    await exit
    await until(async () => (await ask(port, '/a/')).status === 404, 'the end of the prefix')
    const b = await join(t, port, 'b')
    await b.kill()
    await until(async () => (await ask(port, '/b/')).status === 503, 'the death of the owner')
    await join(t, port, 'c')
    // Also as told to one that came later.
    for (let i = 0; i < 8; ++i) assert.equal((await ask(port, '/b/')).status, 503)
  })

  it('get what belonged to one that was killed if their prefix is wider', async (t) => {
    const port = await freePort()
    await member(t, 'root', `http://*:${port}/`)
    const a = await join(t, port, 'a')
    assert.equal((await ask(port, '/a/')).owner, 'a')
    await a.kill()
    await until(async () => (await ask(port, '/a/')).owner === 'root', 'root gets what a had')
    await join(t, port, 'a')
    assert.equal((await ask(port, '/a/')).owner, 'a')
  })

  it('answer 503 for one that is killed at work on what they relay to it, and nothing where it closes the connection itself', async (t) => {
    const port = await freePort()
    await join(t, port, 'a')
    const get = (/** @type {string} */ target) => `GET ${target} HTTP/1.1\r\nHost: h\r\n\r\n`
    for (const isKilled of [true, false]) {
      const b = await join(t, port, 'b')
      const clients = await Promise.all(Array.from({ length: 8 }, () => connect(t, port)))
      // The connections are with a, which relays: more is behind.
      const begun = await Promise.all(clients.map(async (client) => {
        assert.equal((await client.request('/a/')).owner, 'a')
        const answers = client.send(get('/b/1') + get('/b/2?ms=60000') + get('/a/3'), 3)
        const all = Promise.allSettled(answers)
        assert.equal((await answers[0]).owner, 'b')
        return { all }
      }))
      if (isKilled) await b.kill()
      else await b.tell('closeAllConnections', { name: 'b' })
      for (const answers of await Promise.all(begun.map(({ all }) => all))) {
        const statuses = answers.map((answer) => answer.status === 'fulfilled' ? answer.value.status : 'none')
        assert.deepEqual(statuses, [200, isKilled ? 503 : 'none', 'none'])
      }
      if (isKilled) await ask(port, '/b/').then(({ status }) => assert.equal(status, 503))
    }
  })

  it('take the place of those killed at the same time, the coordinator among them', async (t) => {
    const port = await freePort()
    const a = await join(t, port, 'a')
    const b = await join(t, port, 'b')
    await join(t, port, 'c')
    const load = new Load(t, { port, targets: ['/c/'] })
    await load.further(5)
    await Promise.all([a.kill(), b.kill()])
    await Promise.all([join(t, port, 'a'), join(t, port, 'b')])
    for (const name of 'abc') assert.equal((await ask(port, `/${name}/`)).owner, name)
    await load.further(5)
    await load.stopUnharmed()
  })

  it('leave the port free when all are killed', async (t) => {
    const port = await freePort()
    const members = [await join(t, port, 'a'), await join(t, port, 'b')]
    await Promise.all(members.map((one) => one.kill()))
    await assertFree(port)
    await takeWithStock(port)
    await join(t, port, 'b')
    assert.equal((await ask(port, '/b/')).owner, 'b')
  })

  it('keep the listening socket when the one that opened it is killed: nobody is refused', async (t) => {
    const port = await freePort()
    const a = await join(t, port, 'a')
    const b = await join(t, port, 'b')
    const knock = { isOver: false }
    const refused = /** @type {string[]} */ ([])
    const knocking = (async () => {
      while (!knock.isOver) {
        const socket = net.connect({ port, host: '127.0.0.1' })
        socket.on('error', (/** @type {any} */ error) => refused.push(error.code))
        await Promise.race([once(socket, 'connect').catch(() => {}), once(socket, 'close')])
        socket.destroy()
      }
    })()
    await a.kill()
    assert.equal((await ask(port, '/b/')).owner, 'b')
    const c = await join(t, port, 'c')
    await b.kill()
    assert.equal((await ask(port, '/c/')).owner, 'c')
    knock.isOver = true
    await knocking
    assert.deepEqual(refused.filter((code) => code === 'ECONNREFUSED'), [])
    await c.close('c')
    await assertFree(port)
  })

  it('may all start at the same moment', async (t) => {
    const port = await freePort()
    const names = ['a', 'b', 'c', 'd', 'e', 'f']
    const members = await Promise.all(names.map(() => member(t)))
    await Promise.all(members.map((one, i) => one.listen(names[i], prefixOf(port, names[i]))))
    for (const name of names) assert.equal((await ask(port, `/${name}/`)).owner, name)
    await Promise.all(members.map((one, i) => one.close(names[i])))
    await assertFree(port)
  })

  it('may come and go as they like: who is there answers, who is not does not', async (t) => {
    const port = await freePort()
    const names = ['a', 'b', 'c', 'd']
    const members = await Promise.all(names.map(() => member(t)))
    const isThere = names.map(() => false)
    const isKilled = names.map(() => false)
    // No order is chosen; which one it was stands in the message.
    const steps = Array.from({ length: 24 }, () => [Math.floor(Math.random() * names.length), Math.random() < 0.2])
    const done = /** @type {string[]} */ ([])
    await join(t, port, 'base')
    for (const [at, isKill] of /** @type {[number, boolean][]} */ (steps)) {
      const name = names[at]
      done.push(`${isThere[at] ? isKill ? 'kill' : 'close' : 'listen'} ${name}`)
      if (!isThere[at]) await members[at].listen(name, prefixOf(port, name))
      else if (!isKill) await members[at].close(name)
      else {
        await members[at].kill()
        members[at] = await member(t)
        await until(async () => (await ask(port, `/${name}/`)).status === 503, `${done}: the end of ${name}`)
      }
      isKilled[at] = isThere[at] && isKill
      isThere[at] = !isThere[at]
      const answers = await Promise.all(names.map((name) => ask(port, `/${name}/`)))
      assert.deepEqual(answers.map(({ status, owner }) => status === 200 ? owner : status),
        names.map((name, i) => isThere[i] ? name : isKilled[i] ? 503 : 404), done.join(', '))
    }
    assert.equal((await ask(port, '/base/')).owner, 'base')
  })

  it('wait for one that is stopped for a moment', async (t) => {
    const port = await freePort()
    await join(t, port, 'a')
    const b = await join(t, port, 'b')
    const clients = await Promise.all(Array.from({ length: 8 }, () => connect(t, port)))
    for (const client of clients) await client.request('/a/')
    const load = new Load(t, { port, targets: ['/a/'] })
    await load.further(1)
    b.process.kill('SIGSTOP')
    const answers = clients.map((client) => client.request('/b/'))
    await load.further(10)
    // Longer than any moment in which nobody is asked for what the stopped one has.
    await silence(200)
    b.process.kill('SIGCONT')
    for (const { owner } of await Promise.all(answers)) assert.equal(owner, 'b')
    assert.equal(await b.tell('requests'), clients.length)
    await load.stopUnharmed()
  })
})
