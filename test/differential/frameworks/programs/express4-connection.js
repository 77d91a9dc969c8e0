'use strict'
// Express 4 reads the deprecated req.connection for req.ip and req.protocol.
// covers: 19, 17, 18
// breaks: no-peer-name, plain-said-encrypted

const express = require('express4')
const http = require('node:http')
const { listen, message, program, talk } = require('../../kit')

program(async () => {
  const app = express()
  app.enable('trust proxy')
  app.use((req, res) => res.json({
    ip: req.ip, ips: req.ips, protocol: req.protocol, secure: req.secure, same: req.connection === req.socket && res.connection === res.socket, encrypted: req.connection.encrypted
  }))
  const port = await listen(http.createServer(app))
  await talk(port, message('GET /'))
  await talk(port, message('GET /', ['X-Forwarded-For: 9.9.9.9', 'X-Forwarded-For: 8.8.8.8', 'Connection: close']))
  await talk(port, message('GET /', ['X-Forwarded-Proto: https', 'Connection: close']))
})
