'use strict'
// finalhandler answers an error with a page, or drops the connection when the answer has begun.
// covers: 7
// breaks: header-forgotten

const http = require('node:http')
const finalhandler = require('finalhandler')
const { listen, log, logged, message, program, talk } = require('../../kit')

program(async () => {
  const server = http.createServer((req, res) => {
    const fail = () => finalhandler(req, res, { env: 'production' })(new Error(req.url))
    res.on('close', () => log('close', req.url, res.statusCode, res.headersSent))
    if (req.url === '/before') fail()
    if (req.url === '/decided') {
      res.writeHead(200)
      fail()
    }
    if (req.url === '/answered') res.on('finish', fail).end('answered')
    if (req.url === '/none') finalhandler(req, res)()
  })
  const port = await listen(server)
  for (const path of ['/before', '/decided', '/answered', '/none']) {
    await talk(port, message(`GET ${path}`, path === '/answered' ? [] : undefined))
    await logged(`close ${path}`)
  }
})
