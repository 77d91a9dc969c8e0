'use strict'

// Goal: a member whose JavaScript is blocked gives back what another one relays to it and it has not begun. Method: a member is played, and
// relays a request to a process of a queue that is blocked.

const assert = require('node:assert/strict')
const { describe, it } = require('node:test')
const { freePort } = require('../helpers/free-port')
const { Stranger, dataSocket, kSkipStranger, member, stateOf } = require('./kit')
const { Type, link, relay } = require('./peer-frames')

/** Ends what hangs: a request that nobody has begun leaves a blocked process that sleeps after 3 ms. */
const kWaitMs = 10_000

/** @param {string} hex @returns {number[]} the types of the frames */
function typesIn (hex) {
  const types = []
  for (let rest = Buffer.from(hex, 'hex'); rest.length > 0; rest = rest.subarray(8 + rest.readUInt32LE(0))) types.push(rest[4])
  return types
}

describe('A blocked member to which a request is relayed', { skip: kSkipStranger }, () => {
  it('says that it is blocked, and that it has not begun the request', async (t) => {
    const port = await freePort()
    const on = { prefix: `http://*:${port}/shop/`, queueName: 'shop', queueMode: 'createOrAttach' }
    const [blocked] = [await member(t, 'a', on), await member(t, 'b', on)]
    const { members } = await stateOf(port)
    const { id } = members.find((/** @type {any} */ { pid }) => pid === blocked.pid)
    const release = await blocked.block(t)
    const { received, failed } = await new Stranger(t).tell({
      connect: dataSocket(id),
      send: [{ hex: link().toString('hex') }, { hex: relay(port).toString('hex'), fd: 'unix', says: 'GET /shop/ HTTP/1.1\r\nHost: h\r\n\r\n' }],
      waitMs: kWaitMs,
      frames: 3
    })
    assert.equal(failed, undefined)
    assert.deepEqual(typesIn(received), [Type.taken, Type.blocked, Type.unbegun])
    release()
    assert.equal(await blocked.tell('requests'), 0, 'it has not begun the request')
  })
})
