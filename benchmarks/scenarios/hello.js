'use strict'

/** @type {import('../lib/types').Scenario} */
module.exports = {
  name: 'hello',
  title: '(req, res) handler, 13-byte body',
  unit: 'request',
  implementations: ['node', 'httpsys', ...process.platform === 'linux' ? ['floor'] : []],
  connections: 64,
  load: ['get'],
  target: { process: 0.50, thread: 0.22 },
  application: () => ({
    listener (req, res) {
      res.setHeader('Content-Type', 'text/plain')
      res.end('Hello, world!')
    },
  }),
  probe: { method: 'GET', status: 200, response: 'Hello, world!' },
}
