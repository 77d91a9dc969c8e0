'use strict'
// Express routes by req.url as it was sent: parameters, queries, sub-applications, wildcards, dots and doubled slashes.
// covers: 30
// breaks: url-cooked

const express = require('express')
const http = require('node:http')
const { listen, message, program, talk } = require('../../kit')

program(async () => {
  process.env.NODE_ENV = 'production'
  const app = express()
  const tell = (req, res) => res.json({ url: req.url, base: req.baseUrl, original: req.originalUrl, path: req.path, params: req.params, query: req.query })
  const sub = express()
  sub.get('/:name{.:ext}', tell)
  const router = express.Router({ mergeParams: true })
  router.get('/leaf', tell)
  app.use('/sub', sub)
  app.use('/users/:user', router)
  app.get('/files/*path', tell)
  app.get('/redirect', (req, res) => res.redirect(301, '/a b?c=\u00e9'))
  app.get('/back', (req, res) => res.location(req.get('Referrer') ?? '/').status(302).end())
  const port = await listen(http.createServer(app))
  for (const url of ['/sub/a.b?x=1&x=2', '/sub/a%2Fb', '/users/7/leaf', '/files/a/../b/./c', '/files//d', '/files/%2e%2e/e', '/files/%', '/nowhere', '/redirect?', '/back', 'http://host/files/absolute?q']) {
    await talk(port, message(`GET ${url}`))
  }
})
