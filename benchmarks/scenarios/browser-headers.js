'use strict'

/** @type {import('../lib/types').Scenario} */
module.exports = {
  name: 'browser-headers',
  title: 'the same, 14 browser-like header lines, 2 of them new in each request, cookie read',
  unit: 'request',
  implementations: ['node', 'httpsys'],
  connections: 64,
  load: ['browser'],
  target: { process: 0.50, thread: 0.30 },
  application: () => ({
    listener (req, res) {
      res.setHeader('Content-Type', 'text/plain')
      res.end(req.headers.cookie === undefined ? 'Who are you?!' : 'Hello, again!')
    },
  }),
  probe: { method: 'GET', headers: { cookie: 'a=1' }, status: 200, response: 'Hello, again!' },
}
