'use strict'
// http-proxy-middleware in front of a backend: rewritten paths, forwarded addresses, a streamed body, an old client, a dead target.
// covers: 30, 17, 31
// breaks: version-always-1.1

const connect = require('connect')
const http = require('node:http')
const { createProxyMiddleware } = require('http-proxy-middleware')
const { listen, log, message, program, talk } = require('../../kit')

program(async () => {
  const backend = await listen(http.createServer((req, res) => {
    log('backend', req.method, req.url, req.headers)
    res.setHeader('Set-Cookie', ['a=1; Domain=backend', 'b=2'])
    res.write('from ')
    req.pipe(res)
  }))
  const app = connect()
  const on = { error: (error, req, res) => res.writeHead(502).end(error.code) }
  app.use(createProxyMiddleware({ pathFilter: '/api', target: `http://127.0.0.1:${backend}`, xfwd: true, pathRewrite: { '^/api': '/v1' }, cookieDomainRewrite: 'front', headers: { 'X-Added': '1' }, on }))
  app.use(createProxyMiddleware({ pathFilter: '/dead', target: 'http://127.0.0.1:1', on }))
  app.use((req, res) => res.end('own'))
  const port = await listen(http.createServer(app))
  await talk(port, message('GET /own'))
  await talk(port, message('POST /api/echo?q=1', ['Content-Length: 4', 'X-Mixed-Case: Kept', 'Connection: close'], 'body'))
  await talk(port, [message('PUT /api/chunks', ['Transfer-Encoding: chunked', 'Connection: close']), '4\r\nbody\r\n', '0\r\n\r\n'])
  await talk(port, 'GET /api/old HTTP/1.0\r\nHost: a\r\n\r\n')
  await talk(port, message('GET /dead'))
})
