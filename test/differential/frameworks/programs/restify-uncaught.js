'use strict'
// restify runs each request in a domain: what a listener of the request throws ends as that request's answer.
// covers: 12, 36
// breaks: exported-response-is-another-class

const restify = require('restify')
const { listening, log, message, program, talk } = require('../../kit')
const { once } = require('node:events')

program(async () => {
  const server = restify.createServer({ handleUncaughtExceptions: true, log: restify.logger({ level: 'silent' }) })
  server.get('/later', (req, res, next) => setImmediate(() => { throw new Error('later') }))
  server.get('/now', (req, res, next) => { throw new Error('now') })
  server.post('/data', (req, res, next) => req.on('data', () => { throw new Error('data') }))
  server.on('uncaughtException', (req, res, route, error) => {
    log('caught', req.path(), error.message, process.domain !== undefined)
    res.send(500, { message: error.message })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const port = listening(server.server)
  for (const path of ['later', 'now']) await talk(port, message(`GET /${path}`))
  await talk(port, message('POST /data', ['Content-Length: 4', 'Connection: close'], 'data'))
})
