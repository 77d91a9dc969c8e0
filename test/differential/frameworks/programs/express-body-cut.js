'use strict'
// The client leaves in the middle of an upload: raw-body, below express.json(), fails with 'request aborted'.
// covers: 31, r13
// breaks: abort-untold

const express = require('express')
const http = require('node:http')
const { dial, listen, log, logged, message, play, program, within } = require('../../kit')

program(async () => {
  const app = express()
  app.use((req, res, next) => {
    log('begun')
    for (const type of ['aborted', 'close']) req.on(type, () => log('req', type, req.complete, req.destroyed, req.aborted))
    next()
  })
  app.use(express.json())
  app.use((error, req, res, next) => log('error', error.type, error.code, error.status, error.expected, error.received))
  const wire = await dial(await listen(http.createServer(app)))
  await play(wire, [message('POST /', ['Content-Type: application/json', 'Content-Length: 30'], '{"a":'), { event: 'begun' }])
  wire.destroy()
  await within(logged('req close'))
})
