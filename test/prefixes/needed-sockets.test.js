'use strict'

// A socket is open exactly as long as one of the server's prefixes needs it, in whatever order prefixes come and go.

const assert = require('node:assert/strict')
const net = require('node:net')
const os = require('node:os')
const { once } = require('node:events')
const { describe, it } = require('node:test')
const { certificate } = require('../helpers/certificates')
const { http, backend } = require('../helpers/backend')
const { request, serve } = require('../helpers/client')
const { freePort } = require('../helpers/free-port')
const tls = require('../helpers/tls')

// 127.0.0.2 is an address of every Linux.
const kSkip = (backend === 'node' && 'node:http does not route') || (process.platform !== 'linux' && 'needs more loopback addresses than one')
const kHas6 = Object.values(os.networkInterfaces()).flat().some((entry) => entry?.address === '::1')

/** @param {number} port @param {string} host @returns {Promise<boolean>} whether anybody listens there */
async function isOpen (port, host) {
  const socket = net.connect(port, host)
  const isConnected = await once(socket, 'connect').then(() => true, (error) => {
    assert.equal(error.code, 'ECONNREFUSED')
    return false
  })
  socket.destroy()
  return isConnected
}

/** @template T @param {T[]} items @returns {T[][]} */
function ordersOf (items) {
  if (items.length <= 1) return [items]
  return items.flatMap((first, at) => ordersOf(items.toSpliced(at, 1)).map((rest) => [first, ...rest]))
}

/** @param {string} host of a prefix @returns {string[]} the addresses that it needs */
function addressesOf (host) {
  if (host === 'localhost') return kHas6 ? ['127.0.0.1', '::1'] : ['127.0.0.1']
  return [host.replace(/[[\]]/g, '')]
}

describe('the sockets of a server', { skip: kSkip }, () => {
  /** @param {import('node:test').TestContext} t @param {string[]} hosts of the prefixes, one of which is `https://…` @param {Record<string, string>} [options] of TLS */
  async function assertInEveryOrder (t, hosts, options) {
    const port = await freePort()
    const prefixes = hosts.map((host, at) => {
      const [, scheme = 'http', name] = /** @type {RegExpExecArray} */ (/^(?:(https):\/\/)?(.*)$/.exec(host))
      return { text: `${scheme}://${name}:${port}/${at}/`, addresses: addressesOf(name) }
    })
    const all = new Set(prefixes.flatMap(({ addresses }) => addresses))
    const server = http.createServer((/** @type {any} */ req, /** @type {any} */ res) => res.end())
    // Nobody asks for it: the server keeps one prefix.
    const last = `${options === undefined ? 'http' : 'https'}://127.0.0.9:${port}/`
    await serve(t, server, last, options)
    for (const order of ordersOf(prefixes)) {
      for (const { text } of order) await server.addPrefix(text)
      for (const [gone, { text }] of order.entries()) {
        await server.removePrefix(text)
        const needed = new Set(order.slice(gone + 1).flatMap(({ addresses }) => addresses))
        for (const address of all) {
          assert.equal(await isOpen(port, address), needed.has(address), `${address} after ${order.slice(0, gone + 1).map(({ text }) => text)}`)
        }
      }
    }
    assert.deepEqual(server.prefixes, [last])
    assert.equal(server.address().address, '127.0.0.9')
  }

  it('close with the last prefix that needs them, of either family and of localhost', async (t) => {
    await assertInEveryOrder(t, ['127.0.0.2', '127.0.0.2', 'localhost', ...(kHas6 ? ['[::1]'] : []), '127.0.0.1'])
  })

  it('close with the last prefix that needs them, of either scheme', async (t) => {
    await assertInEveryOrder(t, ['127.0.0.2', 'https://127.0.0.3', '127.0.0.2', 'https://127.0.0.3'], certificate('shared.test'))
  })

  it('stay open for prefixes of single addresses when the wildcard prefix that opened them goes', async (t) => {
    const [port, other] = [await freePort(), await freePort()]
    const server = http.createServer((/** @type {any} */ req, /** @type {any} */ res) => res.end(req.urlPrefix))
    await serve(t, server, [`http://*:${port}/`, `http://127.0.0.2:${port}/a/`, `http://*:${other}/`])
    await server.removePrefix(`http://*:${port}/`)
    assert.equal((await request({ port, host: '127.0.0.2', path: '/a/' })).body, `http://127.0.0.2:${port}/a/`)
    await server.removePrefix(`http://127.0.0.2:${port}/a/`)
    for (const host of ['127.0.0.1', '127.0.0.2']) assert.equal(await isOpen(port, host), false, host)
    assert.equal(server.address().port, other)
  })

  it('of single addresses give way to a wildcard socket, which serves their prefixes', async (t) => {
    const [port, other] = [await freePort(), await freePort()]
    const server = http.createServer((/** @type {any} */ req, /** @type {any} */ res) => res.end(req.urlPrefix))
    const texts = [1, 2, 3].map((at) => `http://127.0.0.${at}:${port}/a/`)
    await serve(t, server, [`http://*:${other}/`, ...texts])
    await server.addPrefix(`http://*:${port}/`)
    await server.removePrefix(texts[2])
    for (const [at, text] of [...texts.slice(0, 2), `http://*:${port}/`].entries()) {
      assert.equal((await request({ port, host: `127.0.0.${at + 1}`, path: '/a/' })).body, text)
    }
    for (const text of texts.slice(0, 2)) await server.removePrefix(text)
    assert.equal((await request({ port, host: '127.0.0.1', path: '/a/' })).body, `http://*:${port}/`)
    await server.removePrefix(`http://*:${port}/`)
    for (const host of ['127.0.0.1', '127.0.0.2', '127.0.0.3']) assert.equal(await isOpen(port, host), false, host)
  })

  it('speak TLS where a prefix asks for it, while prefixes of both schemes come and go', async (t) => {
    const port = await freePort()
    const pair = certificate('shared.test')
    const server = http.createServer((/** @type {any} */ req, /** @type {any} */ res) => res.end(req.urlPrefix))
    const at = (/** @type {string} */ scheme, /** @type {number} */ last) => `${scheme}://127.0.0.${last}:${port}/`
    await serve(t, server, at('https', 1), pair)
    const bodyOf = async (/** @type {string} */ scheme, /** @type {number} */ last) => {
      const to = { port, host: `127.0.0.${last}` }
      return (await (scheme === 'https' ? tls.request(port, { host: to.host, servername: 'shared.test', ca: pair.cert }) : request(to))).body
    }
    // The port is mixed, and is not, and is again.
    for (let round = 0; round < 3; round++) {
      await server.addPrefix(at('http', 2))
      await server.addPrefix(at('https', 3))
      for (const [scheme, last] of /** @type {const} */ ([['https', 1], ['http', 2], ['https', 3]])) assert.equal(await bodyOf(scheme, last), at(scheme, last))
      await server.removePrefix(at('http', 2))
      await server.addPrefix(at('https', 2))
      for (const last of [1, 2, 3]) assert.equal(await bodyOf('https', last), at('https', last))
      await server.removePrefix(at('https', 2))
      await server.removePrefix(at('https', 3))
      await server.addPrefix(at('http', 3))
      assert.equal(await bodyOf('http', 3), at('http', 3))
      assert.equal(await bodyOf('https', 1), at('https', 1))
      await server.removePrefix(at('http', 3))
    }
  })
})
