'use strict'
// Express answers a conditional request with 304, on a connection that is used again.
// covers: 1, 29, 30
// breaks: last-header-line-lost

const express = require('express')
const http = require('node:http')
const { answer, dial, listen, message, play, program, talk } = require('../../kit')

program(async () => {
  const app = express()
  app.get('/', (req, res) => res.json({ a: 1 }))
  app.get('/dated', (req, res) => res.set('Last-Modified', 'Wed, 01 Jan 2020 00:00:00 GMT').send('dated'))
  const port = await listen(http.createServer(app))
  await talk(port, message('GET /dated', ['If-Modified-Since: Wed, 01 Jan 2020 00:00:00 GMT', 'Connection: close']))
  const wire = await dial(port)
  await play(wire, [message('GET /', []), /\{"a":1\}/])
  const tag = /ETag: (\S+)/.exec(wire.text)?.[1]
  await play(wire, [message('GET /', [`If-None-Match: ${tag}`]), /304[^]*\r\n\r\n/])
  // A proxy may spread a list over lines.
  await play(wire, [message('GET /', ['If-None-Match: "x"', `If-None-Match: ${tag}`]), /(304[^]*){2}\r\n\r\n/])
  await play(wire, [message('GET /', [`If-None-Match: ${tag}`, 'Cache-Control: no-cache']), /(\{"a":1\}[^]*){2}/])
  await play(wire, [message('HEAD /', ['If-None-Match: "other"', 'Connection: close'])])
  answer(await wire.untilClosed())
})
