'use strict'
// Applications change keepAliveTimeout and maxRequestsPerSocket while connections are open; each
// response follows.
// covers: r14, 29
// breaks: keep-alive-read-once, most-requests-read-once

const http = require('node:http')
const { dial, listen, log, message, play, program, talk } = require('../../kit')

program(async () => {
  const server = http.createServer((req, res) => res.end(`${req.url}.`))
  server.on('dropRequest', (req) => log('drop', req.url))
  const wire = await dial(await listen(server))
  const ask = (path) => play(wire, [message(`GET ${path}`, []), new RegExp(`${path}\\.$`)])
  await ask('/first')
  server.keepAliveTimeout = 7000
  await ask('/seven')
  server.keepAliveTimeout = 0
  await ask('/none')
  server.keepAliveTimeout = 3999
  server.maxRequestsPerSocket = 5
  await ask('/counted')
  server.maxRequestsPerSocket = 1
  await talk(wire, message('GET /the-last'))
})
