'use strict'
// Monitoring replaces emit() on one server, and may keep a request to itself.
// covers: 4
// breaks: handler-called-directly, connection-past-emit

const http = require('node:http')
const { listen, log, message, program, talk } = require('../../kit')

program(async () => {
  const server = http.createServer((req, res) => {
    log('handler', req.url)
    res.end('handled')
  })
  const { emit } = server
  server.emit = function (event, first, second) {
    if (event === 'connection') log('connection', first.server === server)
    if (event === 'request' && first.url === '/health') {
      second.end('healthy')
      return true
    }
    return emit.apply(this, arguments)
  }
  const port = await listen(server)
  for (const path of ['/health', '/app']) await talk(port, message(`GET ${path}`))
})
