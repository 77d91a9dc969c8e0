'use strict'

// What a server leaves behind: connections that it had, registrations that it asked for, sockets.

const assert = require('node:assert/strict')
const net = require('node:net')
const { once } = require('node:events')
const { describe, it } = require('node:test')
const { http } = require('../helpers/backend')
const { dial, listen, request, serve } = require('../helpers/client')
const { freePort } = require('../helpers/free-port')
const { kSkip, member, silence } = require('./kit')

const kGet = (/** @type {string} */ path) => `GET ${path} HTTP/1.1\r\nHost: h\r\n\r\n`
const answer = (/** @type {string} */ text) => (/** @type {any} */ _req, /** @type {any} */ res) => res.end(text)

/** @param {any} server */
function close (server) {
  return new Promise((resolve) => server.close(resolve))
}

describe('servers that end on a shared port', { skip: kSkip }, () => {
  it('end connections that have sent nothing, and never give them the requests of others', async (t) => {
    const seen = /** @type {any[]} */ ([])
    const other = http.createServer((/** @type {any} */ req, /** @type {any} */ res) => {
      seen.push(req.url)
      res.end('other')
    })
    await serve(t, other, 0)
    const victim = await dial(t, other.address().port)
    victim.write(kGet('/first'))
    await victim.until(/other/)
    const port = await freePort()
    const a = http.createServer(answer('a'))
    const b = http.createServer(answer('b'))
    await serve(t, a, `http://*:${port}/a/`)
    await serve(t, b, `http://*:${port}/b/`)
    const silent = net.connect(port, '127.0.0.1').on('error', () => {})
    await once(silent, 'connect')
    // Nothing tells that the kernel's connection was accepted: asked here are all that it may be in by then.
    await silence(50)
    await Promise.all([close(a), close(b)])
    silent.write(kGet('/a/'))
    await once(silent, 'close')
    assert.deepEqual(seen, ['/first'])
  })

  for (const where of ['this process', 'another process']) {
    it(`leave the next request of a busy connection to a server of ${where}`, async (t) => {
      const port = await freePort()
      let respond = () => {}
      const a = http.createServer((/** @type {any} */ _req, /** @type {any} */ res) => { respond = () => res.end('late') })
      await serve(t, a, `http://*:${port}/a/`)
      if (where === 'this process') await serve(t, http.createServer(answer('owner b')), `http://*:${port}/b/`)
      else await member(t, 'b', `http://*:${port}/b/`)
      const wire = await dial(t, port)
      const asked = once(a, 'request')
      wire.write(kGet('/a/'))
      await asked
      a.close()
      respond()
      await wire.until(/late/)
      wire.write(kGet('/b/'))
      await wire.until(/200 OK[^]*200 OK/)
    })
  }

  it('answer a busy connection, whose next request waits for the next owner of their prefix', async (t) => {
    const port = await freePort()
    const b = await member(t, 'b', `http://*:${port}/b/`)
    let respond = () => {}
    const a = http.createServer((/** @type {any} */ req, /** @type {any} */ res) => {
      respond = () => res.end(`late ${req.url}`)
    })
    await serve(t, a, `http://*:${port}/a/`)
    const wire = await dial(t, port)
    const asked = once(a, 'request')
    wire.write(kGet('/a/1'))
    await asked
    a.close(/** @type {any} */ ({ restart: true, waitMs: 60_000 }))
    respond()
    await wire.until(/late \/a\/1/)
    wire.write(kGet('/a/2'))
    // Nothing tells when the other process has heard of the end: its own listen() does.
    for (let listens = false; !listens;) {
      listens = await b.listen('next', `http://*:${port}/a/`).then(() => true, (/** @type {any} */ error) => {
        if (error.code !== 'EADDRINUSE') throw error
        return false
      })
    }
    await wire.until(/next \d+ GET/)
  })

  it('end a connection with its answer where no other process has its port, whoever has another port', async (t) => {
    const [shared, alone] = [await freePort(), await freePort()]
    await member(t, 'a', `http://*:${shared}/a/`)
    /** @type {any[]} */
    const held = []
    const server = http.createServer((/** @type {any} */ req, /** @type {any} */ res) => {
      held.push(res)
      if (held.length === 2) server.emit('all')
    })
    await serve(t, server, [`http://*:${shared}/b/`, `http://*:${alone}/b/`])
    const agent = new http.Agent({ keepAlive: true })
    t.after(() => agent.destroy())
    const all = once(server, 'all')
    const answers = [shared, alone].map((port) => new Promise((resolve, reject) => {
      http.get({ port, path: '/b/', agent }, (res) => {
        res.resume()
        resolve(res.headers.connection)
      }).on('error', reject)
    }))
    await all
    const closed = close(server)
    for (const res of held) res.end('answered')
    assert.deepEqual(await Promise.all(answers), ['keep-alive', 'close'])
    await closed
  })

  it('hear that a client has left which they have not answered, and which sends nothing more', async (t) => {
    const port = await freePort()
    await member(t, 'b', `http://*:${port}/b/`)
    const a = http.createServer()
    await serve(t, a, `http://*:${port}/a/`)
    // Some of them are handed over with their requests.
    for (let turn = 0; turn < 6; turn++) {
      const wire = await dial(t, port)
      const asked = once(a, 'request')
      wire.write('GET /a/ HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n')
      const [req, res] = await asked
      const isClosed = once(res, 'close')
      if (turn % 2 === 0) {
        wire.socket.destroy()
      } else {
        res.write('begun')
        await wire.until(/begun/)
        wire.socket.resetAndDestroy()
      }
      await isClosed
      assert.equal(res.writableFinished, false)
      assert.equal(req.destroyed, true)
    }
  })

  it('leave connections without a keep-alive timeout without one', async (t) => {
    const port = await freePort()
    await member(t, 'b', `http://*:${port}/b/`)
    const a = http.createServer({ keepAliveTimeout: 0 }, answer('a'))
    await serve(t, a, `http://*:${port}/a/`)
    const wire = await dial(t, port)
    wire.write(kGet('/a/'))
    await wire.until(/200 OK/)
    await close(a)
    // A timeout would end it.
    await silence(100)
    wire.write(kGet('/b/'))
    await wire.until(/200 OK[^]*200 OK/)
  })

  it('close the address of a prefix that goes, or leave it to those who have it, too', async (t) => {
    const port = await freePort()
    const a = http.createServer(answer('a'))
    await serve(t, a, [`http://127.0.0.1:${port}/a/`, `http://127.0.0.2:${port}/a/`])
    await a.removePrefix(`http://127.0.0.2:${port}/a/`)
    await assert.rejects(request({ port, host: '127.0.0.2', path: '/a/' }), { code: 'ECONNREFUSED' })
    await a.addPrefix(`http://127.0.0.2:${port}/a/`)
    await member(t, 'b', `http://127.0.0.2:${port}/b/`)
    await a.removePrefix(`http://127.0.0.2:${port}/a/`)
    for (let i = 0; i < 4; ++i) {
      assert.equal((await request({ port, host: '127.0.0.2', path: '/b/' })).status, 200)
      assert.equal((await request({ port, host: '127.0.0.2', path: '/a/' })).status, 404)
    }
  })
})

