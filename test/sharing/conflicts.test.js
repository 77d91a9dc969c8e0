'use strict'

// What processes cannot both have, and who is told so.

const assert = require('node:assert/strict')
const { describe, it } = require('node:test')
const { certificate } = require('../helpers/certificates')
const { freePort } = require('../helpers/free-port')
const { Stranger, ask, assertFree, kSkip, kSkipStranger, meetingPlace, member, until } = require('./kit')

// A coordinator has three seconds to answer; the rest is what a busy machine adds at most.
const kSilentMsMax = 8000

describe('Registering on a shared port', { skip: kSkip }, () => {
  it('fails for the prefix that another process has, naming process and prefix', async (t) => {
    const port = await freePort()
    const a = await member(t, 'a', `http://*:${port}/shop/`)
    const b = await member(t, 'b', `http://*:${port}/other/`)
    const c = await member(t)
    for (const [one, holder, taken] of /** @type {const} */ ([[c, a, 'shop'], [c, b, 'other'], [a, b, 'other'], [b, a, 'shop']])) {
      const prefix = `http://*:${port}/${taken}/`
      await assert.rejects(one.listen('d', prefix), (/** @type {any} */ error) => {
        assert.equal(error.code, 'EADDRINUSE')
        assert.equal(error.message, `listen EADDRINUSE: ${prefix} is already registered by process ${holder.pid}. Choose another prefix, ` +
          'or share it by giving both servers the same queueName')
        assert.deepEqual([error.prefix, error.pid, error.syscall], [prefix, holder.pid, 'listen'])
        return true
      })
    }
    assert.equal((await ask(port, '/shop/')).owner, 'a')
    // Nothing of it is left.
    await a.close('a')
    await c.listen('c', `http://*:${port}/shop/`)
    assert.equal((await ask(port, '/shop/')).owner, 'c')
  })

  it('takes prefixes for identical that differ in case and percent-encoding only', async (t) => {
    const port = await freePort()
    const a = await member(t, 'a', [`http://shop.test:${port}/caf%C3%A9/Menu/`, `http://*:${port}/x/`])
    const b = await member(t)
    for (const text of [`http://SHOP.test:${port}/CAF%c3%89/menu`, `http://shop.test:${port}/café/%4denu/`, `http://*:${port}/%58/`]) {
      await assert.rejects(b.listen('b', text), (/** @type {any} */ error) => {
        assert.deepEqual([error.code, error.pid], ['EADDRINUSE', a.pid])
        assert.match(error.message, /is already registered by process/)
        return true
      })
    }
    await b.listen('b', [`http://*:${port}/caf%C3%A9/Menu/`, `http://other.test:${port}/caf%C3%A9/Menu/`])
  })

  it('is all or nothing when one of several prefixes is taken', async (t) => {
    const port = await freePort()
    const other = await freePort()
    const a = await member(t, 'a', `http://*:${port}/taken/`)
    const b = await member(t)
    await assert.rejects(b.listen('b', [`http://*:${other}/free/`, `http://*:${port}/free/`, `http://*:${port}/taken/`]),
      (/** @type {any} */ error) => error.code === 'EADDRINUSE' && error.pid === a.pid && error.message.includes(`http://*:${port}/taken/`))
    assert.equal((await ask(port, '/free/')).status, 404)
    await assertFree(other)
    await a.listen('more', [`http://*:${other}/free/`, `http://*:${port}/free/`])
    assert.equal((await ask(port, '/free/')).owner, 'more')
  })

  it('gives a plain port the rest of what prefixes leave', async (t) => {
    for (const isPlainFirst of [true, false]) {
      const port = await freePort()
      const one = await member(t)
      const two = await member(t)
      if (isPlainFirst) await one.listen('plain', port)
      await two.listen('prefix', `http://*:${port}/shop/`)
      if (!isPlainFirst) await one.listen('plain', port)
      for (let i = 0; i < 4; i++) {
        assert.equal((await ask(port, '/shop/x')).owner, 'prefix')
        assert.equal((await ask(port, '/shopping')).owner, 'plain')
      }
      await assert.rejects(two.listen('root', `http://*:${port}/`), { code: 'EADDRINUSE', pid: one.pid })
    }
  })

  it('fails for the second plain port as on Node', async (t) => {
    const port = await freePort()
    const a = await member(t, 'a', port)
    const b = await member(t)
    /** @type {any} */
    const stock = await b.tell('listen', { name: 'stock', on: [port], stock: true }).catch((error) => error)
    /** @type {any} */
    const ours = await b.listen('b', port).catch((error) => error)
    for (const property of ['message', 'code', 'errno', 'syscall', 'address', 'port']) assert.equal(ours[property], stock[property], property)
    assert.equal(ours.code, 'EADDRINUSE')
    assert.equal(ours.pid, a.pid)
    await assert.rejects(b.listen('b', port, '127.0.0.1'), { code: 'EADDRINUSE' })
  })

  it('leaves a process alone that wants the port exclusively, or fails for it', async (t) => {
    const port = await freePort()
    const a = await member(t)
    const b = await member(t)
    for (const exclusive of [{ port, exclusive: true }, { prefix: `http://*:${port}/a/`, exclusive: true }]) {
      await a.listen('a', exclusive)
      await assert.rejects(b.listen('b', `http://*:${port}/b/`), { code: 'EADDRINUSE', pid: a.pid })
      await assert.rejects(b.listen('b', port), { code: 'EADDRINUSE' })
      await a.close('a')
      await b.listen('b', `http://*:${port}/b/`)
      await assert.rejects(a.listen('a', exclusive), { code: 'EADDRINUSE', pid: b.pid })
      assert.equal((await ask(port, '/b/')).owner, 'b')
      await b.close('b')
      await assertFree(port)
    }
  })

  it('says who wants the port exclusively, and what helps', async (t) => {
    const port = await freePort()
    const a = await member(t)
    const b = await member(t)
    const [mine, theirs] = [`http://*:${port}/b/`, `http://*:${port}/a/`]
    await a.listen('a', { prefix: theirs, exclusive: true })
    await assert.rejects(b.listen('b', mine), {
      code: 'EADDRINUSE',
      message: `listen EADDRINUSE: ${mine}: process ${a.pid} has port ${port} for itself, by listening on ${theirs} with exclusive: true. ` +
        'Choose another port, or leave "exclusive" out there'
    })
    await assert.rejects(b.listen('b', port), {
      code: 'EADDRINUSE', pid: a.pid, message: new RegExp(`^listen EADDRINUSE: address already in use :::${port}: .* process ${a.pid} has port ${port} for itself`)
    })
    await a.close('a')
    await a.listen('a', theirs)
    await assert.rejects(b.listen('b', { prefix: mine, exclusive: true }), {
      code: 'EADDRINUSE',
      message: `listen EADDRINUSE: ${mine}: with exclusive: true port ${port} is wanted alone, and process ${a.pid} has ${theirs} there. ` +
        'Choose another port, or leave "exclusive" out'
    })
  })

  it('says that a port speaks TLS, or does not', async (t) => {
    const port = await freePort()
    const a = await member(t, 'a', `http://*:${port}/a/`)
    const b = await member(t)
    const mine = `https://*:${port}/b/`
    await assert.rejects(b.listen('b', mine, certificate('shared.test')), {
      code: 'EADDRINUSE',
      pid: a.pid,
      message: `listen EADDRINUSE: ${mine}: process ${a.pid} has http://*:${port}/a/, and a port speaks either http or https. Use the same ` +
        'scheme, another port, or prefixes whose hosts are IP addresses, not the same one, for both'
    })
  })

  it('says which queue a prefix has, and which queueMode would share it', async (t) => {
    const port = await freePort()
    const prefix = `http://*:${port}/a/`
    const a = await member(t, 'a', { prefix, queueName: 'shop', queueMode: 'createOrAttach' })
    await a.listen('own', `http://*:${port}/own/`)
    const b = await member(t)
    const has = `listen EADDRINUSE: ${prefix} is already registered by process ${a.pid}`
    const cases = /** @type {const} */ ([
      [{ prefix, queueName: 'blog', queueMode: 'createOrAttach' },
        `${has} for the queue "shop", which is not "blog". Choose another prefix, or give both servers the same queueName`],
      [{ prefix, queueName: 'shop' },
        `${has} for the same queue "shop", and queueMode 'create' wants the prefix to be free. 'createOrAttach' or 'attach' shares it`],
      [{ prefix }, `${has} for the queue "shop". Choose another prefix, or share it with queueName: "shop", queueMode: 'createOrAttach'`],
      [{ prefix: `http://*:${port}/own/`, queueName: 'shop', queueMode: 'createOrAttach' },
        `listen EADDRINUSE: http://*:${port}/own/ is already registered by process ${a.pid}, which names no queue. Choose another prefix, or ` +
        'give that server queueName: "shop", too']
    ])
    for (const [options, message] of cases) {
      // By the coordinator's own decision as by what it answers.
      for (const one of [a, b]) await assert.rejects(one.listen('late', options), { code: 'EADDRINUSE', pid: a.pid, message })
    }
  })

  it('warns of a listening socket beyond those that a port shares, which serves all the same', async (t) => {
    const port = await freePort()
    const a = await member(t)
    const prefixes = Array.from({ length: 65 }, (_, i) => `http://127.0.0.${i + 1}:${port}/`)
    await a.listen('a', prefixes)
    for (const address of ['127.0.0.1', '127.0.0.65']) assert.equal((await ask(port, '/', { host: address })).owner, 'a')
    await until(() => a.output.includes('HTTPSYS_SOCKET_UNSHARED'), 'the warning is told')
    const warnings = a.output.split('\n').filter((line) => line.includes('HTTPSYS_SOCKET_UNSHARED'))
    assert.equal(warnings.length, 1)
    assert.match(warnings[0], new RegExp(`127\\.0\\.0\\.65:${port} is not shared .*: a port shares 64 listening sockets at most\\. Listen on fewer`))
  })

  it('fails on a port of a program without httpsys, and works when that has left', async (t) => {
    const port = await freePort()
    const stock = await member(t)
    await stock.tell('listen', { name: 'stock', on: [port], stock: true })
    const a = await member(t)
    const b = await member(t)
    for (const one of [a, b, a]) {
      await assert.rejects(one.listen('a', `http://*:${port}/a/`), { code: 'EADDRINUSE' })
      await assert.rejects(one.listen('a', port), { code: 'EADDRINUSE', message: `listen EADDRINUSE: address already in use :::${port}` })
    }
    await stock.close('stock')
    await a.listen('a', `http://*:${port}/a/`)
    await b.listen('b', `http://*:${port}/b/`)
    await assert.rejects(stock.tell('listen', { name: 'stock', on: [port], stock: true }), { code: 'EADDRINUSE' })
    assert.equal((await ask(port, '/b/')).owner, 'b')
  })

  // With other members it does not fail: stopped-coordinator.test.js.
  it('fails within some seconds when the only member is stopped, naming it, and works when it goes on', async (t) => {
    const port = await freePort()
    const a = await member(t, 'a', `http://*:${port}/a/`)
    const c = await member(t)
    a.process.kill('SIGSTOP')
    const isAboutA = (/** @type {any} */ error) => {
      assert.equal(error.code, 'ERR_HTTPSYS_PORT_COORDINATOR')
      assert.match(error.message, new RegExp(`Process ${a.pid}\\b.*port ${port}\\b`))
      assert.deepEqual([error.pid, error.port], [a.pid, port])
      return true
    }
    const since = Date.now()
    await assert.rejects(c.listen('c', `http://*:${port}/c/`), isAboutA)
    const ms = Date.now() - since
    assert.ok(ms >= 2900 && ms < kSilentMsMax, `${ms} ms`)
    a.process.kill('SIGCONT')
    await c.listen('c', `http://*:${port}/c/`)
    for (const [target, owner] of [['/a/', 'a'], ['/c/', 'c']]) {
      assert.equal((await ask(port, target)).owner, owner)
    }
  })

  const squatters = {
    'says nothing': { say: '', hangUp: false },
    'says nonsense': { say: 'fe'.repeat(5000), hangUp: false },
    'announces a frame of 4 GB': { say: 'ffffffff02000000', hangUp: false },
    'sends half a frame': { say: '0a0000000200000001', hangUp: false },
    'announces a descriptor and sends none': { say: '040000000b01000001020304', hangUp: false },
    'hangs up': { say: '', hangUp: true }
  }
  it('fails when something else has the meeting place, whatever that says', { skip: kSkipStranger }, async (t) => {
    const port = await freePort()
    const stranger = new Stranger(t)
    const a = await member(t)
    for (const [what, how] of Object.entries(squatters)) {
      await stranger.tell({ listen: meetingPlace(port), ...how })
      const since = Date.now()
      await assert.rejects(a.listen('a', `http://*:${port}/a/`), { code: 'ERR_HTTPSYS_PORT_COORDINATOR', pid: stranger.process.pid }, what)
      assert.ok(Date.now() - since < kSilentMsMax, `${what}: ${Date.now() - since} ms`)
      await stranger.tell({ listen: null })
      await a.listen('a', `http://*:${port}/a/`)
      assert.equal((await ask(port, '/a/')).owner, 'a')
      await a.close('a')
    }
  })

  it('goes on without a coordinator that dies in the middle of a frame', { skip: kSkipStranger }, async (t) => {
    // Half of a welcome; a welcome with half of the state behind it.
    const id = '0102030405060708'
    const welcome = `0a00000002000000${'0100'}${id}`
    for (const say of ['0a', welcome.slice(0, -2), welcome, `${welcome}20000000090000`, `${welcome}20000000090000000102`]) {
      const port = await freePort()
      const stranger = new Stranger(t)
      await stranger.tell({ listen: meetingPlace(port), say, hangUp: false })
      const a = await member(t)
      const listening = a.listen('a', `http://*:${port}/a/`)
      await stranger.tell({ taken: 1 })
      stranger.process.kill('SIGKILL')
      await listening
      assert.equal((await ask(port, '/a/')).owner, 'a', say)
      await a.kill()
    }
  })

  const kSkipUser = kSkipStranger || (process.geteuid?.() !== 0 && 'only root can act for another user')
  it('fails when a process of another user has the meeting place', { skip: kSkipUser }, async (t) => {
    const port = await freePort()
    const uid = 65534
    const stranger = new Stranger(t, { uid })
    await stranger.tell({ listen: meetingPlace(port), say: '', hangUp: false })
    const a = await member(t)
    await assert.rejects(a.listen('a', `http://*:${port}/a/`), (/** @type {any} */ error) => {
      assert.deepEqual([error.code, error.uid, error.pid], ['ERR_HTTPSYS_PORT_NAME', uid, stranger.process.pid])
      assert.match(error.message, new RegExp(`process ${stranger.process.pid} of user ${uid}`))
      return true
    })
  })
})
