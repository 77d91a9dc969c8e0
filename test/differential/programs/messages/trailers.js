'use strict'
// A signature behind a chunked upload (S3, gRPC-web): the trailers are there at 'end', not before.
// covers: 30
// breaks: trailers-lost

const http = require('node:http')
const { listen, log, message, program, talk } = require('../../kit')

program(async () => {
  const server = http.createServer((req, res) => {
    const look = (when) => log(when, req.trailers, req.rawTrailers, req.trailersDistinct, req.complete)
    look('request')
    req.on('data', (piece) => look(String(piece)))
    req.on('end', () => {
      look('end')
      log(req.headers)
      res.end()
    })
  })
  const port = await listen(server)
  const head = message('POST /', ['Transfer-Encoding: chunked', 'Trailer: X-Sum, X-Two', 'Connection: close'])
  const tail = '0\r\nX-Sum: 1\r\nx-TWO: a\r\nX-Two: b\r\nCookie: c=d\r\n\r\n'
  await talk(port, [`${head}3\r\nabc\r\n${tail}`])
  await talk(port, [head, '3\r\nabc\r\n', { event: 'abc' }, '0\r\nX-Sum: 1\r', '\n\r\n'])
})
