'use strict'
// curl sends Expect: 100-continue before a large upload to an Express application, and the body after 100.
// covers: 23, 38
// breaks: no-automatic-continue

const express = require('express')
const http = require('node:http')
const { answer, dial, listen, message, play, program, talk, within } = require('../../kit')

program(async () => {
  const app = express()
  app.post('/', express.text(), (req, res) => res.send(req.body.toUpperCase()))
  const port = await listen(http.createServer(app))
  const head = message('POST /', ['Content-Type: text/plain', 'Content-Length: 4', 'Expect: 100-continue', 'Connection: close'])
  const wire = await dial(port)
  await play(wire, [head])
  // A client that gets no 100 sends the body after a while all the same.
  await within(wire.until(/ 100 /))
  await play(wire, ['body'])
  answer(await wire.untilClosed())
  await talk(port, message('POST /', ['Expect: miracles', 'Content-Length: 0', 'Connection: close']))
})
