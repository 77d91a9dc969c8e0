'use strict'
// Applications change maxHeadersCount and joinDuplicateHeaders while serving; the next connection
// follows.
// covers: r14, 28
// breaks: headers-limit-ignored, join-ignored

const http = require('node:http')
const { listen, log, message, program, talk } = require('../../kit')

program(async () => {
  const server = http.createServer((req, res) => {
    log(req.url, req.headers)
    res.end()
  })
  const port = await listen(server)
  const headers = ['X-A: 1', 'X-B: 2', 'From: a', 'From: b', 'Connection: close']
  await talk(port, message('GET /default', headers))
  server.joinDuplicateHeaders = true
  await talk(port, message('GET /joined', headers))
  server.maxHeadersCount = 2
  await talk(port, message('GET /two', headers))
  server.maxHeadersCount = 0
  server.joinDuplicateHeaders = false
  await talk(port, message('GET /all', headers))
})
