'use strict'

// Goal: the only lane accepts connections with TLS itself; what others might take, too, the acceptor's thread does.

const { test } = require('node:test')
const assert = require('node:assert/strict')
const fs = require('node:fs')
const net = require('node:net')
const { setTimeout: sleep } = require('node:timers/promises')
const { backend } = require('../helpers/backend')
const { startChild } = require('../helpers/child')
const client = require('../helpers/client')
const { localhost, request } = require('../helpers/tls')

const needs = {
  skip: backend === 'node' ? 'node:https has no lanes' : process.platform !== 'linux' && 'elsewhere the acceptor\'s thread takes all connections'
}

const kConnections = 20

/** @type {{ name: string, side: 'http' | 'https', threads?: string, byDescriptor?: boolean, isLanes?: boolean }[]} */
const kCases = [
  { name: 'with TLS', side: 'https', isLanes: true },
  { name: 'without TLS', side: 'http' },
  { name: 'with TLS, for two lanes', side: 'https', threads: '2' },
  { name: 'with TLS, on a socket that somebody else has bound', side: 'https', byDescriptor: true },
]

/** @param {number} pid @returns {number} how often the thread has slept; -1 when it has no name so far, which it gives itself */
function acceptorSleeps (pid) {
  for (const task of fs.readdirSync(`/proc/${pid}/task`)) {
    const status = fs.readFileSync(`/proc/${pid}/task/${task}/status`, 'latin1')
    if (/^Name:\s+httpsys-accept$/m.test(status)) return Number(/^voluntary_ctxt_switches:\s+(\d+)$/m.exec(status)?.[1])
  }
  return -1
}

/**
 * Waits until the acceptor's thread sleeps for good. No event tells of a thread that falls asleep: the kernel's count is looked at again and again,
 * and has not changed for longer than a thread works that has something to do.
 *
 * @param {number} pid
 */
async function settled (pid) {
  for (;;) {
    const before = acceptorSleeps(pid)
    await sleep(50)
    if (before !== -1 && acceptorSleeps(pid) === before) return before
  }
}

for (const { name, side, threads = '1', byDescriptor = false, isLanes = false } of kCases) {
  test(`connections ${name}: ${isLanes ? 'the lane' : 'the acceptor\'s thread'} accepts them`, needs, async (t) => {
    const holder = /** @type {any} */ (net.createServer())
    await client.listen(holder)
    const child = startChild(({ http, report, args: [side, byDescriptor, pair] }) => {
      /** @param {any} req @param {any} res */
      const answer = (req, res) => res.end('here')
      const server = side === 'https' ? /** @type {any} */ (http).https.createServer(pair, answer) : http.createServer(answer)
      if (byDescriptor) server.listen({ fd: 4 })
      else server.listen(0, '127.0.0.1')
      server.on('listening', () => report({ port: server.address().port }))
    }, { args: [side, byDescriptor, localhost()], env: { HTTPSYS_IO_THREADS: threads }, fds: [holder._handle.fd] })
    t.after(() => child.kill())
    const port = await child.message('port')
    // The child's alone.
    holder.close()
    const pid = /** @type {number} */ (child.process.pid)
    const before = await settled(pid)
    for (let i = 0; i < kConnections; i++) {
      const { body } = await (side === 'https' ? request(port) : client.request(port))
      assert.equal(body, 'here')
    }
    const sleeps = acceptorSleeps(pid) - before
    if (isLanes) assert.equal(sleeps, 0)
    else assert.ok(sleeps >= kConnections / 2, `it slept ${sleeps} times`)
  })
}
