'use strict'

/** @type {import('../lib/types').Scenario} */
module.exports = {
  ...require('./hello'),
  name: 'one-connection',
  title: 'the same over one connection: one request at a time',
  implementations: ['node', 'httpsys'],
  connections: 1,
  target: undefined,
}
