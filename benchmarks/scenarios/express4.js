'use strict'

/** @type {import('../lib/types').Scenario} */
module.exports = {
  ...require('./express5'),
  name: 'express4',
  title: 'Express 4, res.send',
  target: { process: 0.25, thread: 0.19 },
  application () {
    const app = require('express4')()
    app.get('/', (/** @type {any} */ req, /** @type {any} */ res) => { res.send('Hello, world!') })
    return { express: app }
  },
}
