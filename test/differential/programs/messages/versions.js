'use strict'
// HTTP/1.0 clients (ab, old proxies): the version is told, and decides about Connection and chunks.
// covers: 30, 29
// breaks: version-always-1.1

const http = require('node:http')
const { listen, log, message, program, talk } = require('../../kit')

program(async () => {
  const server = http.createServer((req, res) => {
    log(req.url, req.httpVersion, req.httpVersionMajor, req.httpVersionMinor, res.shouldKeepAlive, res.useChunkedEncodingByDefault)
    if (req.url === '/streamed') res.write('a')
    res.end('b')
  })
  const port = await listen(server)
  for (const url of ['/whole', '/streamed']) {
    await talk(port, `GET ${url} HTTP/1.0\r\n\r\n`)
    await talk(port, [`GET ${url} HTTP/1.0\r\nConnection: keep-alive\r\n\r\n`, /b/, 'GET / HTTP/1.0\r\n\r\n'])
    await talk(port, [`GET ${url} HTTP/1.1\r\nHost: a\r\n\r\n`, /b/, message('GET /')])
  }
})
