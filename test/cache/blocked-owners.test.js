'use strict'

// Goal: an owner whose JavaScript is blocked keeps nobody waiting for itself, loses no refresh of its cache, and a process that is started again
// has a cache at once. Method: two processes of one queue, or of one port, that are kept busy or are killed; clients that ask for what was stored
// before. The bound of a wait is longer than the tests: whoever waits for itself is not helped by it.

const assert = require('node:assert/strict')
const http2 = require('node:http2')
const { once } = require('node:events')
const { describe, it } = require('node:test')
const { freePort } = require('../helpers/free-port')
const { localhost } = require('../helpers/tls')
const { silence } = require('../helpers/waiting')
const { connect, kSkip, member, until } = require('../sharing/kit')

/** @typedef {import('node:test').TestContext} Context */
/** @typedef {(target: string) => Promise<{ owner: string, requests: string, isStored: boolean }>} Ask */

const kHost = 'localhost'
const kSecure = { ca: localhost().cert, servername: kHost }
const kFresh = `cc=${encodeURIComponent('public, max-age=600')}`

/** @param {any} headers @param {string} body */
const told = (headers, body) => ({ owner: body.split(' ')[0], requests: headers['x-requests'], isStored: headers.age !== undefined })

/** @type {Record<string, { isSecure: boolean, open: (t: Context, port: number) => Promise<Ask> }>} */
const kProtocols = {
  'HTTP/1.1': { isSecure: false, open: (t, port) => byHttp1(t, port) },
  'HTTP/1.1 with TLS': { isSecure: true, open: (t, port) => byHttp1(t, port, kSecure) },
  'HTTP/2': { isSecure: true, open: byHttp2 }
}

/** @param {Context} t @param {number} port @param {any} [secure] @returns {Promise<Ask>} */
async function byHttp1 (t, port, secure) {
  const client = await connect(t, port, '127.0.0.1', secure)
  return async (target) => {
    const { headers, body } = await client.request(target, { host: `${kHost}:${port}` })
    return told(headers, body)
  }
}

/** @param {Context} t @param {number} port @returns {Promise<Ask>} */
async function byHttp2 (t, port) {
  const session = http2.connect(`https://${kHost}:${port}`, kSecure)
  session.on('error', () => {})
  t.after(() => session.destroy())
  await once(session, 'connect')
  return async (target) => {
    const stream = session.request({ ':path': target })
    const [headers] = await once(stream, 'response')
    let body = ''
    for await (const piece of stream) body += piece.toString('latin1')
    return told(headers, body)
  }
}

/** @param {import('../sharing/kit').Member} process @param {string} name @param {number} port @param {boolean} isSecure */
function own (process, name, port, isSecure) {
  const on = [{ prefix: `http${isSecure ? 's' : ''}://${kHost}:${port}/shop/`, queueName: 'shop', queueMode: 'createOrAttach' }]
  const options = { cache: { coalesceTimeout: 600_000 }, ...(isSecure && { ...localhost(), http2: true }) }
  return process.tell('listen', { name, on, secure: isSecure, options })
}

/** @param {Ask} ask @param {string} target @param {string} [owner] */
async function warm (ask, target, owner) {
  await until(async () => {
    const answer = await ask(target)
    return answer.isStored && (owner === undefined || answer.owner === owner)
  }, 'a stored answer')
}

describe('A blocked owner of a URL with a cache', { skip: kSkip, timeout: 60_000 }, () => {
  for (const [protocol, { isSecure, open }] of Object.entries(kProtocols)) {
    it(`answers a request that comes back to it, and those that ask for the same, over ${protocol}`, async (t) => {
      const port = await freePort()
      const [a, b] = [await member(t), await member(t)]
      await own(a, 'a', port, isSecure)
      await own(b, 'b', port, isSecure)
      const asks = [await open(t, port), await open(t, port)]
      for (let round = 0; round < 3; round++) {
        const target = `/shop/${round}?${kFresh}`
        for (const ask of asks) await warm(ask, target)
        for (const [name, process] of /** @type {const} */ ([['a', a], ['b', b]])) await process.tell('cache', { name, call: 'flush' })
        const releases = [await a.block(t), await b.block(t)]
        const answers = asks.map((ask) => ask(target))
        // Longer than an owner must be blocked before a request goes to the other one, and comes back.
        await silence(200)
        releases[round % 2]()
        await Promise.all(answers)
        releases[1 - round % 2]()
      }
    })
  }

  it('refreshes a stale answer as soon as its thread is free', async (t) => {
    const port = await freePort()
    const a = await member(t)
    await own(a, 'a', port, false)
    await own(await member(t), 'b', port, false)
    const target = `/shop/page?cc=${encodeURIComponent('public, max-age=1, stale-while-revalidate=600')}`
    /** @type {Ask | undefined} */
    let ask
    await until(async () => {
      ask = await byHttp1(t, port)
      return (await ask(target)).owner === 'a'
    }, 'a connection of the first owner')
    await silence(1100)
    const before = await a.tell('requests')
    const release = await a.block(t)
    assert.equal((await /** @type {Ask} */ (ask)(target)).isStored, true)
    // Longer than it takes until other requests are taken back.
    await silence(200)
    release()
    await until(async () => await a.tell('requests') > before, 'the refresh')
  })
})

describe('A process that is started again beside others', { skip: kSkip, timeout: 60_000 }, () => {
  it('stores answers at once', async (t) => {
    const prefix = (/** @type {number} */ port, /** @type {string} */ path) => ({ on: [`http://${kHost}:${port}${path}`], options: { cache: true } })
    for (let round = 0; round < 3; round++) {
      const port = await freePort()
      const first = await member(t)
      await first.tell('listen', { name: 'b', ...prefix(port, '/b/') })
      const other = await member(t)
      await other.tell('listen', { name: 'a', ...prefix(port, '/a/') })
      await (await byHttp1(t, port))(`/a/?${kFresh}`)
      await first.kill()
      const again = await member(t)
      await again.tell('listen', { name: 'b', ...prefix(port, '/b/') })
      const ask = await byHttp1(t, port)
      let count = 0
      while (!(await ask(`/b/?${kFresh}`)).isStored) {
        assert.ok(++count < 20, 'one of the first answers is stored')
        await silence(10)
      }
    }
  })
})
