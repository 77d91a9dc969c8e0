'use strict'
// maxHeadersCount bounds what a request's headers may cost; it is read when a request comes.
// covers: 28, 30
// breaks: headers-not-limited

const http = require('node:http')
const { listen, log, message, program, talk } = require('../../kit')

program(async () => {
  const server = http.createServer((req, res) => {
    log(server.maxHeadersCount, Object.keys(req.headers).length, req.rawHeaders.length, req.headers['x-1'], Object.keys(req.headers).at(-1))
    res.end()
  })
  log(server.maxHeadersCount)
  const port = await listen(server)
  const many = Array.from({ length: 1100 }, (_, i) => `X-${i}:`)
  const some = Array.from({ length: 50 }, (_, i) => `X-${i}: ${i}`)
  for (const most of [null, 0, 3, 31, 40, 2000]) {
    server.maxHeadersCount = most
    await talk(port, message('GET /', [...some, 'Connection: close']))
    await talk(port, message('GET /', [...many, 'Connection: close']))
  }
})
