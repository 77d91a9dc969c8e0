'use strict'

// Memory per idle connection: resident bytes after garbage collection with the connections open, less
// those before, over their number. A fresh process each time.

const { once } = require('node:events')
const path = require('node:path')
const { execFileSync } = require('node:child_process')
const { probe } = require('./load')
const { pinned, unlessEnded } = require('./processes')
const { startServer } = require('./server-process')

/** Descriptors a server needs beside its connections. */
const kSpareDescriptors = 200

/** Requests before the first look at memory, so that code and pools do not count as connections. */
const kWarmUpRequests = 200

/** @returns {number} connections that the limit on open files allows, at most `wanted` */
function connectionsPossible (/** @type {number} */ wanted) {
  const limit = execFileSync('sh', ['-c', 'ulimit -Hn'], { encoding: 'utf8' }).trim()
  return limit === 'unlimited' ? wanted : Math.min(wanted, Number(limit) - kSpareDescriptors)
}

/**
 * @param {import('./types').Scenario} scenario
 * @param {string} implementation
 * @param {{ cpus: { server: number, client: number }, connections: number, program?: string }} options the server program of another
 *   version is possible
 * @returns {Promise<number>} bytes per connection
 */
async function measureIdleMemory (scenario, implementation, { cpus, connections, program }) {
  const server = await startServer({ scenario: scenario.name, implementation, cpu: cpus.server, program })
  let client
  try {
    for (let request = 0; request < kWarmUpRequests; request++) await probe(scenario, server.port)
    const { rss: before } = await server.ask('collect')
    client = pinned(cpus.client, [process.execPath, path.join(__dirname, 'idle-client.js'), String(server.port), String(connections)],
      ['ignore', 'inherit', 'inherit', 'ipc'])
    await unlessEnded(client, 'The client with idle connections', once(client, 'message'))
    const { rss: after } = await server.ask('collect')
    return (after - before) / connections
  } finally {
    client?.kill('SIGKILL')
    await server.stop()
  }
}

module.exports = { connectionsPossible, measureIdleMemory }
