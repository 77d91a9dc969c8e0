'use strict'

/** @type {import('../lib/types').Scenario} */
module.exports = {
  ...require('./hello'),
  name: 'pipelined',
  title: 'the same handler, 16 requests pipelined',
  load: ['pipelined', '16'],
  target: { process: 0.30, thread: 0.28 },
}
