'use strict'
// Old clients (ab, health checks) speak HTTP/1.0 with and without keep-alive to an Express application.
// covers: 29
// breaks: always-keep-alive

const express = require('express')
const http = require('node:http')
const { listen, program, talk } = require('../../kit')

program(async () => {
  const app = express()
  app.get('/', (req, res) => res.send(`version ${req.httpVersion}`))
  app.get('/stream', (req, res) => {
    res.write('a')
    res.end('b')
  })
  const port = await listen(http.createServer(app))
  await talk(port, 'GET / HTTP/1.0\r\n\r\n')
  await talk(port, 'GET /stream HTTP/1.0\r\n\r\n')
  await talk(port, ['GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n', /1\.0$/, 'GET /stream HTTP/1.0\r\nConnection: keep-alive\r\n\r\n'])
})
