'use strict'

// Goal: 'listening' is the first event of a server, however long others have known of it by then, and 'close' the last. Method: a member
// that is stopped delays the confirmation of what the others know already, and they give the new owner of their queue its part.

const assert = require('node:assert/strict')
const { once } = require('node:events')
const { describe, it } = require('node:test')
const { certificate } = require('../helpers/certificates')
const { http } = require('../helpers/backend')
const { freePort } = require('../helpers/free-port')
const { Load, kSkip, member } = require('./kit')

describe('A server that joins a queue under load', { skip: kSkip || (process.platform !== 'linux' && 'needs /proc') }, () => {
  for (const scheme of ['http', 'https']) {
    it(`emits 'listening' before 'connection', and 'close' at its end: ${scheme}`, async (t) => {
      const port = await freePort()
      const isSecure = scheme === 'https'
      const terms = isSecure ? [certificate('shared.test')] : []
      const on = [{ prefix: `${scheme}://*:${port}/q/`, queueName: 'q', queueMode: 'createOrAttach' }, ...terms]
      await member(t, 'a', ...on)
      const secure = isSecure ? { servername: 'shared.test', ca: certificate('shared.test').cert } : undefined
      const load = new Load(t, { port, targets: ['/q/'], isKept: false, owners: () => /^(a|new)$/, secure })
      await load.further(10)
      const stopped = await member(t, 'c', `${scheme}://*:${port}/c/`, ...terms)
      t.after(() => stopped.process.kill('SIGCONT'))
      await stopped.standStill()
      /** @type {string[]} */
      const events = []
      const server = (isSecure ? http.https : http).createServer((/** @type {any} */ _req, /** @type {any} */ res) => res.end('new'))
      for (const event of ['listening', 'connection', 'secureConnection', 'request', 'close']) server.on(event, () => events.push(event))
      t.after(() => server.close())
      server.listen(...on)
      await once(server, 'request')
      assert.equal(events[0], 'listening')
      const closed = once(server, 'close')
      server.close()
      await closed
      assert.equal(events.indexOf('close'), events.length - 1)
      stopped.process.kill('SIGCONT')
      await load.stop()
    })
  }
})
