'use strict'

// Goal: a connection that only the I/O threads have answered is a connection like any other: what its answers say of it, what
// closeIdleConnections() does with it, and what the application's count of requests says.

const assert = require('node:assert/strict')
const path = require('node:path')
const { once } = require('node:events')
const { describe, it } = require('node:test')
const { readServiceState } = require('../../packages/core-native/lib/backend/service-state')
const { backend, http } = require('../helpers/backend')
const { dial, get, listen, stop } = require('../helpers/client')
const { freePort } = require('../helpers/free-port')
const { temporaryFolder, write } = require('../files/static-kit')

/** The targets that the I/O threads answer, and what JavaScript has to do before. */
const kTargets = { 'a file': '/files/a.txt', 'a missing file': '/only/none.txt', 'a cached answer': '/hit' }

/** @param {import('node:test').TestContext} t @param {object} [options] @param {(port: number) => any} [where] to listen */
async function serveAll (t, options = {}, where) {
  const server = /** @type {any} */ (http.createServer(/** @type {any} */ ({ cache: true, ...options }), (_req, res) => {
    res.setHeader('Cache-Control', 'max-age=60')
    res.end('cached')
  }))
  const folder = temporaryFolder(t)
  write(path.join(folder, 'a.txt'), 'a file')
  server.serveFiles('/files/', folder)
  server.serveFiles('/only/', folder, { fallthrough: false })
  t.after(() => stop(server))
  const given = where === undefined ? undefined : await freePort()
  const port = given === undefined ? await listen(server) : await listen(server, where?.(given)).then(() => given)
  const first = await dial(t, port)
  await first.write(get('/hit')).until('cached')
  first.destroy()
  await first.untilClosed()
  return { server, port }
}

/** @param {string} text @returns {string[]} */
const linesAbout = (text) => text.split('\r\n').filter((line) => /^(connection|keep-alive):/i.test(line))

describe('A connection that only the I/O threads have answered', { skip: backend !== 'engine' && 'stock Node and HTTP.SYS answer in other ways' }, () => {
  for (const [what, target] of Object.entries(kTargets)) {
    it(`is told by ${what} how long it stays open, as by an answer of JavaScript`, async (t) => {
      const { server, port } = await serveAll(t, { keepAliveTimeout: 7000 })
      const expected = await dial(t, port)
      await expected.write(get('/other')).until('cached')
      const wire = await dial(t, port)
      await wire.write(get(target)).until('\r\n\r\n')
      assert.deepEqual(linesAbout(wire.text), ['Connection: keep-alive', 'Keep-Alive: timeout=7'])
      assert.deepEqual(linesAbout(expected.text), linesAbout(wire.text))
      // What the application sets later counts from then on.
      server.maxRequestsPerSocket = 9
      server.keepAliveTimeout = 3000
      server.on('upgrade', () => {})
      const later = await dial(t, port)
      await later.write(get(target)).until('\r\n\r\n')
      assert.deepEqual(linesAbout(later.text), ['Connection: keep-alive', 'Keep-Alive: timeout=3, max=9'])
      const closing = await dial(t, port)
      await closing.write(`GET ${target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`).untilClosed()
      assert.deepEqual(linesAbout(closing.text), ['Connection: close'])
    })

    it(`is closed by closeIdleConnections(): ${what}`, async (t) => {
      const { server, port } = await serveAll(t, { keepAliveTimeout: 60_000 })
      const opened = once(server, 'connection')
      const wire = await dial(t, port)
      await opened
      await wire.write(get(target)).until('\r\n\r\n')
      server.closeIdleConnections()
      await wire.untilClosed()
    })
  }

  it('does not count among the requests that the application was given', async (t) => {
    const { port } = await serveAll(t, {}, (free) => `http://127.0.0.1:${free}/`)
    const wire = await dial(t, port)
    await wire.write(get('/hit')).until('cached')
    await wire.write(get('/files/a.txt')).until('a file')
    await wire.write(get('/other')).until('cached', 2)
    const { members } = await readServiceState(port)
    assert.deepEqual(members[0].registrations.map(({ requests }) => Number(requests)), [2])
  })
})
