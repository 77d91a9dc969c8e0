'use strict'
// Old clients send empty lines before a request and behind a body: they are passed over.
// covers: 30
// breaks: line-ends-refused

const http = require('node:http')
const { listen, log, message, program, talk } = require('../../kit')

program(async () => {
  const server = http.createServer((req, res) => {
    let body = ''
    req.on('data', (piece) => { body += piece })
    req.on('end', () => {
      log(req.method, req.url, body, req.rawHeaders)
      res.end(`${req.url};`)
    })
  })
  await talk(await listen(server), [
    `\r\n\r\n${message('POST /1', ['Content-Length: 4'], 'body')}\r\n`, /\/1;/, `\r\n${message('GET /2', [])}`, /\/2;/, '\r\n', message('GET /3')
  ])
})
