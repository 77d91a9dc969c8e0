'use strict'
// Old clients and health checks speak HTTP/1.0: no chunks, and the connection stays only on demand.
// covers: 11
// breaks: chunked-for-old-clients

const http = require('node:http')
const { listen, log, program, talk } = require('../../kit')

program(async () => {
  const server = http.createServer((req, res) => {
    log(req.url, req.httpVersion, res.shouldKeepAlive, res.useChunkedEncodingByDefault)
    if (req.url === '/chunked') res.setHeader('Transfer-Encoding', 'chunked')
    if (req.url === '/length') res.setHeader('Content-Length', 1)
    if (req.url === '/pieces' || req.url === '/chunked') res.write('a')
    res.end('b')
    log(res.chunkedEncoding, res._last)
  })
  const port = await listen(server)
  for (const path of ['/once', '/pieces', '/chunked']) await talk(port, `GET ${path} HTTP/1.0\r\n\r\n`)
  const stays = 'HTTP/1.0\r\nConnection: keep-alive\r\n\r\n'
  await talk(port, [`GET /length ${stays}`, /\nb$/, `GET /chunked ${stays}`, /0\r\n\r\n$/, `GET /once ${stays}`])
  await talk(port, `GET /pieces ${stays}`)
})
