'use strict'
// express.json(), urlencoded(), text() and raw(): body-parser asks on-finished whether the request is over before it reads.
// covers: 33, 34
// breaks: light-socket-not-readable

const express = require('express')
const http = require('node:http')
const zlib = require('node:zlib')
const { listen, message, program, talk } = require('../../kit')

program(async () => {
  process.env.NODE_ENV = 'production'
  const app = express()
  app.use(express.json({ limit: 100 }), express.urlencoded(), express.text(), express.raw({ verify: (req, res, body) => { req.size = body.length } }))
  app.post('/', (req, res) => res.json({ body: req.body ?? 'none', size: req.size }))
  app.use((error, req, res, next) => res.status(error.status).json({ type: error.type, limit: error.limit, length: error.length }))
  const port = await listen(http.createServer(app))
  const post = (type, body, ...more) => talk(port, message('POST /', [`Content-Type: ${type}`, `Content-Length: ${body.length}`, ...more, 'Connection: close'], body))
  await post('application/json', '{"a":[1,2]}')
  await post('application/json', '{"a":')
  await post('application/json', `"${'x'.repeat(200)}"`)
  await post('application/json; charset=utf-16le', Buffer.from('{"a":1}', 'utf16le').toString('latin1'))
  await post('application/json', zlib.gzipSync('{"zipped":true}').toString('latin1'), 'Content-Encoding: gzip')
  await post('application/x-www-form-urlencoded', 'a=1&b=x+y')
  await post('text/plain', 'words')
  await post('application/octet-stream', '\x00\xff')
  await post('application/json', '')
  await talk(port, [message('POST /', ['Content-Type: application/json', 'Transfer-Encoding: chunked', 'Connection: close']), '5\r\n{"a":\r\n', '2\r\n1}\r\n0\r\n\r\n'])
})
