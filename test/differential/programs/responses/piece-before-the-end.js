'use strict'
// Templates write a page in pieces and end it in the same tick; the pieces stay in order and are framed
// alike.
// covers: 9, 11
// breaks: end-overtakes-write, last-piece-lost

const http = require('node:http')
const { setImmediate } = require('node:timers')
const { listen, log, message, program, talk } = require('../../kit')

program(async () => {
  const server = http.createServer((req, res) => {
    if (req.url === '/length') res.setHeader('Content-Length', 12)
    if (req.url === '/corked') res.cork()
    log(req.url, res.write('<p>'), res.write(Buffer.from('text')), res.writableLength > 0)
    if (req.url === '/corked') res.uncork()
    if (req.url === '/later') setImmediate(() => res.end('</p>\n'))
    else res.end('</p>\n')
  })
  const port = await listen(server)
  for (const path of ['/chunked', '/length', '/corked', '/later']) await talk(port, message(`GET ${path}`))
  await talk(port, 'GET /old HTTP/1.0\r\n\r\n')
})
