'use strict'

// `Upgrade: h2c` on a port that processes share: the request is stream 1 of HTTP/2, and its owner answers it, whoever has
// accepted the connection.

const assert = require('node:assert/strict')
const { describe, it } = require('node:test')
const { freePort } = require('../helpers/free-port')
const { begin, bodyOf, goOn, kLines } = require('../http2/upgrade-kit')
const { kSkip, member, stateOf } = require('./kit')

const kUpgrade = { http2: { upgrade: true } }
const kBody = 'a body'

/** @param {import('node:test').TestContext} t @param {number} port @param {string} name @param {any} options */
async function process (t, port, name, options) {
  const one = await member(t)
  await one.tell('listen', { name, options, on: [`http://*:${port}/${name}/`] })
  return one
}

/** @param {string} name @param {string[]} lines @param {string} body */
const post = (name, lines, body) => `POST /${name}/1 HTTP/1.1\r\n${kLines}${lines.map((line) => `${line}\r\n`).join('')}\r\n${body}`

describe('An upgrade to HTTP/2', { skip: kSkip }, () => {
  it('is one whoever has accepted the connection, and its request and those behind it reach their owners', async (t) => {
    const port = await freePort()
    for (const name of ['a', 'b']) await process(t, port, name, kUpgrade)
    for (let i = 0; i < 4; i++) {
      for (const [name, other] of ['ab', 'ba']) {
        const text = post(name, [`Content-Length: ${kBody.length}`], kBody)
        // In pieces it is kept by who has accepted it, who then relays the stream.
        for (const pieces of [[text], [text.slice(0, 30), text.slice(30)]]) {
          const begun = await begin(t, port, ...pieces)
          assert.match(begun.head, /^HTTP\/1\.1 101 [^]*Upgrade: h2c$/)
          const wire = goOn(begun)
          assert.match(await bodyOf(wire, 1), new RegExp(`^${name} \\d+ POST \\S+ /${name}/1 ${kBody.length} `))
          wire.request(3, { ':path': `/${other}/3`, ':authority': 'a' })
          assert.match(await bodyOf(wire, 3), new RegExp(`^${other} \\d+ GET \\S+ /${other}/3 `))
          begun.socket.destroy()
        }
      }
    }
    const { members } = await stateOf(port)
    assert.ok(members.some((/** @type {any} */ one) => one.handedOver > 0), 'nothing was handed over: the test tests nothing')
  })
})
