'use strict'

// Goal: processes that own a prefix together send no more than its maxBandwidth together, and a response that another process passes on
// counts once, at its owner. Method: downloads that take seconds, of which the least time is checked.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const { once } = require('node:events')
const http2 = require('node:http2')
const nodeHttp = require('node:http')
const nodeHttps = require('node:https')
const { loadBinding } = require('../../packages/core-native/lib/backend/binding')
const { startChild } = require('../helpers/child')
const { freePort } = require('../helpers/free-port')
const tls = require('../helpers/tls')
const { kSkip } = require('./kit')

const options = { skip: kSkip, timeout: 120_000 }
const kRate = 200_000

/**
 * A process that answers with as many bytes as the query asks for, and listens when it is told to.
 *
 * @param {import('node:test').TestContext} t
 * @param {any} where of listen()
 * @param {number} [maxBandwidth]
 */
function startOwner (t, where, maxBandwidth = 0) {
  const child = startChild(({ http, report, args: [where, maxBandwidth] }) => {
    const server = http.createServer({ maxBandwidth }, (req, res) => {
      res.setHeader('X-Pid', process.pid)
      res.end(Buffer.alloc(Number(/\?(\d+)/.exec(String(req.url))?.[1])))
    })
    process.on('message', (message) => {
      if (message === 'listen') server.listen(where, () => { report({ listening: true }) })
      else server.close(() => { report({ closed: true }) })
    })
    report({ pid: process.pid })
  }, { args: [where, maxBandwidth] })
  t.after(() => child.kill())
  return {
    child,
    async listen () {
      await child.message('pid')
      child.send('listen')
      await child.message('listening')
    }
  }
}

/** @param {number} port @param {number} bytes @param {any} [given] of the request @param {typeof nodeHttp.get} [get] */
function download (port, bytes, given = {}, get = nodeHttp.get) {
  const begun = Date.now()
  return /** @type {Promise<{ pid: string, ms: number }>} */ (new Promise((resolve, reject) => {
    get({ host: '127.0.0.1', port, path: `/?${bytes}`, agent: false, ...given }, (res) => {
      let got = 0
      res.on('data', (piece) => { got += piece.length })
      res.on('error', reject)
      res.on('end', () => {
        assert.equal(res.statusCode, 200)
        assert.equal(got, bytes)
        resolve({ pid: String(res.headers['x-pid']), ms: Date.now() - begun })
      })
    }).on('error', reject)
  }))
}

test('two owners of a queue have half of the rate each, and one that is left has all of it', options, async (t) => {
  const port = await freePort()
  const where = { prefix: `http://*:${port}/`, queueName: 'limited', queueMode: 'createOrAttach' }
  const [first, second] = [startOwner(t, where, kRate), startOwner(t, where, kRate)]
  await first.listen()
  await second.listen()
  const begun = Date.now()
  const all = await Promise.all(Array.from({ length: 8 }, () => download(port, 100_000)))
  const ms = Date.now() - begun
  assert.equal(new Set(all.map(({ pid }) => pid)).size, 2)
  // With a whole rate each, it would be 1,900 ms.
  assert.ok(ms >= 3000, `800,000 bytes of both within ${ms} ms`)
  const alone = await download(port, 200_000)
  assert.ok(alone.ms >= 1300, `200,000 bytes of one of them within ${alone.ms} ms`)
  second.child.send('close')
  await second.child.message('closed')
  // Half of the rate would need 1,900 ms each time.
  let left = await download(port, 200_000)
  for (let i = 0; i < 10 && left.ms >= 1500; ++i) left = await download(port, 200_000)
  assert.ok(left.ms < 1500, `200,000 bytes of the last one take ${left.ms} ms`)
})

test('an owner that comes takes its part of the rate from a response that is being sent', options, async (t) => {
  const port = await freePort()
  const where = { prefix: `http://*:${port}/`, queueName: 'limited', queueMode: 'createOrAttach' }
  const [first, second] = [startOwner(t, where, kRate), startOwner(t, where, kRate)]
  await first.listen()
  await second.child.message('pid')
  const got = download(port, 800_000)
  await second.listen()
  // Alone, it would have taken 3,900 ms.
  assert.ok((await got).ms >= 5000, `${(await got).ms} ms`)
})

test('owners of a queue that listen on the whole port have equal parts, too', options, async (t) => {
  const port = await freePort()
  const where = { port, host: '127.0.0.1', queueName: 'limited', queueMode: 'createOrAttach' }
  const owners = [startOwner(t, where, kRate), startOwner(t, where, kRate)]
  for (const owner of owners) await owner.listen()
  const begun = Date.now()
  await Promise.all(Array.from({ length: 8 }, () => download(port, 100_000)))
  const ms = Date.now() - begun
  assert.ok(ms >= 3000, `800,000 bytes of both within ${ms} ms`)
})

test('over TLS, what another process answers counts for its owner alone', options, async (t) => {
  const port = await freePort()
  const { key, cert } = tls.localhost()
  const [first, second] = ['a', 'b'].map((name, i) => startOwner(t, { prefix: `https://localhost:${port}/${name}/`, key, cert }, i === 0 ? kRate : 0))
  await first.listen()
  await second.listen()
  const agent = new nodeHttps.Agent({ keepAlive: true, maxSockets: 1 })
  t.after(() => agent.destroy())
  const get = (/** @type {string} */ name, /** @type {number} */ bytes) =>
    download(port, bytes, { path: `/${name}/?${bytes}`, host: 'localhost', servername: 'localhost', ca: cert, agent }, nodeHttps.get)
  for (let i = 0; i < 2; ++i) {
    assert.ok((await get('a', 400_000)).ms >= 1200)
    // At that rate, 20 MB would take 100 s.
    assert.ok((await get('b', 20_000_000)).ms < 50_000)
  }
})

test('a stream of HTTP/2 for another process counts for its owner alone', { ...options, skip: kSkip || (!loadBinding().hasHttp2 && 'this Node has no nghttp2') }, async (t) => {
  const port = await freePort()
  const { key, cert } = tls.localhost()
  const [first, second] = ['a', 'b'].map((name, i) => startOwner(t, { prefix: `https://localhost:${port}/${name}/`, key, cert }, i === 0 ? kRate : 0))
  await first.listen()
  await second.listen()
  const client = http2.connect(`https://localhost:${port}`, { ca: cert })
  t.after(() => client.destroy())
  await once(client, 'connect')
  const get = async (/** @type {string} */ name, /** @type {number} */ bytes) => {
    const begun = Date.now()
    let got = 0
    for await (const piece of client.request({ ':path': `/${name}/?${bytes}` })) got += piece.length
    assert.equal(got, bytes)
    return Date.now() - begun
  }
  const [limited, free] = await Promise.all([get('a', 400_000), get('b', 20_000_000)])
  // Before its server is killed, which would reset it.
  client.destroy()
  assert.ok(limited >= 1200, `${limited} ms`)
  assert.ok(free < 50_000, `${free} ms`)
})
