'use strict'

// Goal: thousands of WebSockets that do nothing are held, cost little, and answer when they are spoken to.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const { execFileSync } = require('node:child_process')
const { startChild } = require('../../helpers/child')
const { kIsThorough } = require('../../helpers/thorough')
const { kTried } = require('./support/columns')

const kSockets = kIsThorough ? 10_000 : 2000
/** Descriptors a process needs beside its sockets. */
const kSpareDescriptors = 200
/** Several times what is measured: `npm run bench -- websocket` has the figures. */
const kBytesMax = 20_000
/** Longer than the timeouts of server-program.js, which must not apply any more: no event says that nothing happens. */
const kIdleMs = 1500

/** @returns {number} */
function socketsPossible () {
  const limit = execFileSync('sh', ['-c', 'ulimit -Hn'], { encoding: 'utf8' }).trim()
  return limit === 'unlimited' ? kSockets : Math.min(kSockets, Number(limit) - kSpareDescriptors)
}

for (const column of kTried) {
  test(`${column.name}: ${kSockets} idle sockets are held and answer`, { skip: process.platform === 'win32' && 'asks sh for the limit on descriptors' }, async (t) => {
    const count = socketsPossible()
    if (count < kSockets) t.diagnostic(`only ${count} sockets: the limit on open files (ulimit -Hn) allows no more`)
    const server = startChild(({ args: [program, name], report }) => require(program).run(name, {}, report),
      { args: [require.resolve('./support/server-program'), column.name], flags: ['--expose-gc'] })
    t.after(() => server.kill())
    const port = await server.message('port')
    const look = () => {
      const answer = /** @type {Promise<any>} */ (new Promise((resolve) => server.process.once('message', (/** @type {any} */ message) => resolve(message.look))))
      server.send('look')
      return answer
    }
    const { rss: before } = await look()
    const client = startChild(({ args: [program, port, count], report }) => require(program).run(port, count, report),
      { args: [require.resolve('./support/idle-client'), port, count] })
    t.after(() => client.kill())
    assert.equal(await client.message('opened'), count)
    await new Promise((resolve) => setTimeout(resolve, kIdleMs))
    const { rss: after, clients } = await look()
    assert.equal(clients, count)
    t.diagnostic(`${((after - before) / count).toFixed(0)} bytes per socket`)
    assert.ok((after - before) / count < kBytesMax, `${(after - before) / count} bytes per socket`)
    client.send('speak')
    assert.equal(await client.message('answers'), count)
    client.send('count')
    assert.deepEqual(await client.message('count'), { open: count, closed: 0 })
  })
}
