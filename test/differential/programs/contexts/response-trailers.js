'use strict'
// gRPC-web and checksums come as trailers behind a chunked body; where there are no chunks there are no trailers.
// covers: 38
// breaks: trailers-forgotten

const http = require('node:http')
const { listen, log, message, program, talk } = require('../../kit')

program(async () => {
  const server = http.createServer((req, res) => {
    if (!['/undeclared', '/length'].includes(req.url)) res.setHeader('Trailer', 'X-Sum, X-Two')
    try {
      if (req.url === '/length') res.setHeader('Content-Length', 4)
      if (req.url === '/bad') res.addTrailers({ 'X-Bad': 'a\nb' })
      if (req.url === '/flush') res.addTrailers([['x-Sum', '3']])
      else res.addTrailers({ 'X-Sum': 'abc', 'X-Two': ['1', '2'] })
    } catch (error) {
      log(req.method, req.url, error.code)
    }
    try {
      if (req.url === '/write') res.write('first')
      if (req.url === '/flush') res.flushHeaders()
      res.on('finish', () => log(req.method, req.url, 'finish'))
      res.end('body')
    } catch (error) {
      log(req.method, req.url, error.code)
      res.destroy()
    }
  })
  const port = await listen(server)
  for (const line of ['GET /write', 'GET /flush', 'GET /end', 'GET /undeclared', 'GET /length', 'GET /bad', 'HEAD /write', 'HEAD /end']) await talk(port, message(line))
  await talk(port, 'GET /write HTTP/1.0\r\n\r\n')
})
