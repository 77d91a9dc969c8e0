'use strict'

// Goal: a server that is closed ends when its connections have ended, also those whose requests other processes work on. Method: the
// closed server has made the handshake of a connection, of which its JavaScript has heard nothing: its only request is another's.

const assert = require('node:assert/strict')
const { describe, it } = require('node:test')
const { certificate } = require('../helpers/certificates')
const { freePort } = require('../helpers/free-port')
const { loadBinding } = require('../../packages/core-native/lib/backend/binding')
const { blockade, connect, kSkip, member, session, stateOf, until } = require('./kit')

/** @typedef {import('node:test').TestContext} TestContext */

const kSecure = { servername: 'shared.test', ca: certificate('shared.test').cert }
const kTurns = 50
const skipHttp2 = kSkip || (loadBinding().hasHttp2 ? false : 'this Node has no nghttp2')

/**
 * A client of the process that accepts: ask() resolves when another process works on its request, finish() when that has ended.
 *
 * @typedef {{ ask: () => Promise<void>, finish: () => Promise<void> }} Exchange
 */

/** @param {TestContext} t @param {string} request its head and body, for the target `path` @param {string} path */
function slow (t, request, path) {
  const work = blockade(t)
  return { ...work, bytes: request.replace(path, `${path}?block=${work.folder}`) }
}

/** @param {TestContext} t @param {number} port @param {string} request @returns {Promise<Exchange>} */
async function answered (t, port, request) {
  const client = await connect(t, port, undefined, kSecure)
  const { bytes, isBusy, release } = slow(t, request, '/b/')
  /** @type {Promise<import('./kit').Answer>} */
  let answer
  return {
    ask: async () => {
      answer = client.send(bytes)[0]
      await isBusy()
    },
    finish: async () => {
      release()
      const { status, owner } = await answer
      assert.deepEqual([status, owner], [200, 'b'])
    }
  }
}

/** @type {Record<string, { skip?: string | boolean, begin: (t: TestContext, port: number) => Promise<Exchange> }>} */
const kExchanges = {
  'a request': { begin: (t, port) => answered(t, port, 'GET /b/ HTTP/1.1\r\nHost: h\r\n\r\n') },
  'a request with a body': { begin: (t, port) => answered(t, port, 'POST /b/ HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\n12345') },
  'an upgraded connection': {
    begin: async (t, port) => {
      const client = await connect(t, port, undefined, kSecure)
      const { socket } = client
      let text = ''
      socket.removeAllListeners('data').on('data', (/** @type {Buffer} */ piece) => { text += piece.toString('latin1') })
      return {
        ask: async () => {
          socket.write('GET /b/ HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n')
          await until(() => text.includes('101'), 'it is upgraded')
        },
        finish: async () => {
          socket.write('still')
          await until(() => text.endsWith('b:still'), 'the tunnel works')
          socket.end()
          await client.closed
        }
      }
    }
  },
  'a stream of HTTP/2': {
    skip: skipHttp2,
    begin: async (t, port) => {
      const client = await session(t, port, kSecure)
      const { folder, isBusy, release } = blockade(t)
      /** @type {Promise<string>} */
      let answer
      return {
        ask: async () => {
          const stream = client.request({ ':path': `/b/?block=${folder}`, ':authority': 'shared.test' })
          answer = new Promise((resolve, reject) => {
            let text = ''
            stream.setEncoding('latin1').on('data', (piece) => { text += piece }).on('end', () => resolve(text)).on('error', reject)
          })
          await isBusy()
        },
        finish: async () => {
          release()
          assert.match(await answer, /^b /)
        }
      }
    }
  }
}

describe('close() of a process that accepted a connection', { skip: kSkip || (process.platform !== 'linux' && 'needs /proc') }, () => {
  for (const [what, { skip, begin }] of Object.entries(kExchanges)) {
    it(`waits for ${what} that another process works on`, { skip }, async (t) => {
      const port = await freePort()
      const a = await member(t, 'a', `https://*:${port}/a/`, certificate('shared.test'))
      const b = await member(t, 'b', `https://*:${port}/b/`, certificate('shared.test'))
      // So that it is the first one that accepts. Where a connection is not shared, its JavaScript hears of the handshake.
      t.after(() => b.process.kill('SIGCONT'))
      await b.standStill()
      const { ask, finish } = await begin(t, port)
      b.process.kill('SIGCONT')
      await ask()
      let isClosed = false
      const closed = a.close('a').then(() => { isClosed = true })
      // The state cannot be asked while the other one takes the place of the first member.
      await until(async () => (await stateOf(port).catch(() => null))?.members.length === 1, 'it has left')
      // Some turns later it knows that it has left, too.
      for (let i = 0; i < kTurns; i++) await a.tell('requests')
      assert.equal(isClosed, false)
      await finish()
      await closed
    })
  }
})
