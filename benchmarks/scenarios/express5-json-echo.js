'use strict'

/** @type {import('../lib/types').Scenario} */
module.exports = {
  ...require('./express5'),
  name: 'express5-json-echo',
  title: 'Express 5, 1 KB of JSON echoed through express.json()',
  load: ['json', '1024'],
  target: { process: 0.35, thread: 0.35 },
  application () {
    const express = require('express')
    const app = express()
    app.post('/', express.json(), (/** @type {any} */ req, /** @type {any} */ res) => { res.json(req.body) })
    return { express: app }
  },
  probe: {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"a":[1,2]}',
    status: 200,
    response: '{"a":[1,2]}',
  },
}
