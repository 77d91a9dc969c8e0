'use strict'
// maxRequestsPerSocket lets a balancer spread connections: the last answer says close, what follows is dropped with 503.
// covers: 28, 29
// breaks: dropped-silently, requests-not-counted

const http = require('node:http')
const { setImmediate } = require('node:timers')
const { listen, log, message, program, talk } = require('../../kit')

program(async () => {
  const server = http.createServer((req, res) => {
    log('request', req.url)
    if (req.url === '/raise') server.maxRequestsPerSocket = 4
    setImmediate(() => res.end(req.url))
  })
  server.on('dropRequest', (req, socket) => log('dropRequest', req.url, req.socket === socket))
  log(server.maxRequestsPerSocket)
  server.maxRequestsPerSocket = 2
  const port = await listen(server)
  await talk(port, [message('GET /1', []), /\/1$/, message('GET /2', [])])
  await talk(port, [message('GET /1', []) + message('GET /2', []) + message('GET /3', [])], /503[^]*\r\n\r\n/)
  await talk(port, [message('GET /raise', []), /\/raise$/, message('GET /2', []), /\/2$/, message('GET /3', []), /\/3$/, message('GET /4', [])])
})
