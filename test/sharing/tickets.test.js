'use strict'

// Sessions of TLS on a shared port: one that began at one process goes on at another that has the same certificate and
// the same rules for clients, and at no other. (That keys are replaced, and old ones opened for a while only, is
// tested with a clock of the test's own: packages/core-native/test-native/tls_parts_test.cc.)

const assert = require('node:assert/strict')
const tls = require('node:tls')
const { once } = require('node:events')
const { describe, it } = require('node:test')
const { certificate } = require('../helpers/certificates')
const { freePort } = require('../helpers/free-port')
const { kSkip, member, until } = require('./kit')

/** @param {import('node:test').TestContext} t @param {number} port @param {string} name @param {any} [options] @param {string} [host] */
async function serve (t, port, name, options, host = '*') {
  const started = await member(t)
  await started.tell('listen', { name, on: [`https://${host}:${port}/${name}/`, { ...certificate('shared.test'), ...options }] })
  return started
}

/**
 * A connection with one request on it: what it says of itself, and the session to go on with.
 *
 * @param {number} port @param {tls.ConnectionOptions} [options]
 * @returns {Promise<{ isReused: boolean, session: Buffer }>}
 */
async function visit (port, options) {
  const socket = tls.connect({ port, host: '127.0.0.1', servername: 'shared.test', ca: certificate('shared.test').cert, ...options })
  /** @type {Buffer[]} */
  const sessions = []
  socket.on('session', (session) => sessions.push(session))
  try {
    await once(socket, 'secureConnect')
    socket.write('GET /nobody HTTP/1.1\r\nHost: shared.test\r\n\r\n')
    await once(socket, 'data')
    // One that goes on with a key that is still the newest brings no new ticket.
    if (!socket.isSessionReused()) await until(() => sessions.length > 0, 'a ticket')
    return { isReused: socket.isSessionReused(), session: sessions[0] ?? options?.session }
  } finally {
    socket.on('error', () => {})
    socket.destroy()
  }
}

describe('Tickets of a shared port', { skip: kSkip }, () => {
  it('do not wait for a request, which shows to whom the connection belongs', async (t) => {
    const port = await freePort()
    await serve(t, port, 'a')
    await serve(t, port, 'b')
    for (let i = 0; i < 4; i++) {
      let tickets = 0
      const socket = tls.connect({ port, host: '127.0.0.1', servername: 'shared.test', ca: certificate('shared.test').cert, minVersion: 'TLSv1.3' })
      socket.on('session', () => { tickets++ })
      await until(() => tickets === 2, 'both tickets')
      socket.destroy()
    }
  })

  for (const version of /** @type {const} */ (['TLSv1.2', 'TLSv1.3'])) {
    it(`are good at every process, also when the one that made them has gone (${version})`, async (t) => {
      const port = await freePort()
      const limits = { minVersion: version, maxVersion: version }
      const a = await serve(t, port, 'a')
      const alone = await visit(port, limits)
      assert.equal(alone.isReused, false)
      const b = await serve(t, port, 'b')
      const c = await serve(t, port, 'c')
      for (let i = 0; i < 4; i++) assert.equal((await visit(port, { ...limits, session: alone.session })).isReused, true)
      const { session } = await visit(port, limits)
      // The first process has told the keys, and whoever takes its place tells the same.
      await a.kill()
      assert.equal((await visit(port, { ...limits, session })).isReused, true)
      const next = await visit(port, limits)
      const d = await serve(t, port, 'd')
      await b.kill()
      await c.kill()
      assert.equal((await visit(port, { ...limits, session: next.session })).isReused, true)
      assert.equal((await visit(port, { ...limits, session })).isReused, true)
      await d.kill()
    })
  }

  it('of a process that asks for no certificate do not let anybody in where one is asked for', async (t) => {
    const port = await freePort()
    const authority = certificate('clients authority', { isCa: true })
    const good = certificate('good client', { issuer: 'clients authority' })
    const strict = { requestCert: true, rejectUnauthorized: true, ca: authority.cert }
    const a = await serve(t, port, 'a')
    const open = await visit(port)
    // By name: for any host the first one would be in its way.
    const b = await serve(t, port, 'b', strict, 'shared.test')
    await a.kill()
    await assert.rejects(visit(port, { session: open.session }), { code: /ECONNRESET|ERR_SSL/ })
    const shown = await visit(port, { ...good, session: open.session })
    assert.equal(shown.isReused, false)
    // With the same rules it is good, and the certificate goes with it.
    await serve(t, port, 'c', strict, 'shared.test')
    await b.kill()
    assert.equal((await visit(port, { session: shown.session })).isReused, true)
  })

  it('are not shared where an application names its own keys', async (t) => {
    const port = await freePort()
    const a = await serve(t, port, 'a', { ticketKeys: undefined })
    const { session } = await visit(port)
    const c = await member(t)
    await c.tell('listen', { name: 'c', ticketKeys: 'c', on: [`https://*:${port}/c/`, certificate('shared.test')] })
    await a.kill()
    assert.equal((await visit(port, { session })).isReused, false)
  })
})
