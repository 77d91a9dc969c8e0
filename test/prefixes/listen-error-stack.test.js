'use strict'

// Goal: the stack of an error of listen() begins with the line that called it, in every form, also where the answer comes
// later: of the look-up of a host, or of another process.

const assert = require('node:assert/strict')
const net = require('node:net')
const { once } = require('node:events')
const { describe, it } = require('node:test')
const { http, backend } = require('../helpers/backend')
const { freePort } = require('../helpers/free-port')
const { kSkip, member } = require('../sharing/kit')

const kForms = /** @type {const} */ ({
  'listen(port)': (/** @type {any} */ server, /** @type {number} */ port) => server.listen(port),
  'listen(port, address)': (/** @type {any} */ server, /** @type {number} */ port) => server.listen(port, '127.0.0.1'),
  'listen(port, host)': (/** @type {any} */ server, /** @type {number} */ port) => server.listen(port, 'localhost'),
  'a prefix of every host': (/** @type {any} */ server, /** @type {number} */ port) => server.listen(`http://*:${port}/a/`),
  'a prefix of an address': (/** @type {any} */ server, /** @type {number} */ port) => server.listen(`http://127.0.0.1:${port}/a/`),
  'a prefix of a host': (/** @type {any} */ server, /** @type {number} */ port) => server.listen({ prefix: `http://localhost:${port}/a/` })
})

/** @param {(server: any, port: number) => void} listen @param {number} port @returns {Promise<string>} the first frame */
async function firstFrame (listen, port) {
  const server = http.createServer()
  const failed = once(server, 'error')
  ;(function application () {
    listen(server, port)
  })()
  const [error] = await failed
  assert.equal(error.code, 'EADDRINUSE')
  return error.stack.split('\n').find((/** @type {string} */ line) => line.startsWith('    at '))
}

describe('The stack of an error of listen()', { skip: backend === 'node' && 'of most forms Node shows no line of the application' }, () => {
  for (const [form, listen] of Object.entries(kForms)) {
    it(`begins with the line that called it: ${form}`, async (t) => {
      const taken = net.createServer().listen(0, '127.0.0.1')
      t.after(() => taken.close())
      await once(taken, 'listening')
      const { port } = /** @type {net.AddressInfo} */ (taken.address())
      // On "::" the kernel finds 127.0.0.1 taken, too.
      assert.match(await firstFrame(listen, port), new RegExp(`${__filename}:`))
    })
  }

  it('begins with the line that called it where another process refuses the prefix', { skip: kSkip }, async (t) => {
    const port = await freePort()
    const other = await member(t)
    await other.listen('a', `http://*:${port}/a/`)
    assert.match(await firstFrame(kForms['a prefix of every host'], port), new RegExp(`${__filename}:`))
  })
})
