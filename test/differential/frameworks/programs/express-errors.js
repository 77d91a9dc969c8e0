'use strict'
// Express 5: a rejected handler, next(error), an error behind a sent head; finalhandler cuts that connection.
// covers: 31, 32, 16
// breaks: response-close-untold-when-cut

const express = require('express')
const http = require('node:http')
const { listen, log, message, program, talk } = require('../../kit')

program(async () => {
  process.env.NODE_ENV = 'production'
  const app = express()
  app.use((req, res, next) => {
    for (const type of ['finish', 'close']) res.on(type, () => log(req.url, type, res.writableFinished))
    next()
  })
  app.get('/rejects', async () => { throw Object.assign(new Error('teapot'), { status: 418, headers: { 'X-From': 'error' } }) })
  app.get('/next', (req, res, next) => next(new Error('secret')))
  app.get('/exposed', (req, res, next) => next(Object.assign(new Error('told'), { statusCode: 409 })))
  app.get('/late', (req, res, next) => res.write('begun', () => next(new Error('late'))))
  app.use((error, req, res, next) => {
    log('handler', error.message, res.headersSent)
    if (error.status === 418) return res.status(418).set(error.headers).send(error.message)
    next(error)
  })
  const port = await listen(http.createServer(app))
  for (const path of ['rejects', 'next', 'exposed', 'late', 'missing']) await talk(port, message(`GET /${path}`))
})
