'use strict'

// Goal: a connection that only the I/O threads answer may be idle for as long as the server's keepAliveTimeout says, whenever that was set.
// Method: a connection over each transport that gets a file or a cached answer, is idle, and must end in a time far below the 5 s that nobody
// has named; and one that may be idle for longer than these.

const assert = require('node:assert/strict')
const net = require('node:net')
const path = require('node:path')
const tls = require('node:tls')
const { once } = require('node:events')
const { describe, it } = require('node:test')
const { backend, http } = require('../helpers/backend')
const { certificate } = require('../helpers/certificates')
const { temporaryFolder, write } = require('./static-kit')

const kShortMs = 200
/** Node's default, which a connection must outlive where more was asked for. */
const kDefaultMs = 5000
const kAnswer = 'HTTP/1.1 200 OK'

/**
 * @typedef {object} Way to set the time
 * @property {(ms: number) => object} options of the server
 * @property {(server: any, ms: number) => void} set after listen()
 */

/** @type {Record<string, Way>} */
const kWays = {
  'as an option': { options: (ms) => ({ keepAliveTimeout: ms }), set: () => {} },
  'after listen()': { options: () => ({}), set: (server, ms) => { server.keepAliveTimeout = ms } },
  'after it began to listen': { options: () => ({ connectionsCheckingInterval: 50 }), set: (server, ms) => { setTimeout(() => { server.keepAliveTimeout = ms }, 50) } },
}

/**
 * @param {import('node:test').TestContext} t
 * @param {{ isSecure: boolean, way: Way, ms: number, target: string }} asked
 * @returns {Promise<{ wire: net.Socket, ask: () => Promise<string> }>} whose connection has had its answer from JavaScript or from nobody
 */
async function answered (t, { isSecure, way, ms, target }) {
  let asked = 0
  const options = { ...way.options(ms), ...isSecure && certificate('shared.test'), cache: true }
  const server = /** @type {any} */ ((isSecure ? /** @type {any} */ (http).https : http).createServer(/** @type {any} */ (options), (_req, res) => {
    asked++
    res.setHeader('Cache-Control', 'max-age=60')
    res.end('cached')
  }))
  server.keepAliveTimeoutBuffer = 0
  const folder = temporaryFolder(t)
  write(path.join(folder, 'a.txt'), 'a file')
  server.serveFiles('/files/', folder)
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  server.listen(0, '127.0.0.1')
  way.set(server, ms)
  await once(server, 'listening')
  const { port } = server.address()
  const open = async () => {
    const wire = isSecure ? tls.connect({ port, host: '127.0.0.1', servername: 'shared.test', ca: certificate('shared.test').cert }) : net.connect(port, '127.0.0.1')
    t.after(() => wire.destroy())
    await once(wire, isSecure ? 'secureConnect' : 'connect')
    const ask = async () => {
      wire.write(`GET ${target} HTTP/1.1\r\nHost: shared.test\r\n\r\n`)
      const [bytes] = await once(wire, 'data')
      return String(bytes).split('\r\n')[0]
    }
    return { wire, ask }
  }
  // Another connection fills the cache. Then the time that was set last has arrived, too.
  const first = await open()
  assert.equal(await first.ask(), kAnswer)
  await new Promise((resolve) => setTimeout(resolve, 4 * 50))
  const before = asked
  const measured = await open()
  assert.equal(await measured.ask(), kAnswer)
  assert.equal(asked, before, 'JavaScript had no part in the answer')
  return measured
}

describe('A connection that only the I/O threads answer', { concurrency: true, skip: backend !== 'engine' && 'stock Node and HTTP.SYS answer in other ways' }, () => {
  for (const isSecure of [false, true]) {
    for (const [what, target] of [['a file', '/files/a.txt'], ['a cached answer', '/cached']]) {
      for (const [how, way] of Object.entries(kWays)) {
        it(`ends after keepAliveTimeout, set ${how}: ${what}${isSecure ? ', with TLS' : ''}`, async (t) => {
          const { wire } = await answered(t, { isSecure, way, ms: kShortMs, target })
          const since = performance.now()
          await once(wire, 'close')
          const waited = performance.now() - since
          assert.ok(waited >= kShortMs / 2 && waited < kDefaultMs / 2, `${waited} ms`)
        })
      }
    }
    it(`does not end before it${isSecure ? ', with TLS' : ''}`, async (t) => {
      const { wire, ask } = await answered(t, { isSecure, way: kWays['as an option'], ms: 60_000, target: '/files/a.txt' })
      await new Promise((resolve) => setTimeout(resolve, kDefaultMs + 1500))
      assert.equal(wire.destroyed, false)
      assert.equal(await ask(), kAnswer)
    })
  }
})
