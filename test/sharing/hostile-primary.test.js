'use strict'

// Goal: whatever a primary of node:cluster answers and sends, a worker lives on: its listen() is an 'error' or listens, and it
// serves. Method: the test is the primary of a worker, and answers what it asks by hand.

const assert = require('node:assert/strict')
const dgram = require('node:dgram')
const net = require('node:net')
const os = require('node:os')
const path = require('node:path')
const fs = require('node:fs')
const { once } = require('node:events')
const { describe, it } = require('node:test')
const { startFixture } = require('../helpers/child')
const { freePort } = require('../helpers/free-port')
const { kSkip } = require('./kit')

const { EADDRINUSE } = os.constants.errno
const kAddress = { address: '127.0.0.1', family: 'IPv4' }

/** @param {import('node:test').TestContext} t @param {any} server @param {any} [where] @returns {Promise<any>} the handle of one that listens */
async function listening (t, server, where = { port: 0, host: '127.0.0.1' }) {
  t.after(() => server.close())
  await once(server.listen(where), 'listening')
  return server
}

/** @param {import('node:test').TestContext} t @param {any} where @returns {Promise<any>} a connection, and its other end */
async function connected (t, where) {
  const server = await listening(t, net.createServer(), where)
  const client = net.connect(where.path === undefined ? server.address().port : where.path)
  t.after(() => client.destroy())
  const [socket] = await once(server, 'connection')
  t.after(() => socket.destroy())
  return socket.on('error', () => {})
}

/**
 * What may be sent instead of a listening socket or a connection, as Node's handles (a primary sends such), and as objects.
 *
 * @param {import('node:test').TestContext} t
 * @returns {Promise<Record<string, any>>}
 */
async function sendables (t) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'httpsys-primary-'))
  t.after(() => fs.rmSync(folder, { recursive: true, force: true }))
  const server = await listening(t, net.createServer())
  const unixServer = await listening(t, net.createServer(), { path: path.join(folder, 'a') })
  const socket = await connected(t, { port: 0, host: '127.0.0.1' })
  const unixSocket = await connected(t, { path: path.join(folder, 'b') })
  const udp = dgram.createSocket('udp4')
  t.after(() => udp.close())
  await once(udp.bind(0, '127.0.0.1'), 'listening')
  const state = /** @type {any} */ (Object.getOwnPropertySymbols(udp).find((symbol) => symbol.description === 'state symbol'))
  return {
    'a server': server,
    'a socket': socket,
    'a socket of UDP': udp,
    'the handle of a server': server._handle,
    'the handle of a server with a path': unixServer._handle,
    'the handle of a connection': socket._handle,
    'the handle of a connection to a path': unixSocket._handle,
    'the handle of UDP': /** @type {any} */ (udp)[state].handle
  }
}

/** @typedef {{ answer: any, handle?: string, then?: [any, string?][], isTwice?: boolean, outcome: string }} Case */

