'use strict'
// restify patches the prototypes of http.ServerResponse and http.IncomingMessage when it is loaded, writeHead() among them.
// covers: 12, 8
// breaks: write-head-copied-at-load, exported-response-is-another-class

const restify = require('restify')
const { once } = require('node:events')
const { listening, log, message, program, talk } = require('../../kit')

program(async () => {
  const server = restify.createServer({ name: 'app', log: restify.logger({ level: 'silent' }) })
  server.use(restify.plugins.queryParser(), restify.plugins.bodyParser())
  server.use((req, res, next) => {
    res.on('header', () => log('header', res.headersSent))
    next()
  })
  server.get('/hello/:name', (req, res, next) => {
    res.header('X-Case', 'Kept')
    res.send({ ...req.params, query: req.query, path: req.path(), secure: req.isSecure(), keep: req.isKeepAlive() })
    next()
  })
  server.post('/echo', (req, res, next) => {
    res.send(201, req.body, { 'X-Extra': '1' })
    next()
  })
  server.get('/text', (req, res, next) => {
    res.contentType = 'text/plain'
    res.send('text')
    next()
  })
  server.get('/plain', (req, res, next) => {
    res.setHeader('X-Plain', '1')
    res.end('by Node\'s end()')
    next()
  })
  server.on('after', (req, res, route, error) => log('after', route?.path ?? 'none', res.statusCode, error?.code))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const port = listening(server.server)
  for (const path of ['hello/a?b=1', 'text', 'plain', 'none']) await talk(port, message(`GET /${path}`))
  await talk(port, message('POST /echo', ['Content-Type: application/json', 'Content-Length: 7', 'Connection: close'], '{"a":1}'))
  await talk(port, message('PUT /echo'))
})
