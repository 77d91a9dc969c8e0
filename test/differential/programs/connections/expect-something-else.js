'use strict'
// Any other expectation is answered 417, unless the application decides; HTTP/1.0 has none.
// covers: 23
// breaks: expectation-ignored

const http = require('node:http')
const { listen, log, message, program, talk } = require('../../kit')

program(async () => {
  const server = http.createServer((req, res) => {
    log('request', req.url, req.headers.expect)
    res.end('ok')
  })
  const port = await listen(server)
  const asking = message('GET /1', ['Expect: better', 'Connection: close'])
  await talk(port, asking)
  await talk(port, 'GET /2 HTTP/1.0\r\nExpect: better\r\n\r\n')
  await talk(port, 'GET /3 HTTP/1.0\r\nExpect: 100-continue\r\n\r\n')
  server.on('checkExpectation', (req, res) => {
    log('checkExpectation', req.url, req.headers.expect)
    res.statusCode = 418
    res.end()
  })
  await talk(port, asking)
  await talk(port, [message('GET /4', ['Expect: better']), /418/, message('GET /5')])
})
