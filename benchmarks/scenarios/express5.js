'use strict'

/** @type {import('../lib/types').Scenario} */
module.exports = {
  name: 'express5',
  title: 'Express 5, res.send',
  unit: 'request',
  implementations: ['node', 'node-aligned', 'httpsys', 'zero-change', 'zero-change-wrapped'],
  connections: 64,
  load: ['get'],
  target: { process: 0.18, thread: 0.14 },
  application () {
    const app = require('express')()
    app.get('/', (/** @type {any} */ req, /** @type {any} */ res) => { res.send('Hello, world!') })
    return { express: app }
  },
  probe: { method: 'GET', status: 200, response: 'Hello, world!' },
}
