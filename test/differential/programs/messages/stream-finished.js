'use strict'
// stream.finished() and pipeline() over requests and responses (koa, send, fastify): whole, and cut short.
// covers: 31, 32
// breaks: abort-without-error

const http = require('node:http')
const stream = require('node:stream')
const { listen, log, logged, message, program, talk } = require('../../kit')

program(async () => {
  const server = http.createServer((req, res) => {
    stream.finished(req, (error) => log(req.url, 'request', error?.code))
    stream.finished(res, (error) => {
      log(req.url, 'response', error?.code)
      log(`${req.url} over`)
    })
    if (req.url === '/echo' || req.url === '/cut') stream.pipeline(req, res, (error) => log(req.url, 'pipeline', error?.code))
    else if (req.url === '/plain') res.end('plain')
    else res.write('open')
  })
  const port = await listen(server)
  await talk(port, message('GET /plain'))
  await logged('/plain over')
  await talk(port, message('POST /echo', ['Connection: close', 'Content-Length: 4'], 'echo'))
  await logged('/echo over')
  await talk(port, message('POST /cut', ['Content-Length: 10'], 'cut'), /cut/)
  await logged('/cut over')
  await talk(port, message('GET /open', []), /open/)
  await logged('/open over')
})