describe('processes that start on a port', { skip: kSkip }, () => {
  it('never are in each other\'s way, as often as they do', async (t) => {
    const names = ['a', 'b', 'c', 'd', 'e']
    const members = await Promise.all(names.map(() => member(t)))
    for (let round = 0; round < 10; ++round) {
      const port = await freePort()
      await Promise.all(members.map((one, i) => one.listen(names[i], `http://*:${port}/${names[i]}/`)))
      await Promise.all(members.map((one, i) => one.close(names[i])))
    }
  })
})

describe('a server that is closed and listens again at once', { skip: kSkip }, () => {
  it('emits \'close\', and serves', async (t) => {
    const port = await freePort()
    await member(t, 'a', `http://*:${port}/a/`)
    const server = http.createServer(answer('b'))
    await serve(t, server, `http://*:${port}/b/`)
    for (let i = 0; i < 20; ++i) {
      const closed = close(server)
      await serve(t, server, `http://*:${port}/b/`)
      await closed
      assert.equal((await request({ port, path: '/b/' })).status, 200)
    }
  })
})

describe('a server that is closed and listens again beside others', { skip: kSkip }, () => {
  it('accepts by itself once they have left', async (t) => {
    const port = await freePort()
    const other = await member(t, 'other', `http://*:${port}/other/`)
    const server = http.createServer(answer('own'))
    for (let listen = 0; listen < 3; listen++) {
      if (listen > 0) await close(server)
      await serve(t, server, `http://*:${port}/own/`)
    }
    assert.equal((await request({ port, path: '/own/' })).body, 'own')
    await other.close('other')
    assert.equal((await request({ port, path: '/own/' })).body, 'own')
  })
})

describe('a listen() that comes to nothing', { skip: kSkip }, () => {
  it('leaves no registration when close() came before the answer of others', async (t) => {
    const port = await freePort()
    await member(t, 'a', `http://*:${port}/a/`)
    for (let i = 0; i < 3; ++i) {
      const server = http.createServer().listen(`http://*:${port}/b/`)
      await new Promise((resolve) => setImmediate(resolve))
      server.close()
    }
    const again = http.createServer(answer('b'))
    again.listen(`http://*:${port}/b/`)
    await new Promise((resolve) => setImmediate(resolve))
    again.close()
    await serve(t, again, `http://*:${port}/b/`)
    assert.equal((await request({ port, path: '/b/' })).status, 200)
    await close(again)
    const c = await member(t)
    await c.listen('c', `http://*:${port}/b/`)
  })

  it('fails as on Node, and leaves nothing of the port behind', async (t) => {
    const stranger = net.createServer()
    stranger.listen(0)
    await once(stranger, 'listening')
    const { port } = /** @type {net.AddressInfo} */ (stranger.address())
    const server = http.createServer()
    await assert.rejects(listen(server, port), { code: 'EADDRINUSE', message: `listen EADDRINUSE: address already in use :::${port}` })
    stranger.close()
    await once(stranger, 'close')
    const b = await member(t)
    await b.listen('b', port)
  })

  it('is none of a server that was closed within addPrefix()', async (t) => {
    const port = await freePort()
    await member(t, 'a', `http://*:${port}/a/`)
    const b = http.createServer(answer('b'))
    await serve(t, b, `http://*:${port}/b/`)
    const adding = b.addPrefix(`http://*:${port}/c/`)
    b.close()
    await assert.rejects(adding, { code: 'ERR_SERVER_NOT_RUNNING' })
    const c = await member(t)
    await c.listen('c', `http://*:${port}/c/`)
  })
})
