'use strict'
// express-session saves the session in a replaced end(), decides the head before it, and sets its
// cookie when that is written.
// covers: 7, 8, 9
// breaks: last-piece-lost

const http = require('node:http')
const express = require('express')
const session = require('express-session')
const { listen, message, program, talk } = require('../../kit')

program(async () => {
  const app = express()
  app.disable('etag')
  app.use(session({ secret: 'secret', genid: () => 'fixed', resave: false, saveUninitialized: false }))
  app.get('/plain', (req, res) => res.end('no session'))
  app.get('/set', (req, res) => {
    req.session.count = (req.session.count ?? 0) + 1
    res.send(`count ${req.session.count}`)
  })
  app.get('/end', (req, res) => {
    req.session.ended = true
    res.end('ended')
  })
  app.get('/piece', (req, res) => {
    req.session.piece = true
    res.write('piece')
    res.end()
  })
  const port = await listen(http.createServer(app))
  for (const path of ['/plain', '/set', '/end', '/piece']) await talk(port, message(`GET ${path}`))
  const cookie = 'Cookie: connect.sid=s%3Afixed.qQ8vqLAV1hM7hDKM7p0J2tTt0jFzFz7cKQZK0Zf2f5M'
  await talk(port, message('GET /set', ['Connection: close', cookie]))
})
