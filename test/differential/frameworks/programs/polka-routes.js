'use strict'
// Polka hands Node's own request and response to the application: parameters, sub-applications, a HEAD that ends with text.
// covers: 10, 30
// breaks: head-answered-with-body

const http = require('node:http')
const polka = require('polka')
const { listen, message, program, talk } = require('../../kit')

program(async () => {
  const sub = polka().get('/:leaf?', (req, res) => res.end(JSON.stringify({ url: req.url, path: req.path, original: req.originalUrl, params: req.params, query: req.query })))
  const app = polka({ onError: (error, req, res) => res.writeHead(error.code ?? 500, { 'X-Error': error.message ?? 'none' }).end() })
  app.use('sub', sub)
  app.get('/users/:id', (req, res) => res.end(`user ${req.params.id}`))
  app.head('/users/:id', (req, res) => res.end(`user ${req.params.id}`))
  app.post('/made', (req, res) => res.writeHead(201, 'Made', ['Location', '/made/1', 'X-Twice', 'a', 'X-Twice', 'b']).end('made'))
  app.use('/fails', (req, res, next) => next(Object.assign(new Error('told'), { code: 409 })))
  const port = await listen(http.createServer(app.handler))
  for (const line of ['GET /users/7', 'HEAD /users/7', 'GET /sub/leaf?a=1', 'GET /sub', 'POST /made', 'GET /fails', 'GET /none']) await talk(port, message(line))
})
