'use strict'
// res.format(), req.accepts() and req.is() decide by headers that clients send in several lines.
// covers: 30
// breaks: last-header-line-lost

const express = require('express')
const http = require('node:http')
const { listen, message, program, talk } = require('../../kit')

program(async () => {
  const app = express()
  app.get('/', (req, res) => {
    res.set('X-Languages', String(req.acceptsLanguages('en', 'de')))
    res.format({ text: () => res.send('text'), html: () => res.send('<p>html'), json: () => res.send({ json: true }) })
  })
  app.use((error, req, res, next) => res.status(error.status).send(error.types))
  const port = await listen(http.createServer(app))
  const close = 'Connection: close'
  await talk(port, message('GET /'))
  await talk(port, message('GET /', ['Accept: text/html;q=0.4', 'Accept: application/json', close, 'Accept-Language: fr', 'accept-language: de']))
  await talk(port, message('GET /', ['Accept: image/png', close]))
})
