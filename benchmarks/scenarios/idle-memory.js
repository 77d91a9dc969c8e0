'use strict'

const hello = require('./hello')

/** @type {import('../lib/types').Scenario} */
module.exports = {
  ...hello,
  name: 'idle-memory',
  title: 'memory of an idle keep-alive connection after one request',
  unit: 'connection',
  implementations: ['node', 'httpsys'],
  connections: 10_000,
  load: [],
  target: { memory: 0.4 },
  // Longer than opening all connections and collecting garbage takes.
  keepAliveTimeoutMs: 600_000,
}
