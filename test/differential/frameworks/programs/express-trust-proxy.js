'use strict'
// req.ip, req.ips, req.protocol and req.hostname of Express 5, with and without trusted proxies.
// covers: 17, 18
// breaks: no-peer-name

const express = require('express')
const http = require('node:http')
const { listen, message, program, talk } = require('../../kit')

program(async () => {
  const close = 'Connection: close'
  for (const trust of [false, 'loopback', 1, ['loopback', '10.0.0.0/8'], (address, hop) => hop < 2]) {
    const app = express()
    app.set('trust proxy', trust)
    app.use((req, res) => res.json({ ip: req.ip, ips: req.ips, protocol: req.protocol, secure: req.secure, host: req.host, name: req.hostname, sub: req.subdomains, xhr: req.xhr }))
    const port = await listen(http.createServer(app))
    await talk(port, message('GET /', ['X-Forwarded-For: 1.2.3.4, 10.0.0.9', 'X-Forwarded-Proto: https, http', 'X-Forwarded-Host: a.b.example.com', 'X-Requested-With: XMLHttpRequest', close]))
  }
})