/** @param {number} port a free one @returns {Record<string, Case>} */
function casesOn (port) {
  const sockname = { ...kAddress, port }
  /** @type {Record<string, Case>} */
  const cases = {
    nothing: { answer: {}, outcome: 'EINVAL' },
    'two answers': { answer: { sockname }, isTwice: true, outcome: 'listening' },
    'an address in use': { answer: { errno: -EADDRINUSE }, outcome: 'EADDRINUSE' },
    'an errno that is none': { answer: { errno: -12345 }, outcome: 'Unknown system error -12345' },
    'a key that is none': { answer: { key: { a: 1 }, sockname }, outcome: 'listening' }
  }
  for (const errno of ['EADDRINUSE', {}, [], true, EADDRINUSE, -98.5, -1e300]) cases[`errno ${JSON.stringify(errno)}`] = { answer: { errno }, outcome: 'EINVAL' }
  for (const wrong of ['80', -1, 0, 65536, 1e9, 80.5, null, {}, undefined]) {
    cases[`port ${JSON.stringify(wrong)}`] = { answer: { sockname: { ...kAddress, port: wrong } }, outcome: 'EINVAL' }
  }
  for (const wrong of ['abc', [1], 5]) cases[`sockname ${JSON.stringify(wrong)}`] = { answer: { sockname: wrong }, outcome: 'EINVAL' }
  for (const address of ['x y', {}, 5, null]) cases[`address ${JSON.stringify(address)}`] = { answer: { sockname: { port, address, family: 7 } }, outcome: 'listening' }
  for (const handle of ['a server', 'a socket', 'a socket of UDP', 'the handle of a server with a path', 'the handle of a connection to a path']) {
    cases[`with ${handle}`] = { answer: {}, handle, outcome: 'EINVAL' }
  }
  cases['with the handle of a server'] = { answer: {}, handle: 'the handle of a server', outcome: 'listening' }
  cases['with the handle of a connection'] = { answer: {}, handle: 'the handle of a connection', outcome: 'EINVAL' }
  cases['with the handle of UDP'] = { answer: {}, handle: 'the handle of UDP', outcome: 'ENOTSUP' }
  cases['an error, and a handle'] = { answer: { errno: -EADDRINUSE }, handle: 'the handle of a server', outcome: 'EADDRINUSE' }
  for (const handle of ['a server', 'a socket', 'a socket of UDP', 'the handle of a server', 'the handle of a server with a path',
    'the handle of a connection', 'the handle of a connection to a path', 'the handle of UDP']) {
    const connection = /** @type {[any, string]} */ ([{ act: 'newconn', isOurs: true }, handle])
    cases[`connections that are ${handle}`] = { answer: { sockname }, then: [connection, connection], outcome: 'listening' }
  }
  cases['a connection that is not there'] = { answer: { sockname }, then: [[{ act: 'newconn', isOurs: true }]], outcome: 'listening' }
  cases['a connection for nobody'] = { answer: { sockname }, then: [[{ act: 'newconn', key: 'nobody' }, 'the handle of a connection']], outcome: 'listening' }
  const messages = [{}, { act: 5 }, { act: 'constructor' }, { ack: 'constructor' }, { ack: {} }, { act: 'newconn', ack: -1 }].map((message) => /** @type {[any]} */ ([message]))
  cases['messages without sense'] = { answer: { sockname }, then: messages.slice(0, 5), outcome: 'listening' }
  return cases
}

describe('A worker of node:cluster', { skip: kSkip }, () => {
  it('lives on whatever its primary answers and sends', async (t) => {
    const things = await sendables(t)
    const worker = startFixture('listening-worker.js', [], { NODE_UNIQUE_ID: '1' })
    t.after(() => worker.kill())
    await worker.message('isReady')
    /** @param {any} message @param {string} [handle] */
    const send = (message, handle) => /** @type {any} */ (worker.process)._send({ cmd: 'NODE_CLUSTER', ...message }, handle && things[handle], { keepOpen: true })
    for (const [name, { answer, handle, then = [], isTwice, outcome }] of Object.entries(casesOn(await freePort()))) {
      const onAsked = (/** @type {any} */ { act, seq }) => {
        if (act !== 'queryServer') return
        // Node asserts that a primary gives no key twice.
        const key = name === 'nothing' ? undefined : name
        for (let i = 0; i < (isTwice ? 2 : 1); i++) send({ ack: seq, key, ...answer }, handle)
        for (const [{ isOurs, ...message }, connection] of then) send({ ...message, ...(isOurs && { key }) }, connection)
        worker.send({ isAll: true })
      }
      worker.process.on('internalMessage', onAsked)
      worker.send({ name, options: { port: 0, host: '127.0.0.1' } })
      assert.equal(await worker.message(name), outcome, name)
      worker.process.off('internalMessage', onAsked)
    }
    assert.equal(worker.stderr, '')
  })
})
