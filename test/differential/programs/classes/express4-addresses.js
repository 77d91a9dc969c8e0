'use strict'
// Express 4 and morgan read a client's address through req.connection, behind a proxy or not.
// covers: 19, 17
// breaks: no-peer-name

const http = require('node:http')
const express = require('express4')
const morgan = require('morgan')
const { listen, log, message, program, talk } = require('../../kit')

program(async () => {
  const app = express()
  app.use(morgan(':remote-addr :method :url :status', { stream: { write: (line) => log(line.trim()) } }))
  app.set('trust proxy', 'loopback')
  app.get('/', (req, res) => {
    log(req.ip, req.ips, req.protocol, req.secure, req.hostname)
    res.end()
  })
  const port = await listen(http.createServer(app))
  await talk(port, message('GET /'))
  await talk(port, message('GET /', ['X-Forwarded-For: 192.0.2.1', 'X-Forwarded-Proto: https', 'Connection: close']))
})
