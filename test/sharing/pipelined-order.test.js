'use strict'

// Goal: the answers of a connection come in the order of its requests, although the process that has it leaves the queue while another
// owner works on an earlier one. Method: the first request leaves a process whose JavaScript is blocked, and stays in work at the other
// owner while the process leaves.

const assert = require('node:assert/strict')
const { describe, it } = require('node:test')
const { certificate } = require('../helpers/certificates')
const { freePort } = require('../helpers/free-port')
const { blockade, connect, kSkip, member, readByPeer, stateOf, until } = require('./kit')

const kSecure = { servername: 'shared.test', ca: certificate('shared.test').cert }
const kUpload = 8000

/** What follows the first request, and what the first bytes of its answer are. @type {Record<string, { bytes: string, answer: RegExp }>} */
const kLater = {
  'a GET': { bytes: 'GET /q/later HTTP/1.1\r\nHost: h\r\n\r\n', answer: /^HTTP\/1\.1 200 .* GET \S+ \/q\/later /s },
  'an upload': {
    bytes: `POST /q/later HTTP/1.1\r\nHost: h\r\nContent-Length: ${kUpload}\r\n\r\n${'x'.repeat(kUpload)}`,
    answer: new RegExp(`^HTTP/1\\.1 200 .* POST \\S+ /q/later ${kUpload} `, 's')
  },
  'a malformed request': { bytes: 'GET /q/later HTTP/9.9\r\n\r\n', answer: /^HTTP\/1\.1 400 / },
  'an upgrade': { bytes: 'GET /q/later HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n', answer: /^HTTP\/1\.1 101 / }
}

describe('A process that leaves a queue while another owner works on a request of its connection', { skip: kSkip }, () => {
  for (const [what, { bytes, answer }] of Object.entries(kLater)) {
    it(`lets ${what} behind that request wait for its turn`, async (t) => {
      const port = await freePort()
      const on = [{ prefix: `https://*:${port}/q/`, queueName: 'pipelined', queueMode: 'createOrAttach' }, certificate('shared.test')]
      const a = await member(t, 'a', ...on)
      const client = await connect(t, port, undefined, kSecure)
      const { socket } = client
      await member(t, 'b', ...on)
      const releaseA = await a.block(t)
      const work = blockade(t)
      socket.removeAllListeners('data')
      let text = ''
      socket.setEncoding('latin1').on('data', (/** @type {string} */ piece) => { text += piece })
      socket.write(`GET /q/first?block=${work.folder} HTTP/1.1\r\nHost: h\r\n\r\n`)
      await work.isBusy()
      releaseA()
      const closed = a.close('a')
      // The state cannot be asked while the other one takes the place of the first member.
      await until(async () => (await stateOf(port).catch(() => null))?.members.length === 1, 'it has left')
      socket.write(bytes, 'latin1')
      await readByPeer(socket)
      assert.equal(await a.tell('requests'), 0)
      work.release()
      await until(() => answer.test(text.slice(text.indexOf('HTTP/1.1', 1))), 'both are answered')
      assert.match(text, /^HTTP\/1\.1 200 [^]* GET \S+ \/q\/first/)
      await client.destroy()
      await closed
    })
  }
})
