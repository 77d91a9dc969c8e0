'use strict'

// Goal: a member whose JavaScript is blocked gives back what another one relays to it and it has not begun, in words that the other one
// knows. Method: a member of the same or an earlier version is played, and relays a request to a process of a queue that is blocked.

const assert = require('node:assert/strict')
const { describe, it } = require('node:test')
const { freePort } = require('../helpers/free-port')
const { Stranger, dataSocket, kSkipStranger, member, stateOf } = require('./kit')
const { Type, link, relay } = require('./peer-frames')

/** kProtocolUnbegun of src/peer/messages.h. */
const kProtocolUnbegun = 4
/** Ends what hangs: a request that nobody has begun leaves a blocked process that sleeps after 3 ms. */
const kWaitMs = 10_000

/** @param {string} hex @returns {number[]} the types of the frames */
function typesIn (hex) {
  const types = []
  for (let rest = Buffer.from(hex, 'hex'); rest.length > 0; rest = rest.subarray(8 + rest.readUInt32LE(0))) types.push(rest[4])
  return types
}

describe('A blocked member to which a request is relayed', { skip: kSkipStranger }, () => {
  for (const [version, words] of /** @type {[number, ('blocked' | 'unbegun' | 'returned')[]][]} */ ([[kProtocolUnbegun, ['blocked', 'unbegun']], [kProtocolUnbegun - 1, ['returned']], [1, ['returned']]])) {
    it(`says to a member of version ${version} that it is ${words.join(' and ')}`, async (t) => {
      const port = await freePort()
      const on = { prefix: `http://*:${port}/shop/`, queueName: 'shop', queueMode: 'createOrAttach' }
      const [blocked] = [await member(t, 'a', on), await member(t, 'b', on)]
      const { members } = await stateOf(port)
      const { id } = members.find((/** @type {any} */ { pid }) => pid === blocked.pid)
      const release = await blocked.block(t)
      const { received, failed } = await new Stranger(t).tell({
        connect: dataSocket(id),
        send: [{ hex: link(undefined, version).toString('hex') }, { hex: relay(port).toString('hex'), fd: 'unix', says: 'GET /shop/ HTTP/1.1\r\nHost: h\r\n\r\n' }],
        waitMs: kWaitMs,
        // That the relay was taken, and what became of it.
        frames: 1 + words.length
      })
      assert.equal(failed, undefined)
      assert.deepEqual(typesIn(received), [Type.taken, ...words.map((word) => Type[word])])
      release()
      assert.equal(await blocked.tell('requests'), 0, 'it has not begun the request')
    })
  }
})
