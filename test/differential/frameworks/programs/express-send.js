'use strict'
// An Express application answers with res.send() and res.json(): text, bytes, objects, status codes alone.
// covers: 1, r1
// breaks: only-first-piece-of-many-written

const express = require('express')
const http = require('node:http')
const { listen, message, program, talk } = require('../../kit')

program(async () => {
  const app = express()
  app.get('/text', (req, res) => res.send('h\u00e9llo \u20ac'))
  app.get('/bytes', (req, res) => res.send(Buffer.from([0, 128, 255])))
  app.get('/large', (req, res) => res.type('text').send(Buffer.alloc(200_000, 'x')))
  app.get('/object', (req, res) => res.status(201).set('X-Case', 'Kept').json({ a: [1, null, '<'] }))
  app.get('/status', (req, res) => res.sendStatus(418))
  app.get('/none', (req, res) => res.status(204).send('dropped'))
  app.get('/links', (req, res) => res.links({ next: '/b' }).vary('Accept').append('Set-Cookie', 'a=1').append('Set-Cookie', 'b=2').end())
  const port = await listen(http.createServer(app))
  for (const path of ['text', 'bytes', 'large', 'object', 'status', 'none', 'links']) await talk(port, message(`GET /${path}`))
  await talk(port, message('HEAD /bytes'))
})
