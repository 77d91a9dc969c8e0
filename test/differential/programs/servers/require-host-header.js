'use strict'
// A request of HTTP/1.1 without Host is refused, unless a health check that sends none made somebody turn that off.
// covers: 28
// breaks: host-not-required

const http = require('node:http')
const { listen, log, program, talk } = require('../../kit')

program(async () => {
  for (const options of [{}, { requireHostHeader: false }]) {
    const server = http.createServer(options, (req, res) => {
      log('request', req.httpVersion, req.headers.host, req.url)
      res.end('served')
    })
    const port = await listen(server)
    await talk(port, 'GET /1.1 HTTP/1.1\r\nConnection: close\r\n\r\n')
    await talk(port, 'GET /1.0 HTTP/1.0\r\n\r\n')
    await talk(port, 'GET /empty HTTP/1.1\r\nHost:\r\nConnection: close\r\n\r\n')
    await talk(port, 'POST /body HTTP/1.1\r\nContent-Length: 2\r\nConnection: close\r\n\r\nab')
  }
})
