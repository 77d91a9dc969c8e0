'use strict'

const { Writable } = require('node:stream')

/** @type {import('../lib/types').Scenario} */
module.exports = {
  ...require('./express5'),
  name: 'express5-middleware',
  title: 'Express 5 with helmet, compression, express-session, morgan',
  target: undefined,
  application () {
    const express = require('express')
    const session = require('express-session')
    const log = new Writable({ write: (line, encoding, done) => done() })
    const app = express()
    app.use(require('morgan')('combined', { stream: log }))
    app.use(require('helmet').default())
    app.use(require('compression')())
    app.use(session({ secret: 'benchmark', resave: false, saveUninitialized: false }))
    app.get('/', (/** @type {any} */ req, /** @type {any} */ res) => {
      res.json({ hello: 'world', session: req.session !== undefined })
    })
    return { express: app }
  },
  probe: { method: 'GET', status: 200, response: '{"hello":"world","session":true}' },
}
