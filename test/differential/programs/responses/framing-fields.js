'use strict'
// hono reads how a response is going to be framed from its fields.
// covers: 11
// breaks: length-unknown, length-in-characters

const http = require('node:http')
const { listen, log, message, program, talk } = require('../../kit')

program(async () => {
  const server = http.createServer((req, res) => {
    const fields = (when) => log(req.method, req.url, when, res._contentLength, res._hasBody, res._removedContLen, res._removedTE,
      res.useChunkedEncodingByDefault, res.chunkedEncoding, res.shouldKeepAlive, res.sendDate)
    fields('first')
    if (req.url === '/removed') res.removeHeader('Content-Length')
    if (req.url === '/none') res.statusCode = 204
    if (req.url === '/empty') res.end()
    else if (req.url === '/buffer') res.end(Buffer.from('buf'))
    else res.end('t\u00e9xt')
    fields('ended')
  })
  const port = await listen(server)
  for (const path of ['/text', '/empty', '/buffer', '/removed', '/none']) await talk(port, message(`GET ${path}`))
  await talk(port, message('HEAD /text'))
  await talk(port, 'GET /old HTTP/1.0\r\n\r\n')
})
