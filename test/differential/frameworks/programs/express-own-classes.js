'use strict'
// An Express application on createServer({ IncomingMessage, ServerResponse }): what swaps prototypes early.
// covers: 1, 2
// breaks: request-class-ignored

const express = require('express')
const http = require('node:http')
const { listen, message, program, talk } = require('../../kit')

program(async () => {
  const app = express()
  class Incoming extends http.IncomingMessage {
    get tenant () { return this.headers['x-tenant'] ?? 'nobody' }
  }
  class Outgoing extends http.ServerResponse {
    problem (status) { return this.writeHead(status, { 'Content-Type': 'application/problem+json' }).end(`{"status":${status}}`) }
  }
  Object.setPrototypeOf(app.request, Incoming.prototype)
  Object.setPrototypeOf(app.response, Outgoing.prototype)
  const raw = http.createServer({ IncomingMessage: Incoming, ServerResponse: Outgoing }, (req, res) => {
    if (req.url === '/raw') return res.problem(req.tenant === 'nobody' ? 401 : 400)
    app(req, res)
  })
  app.get('/', (req, res) => res.json({ tenant: req.tenant, incoming: req instanceof Incoming, outgoing: res instanceof Outgoing }))
  app.get('/problem', (req, res) => res.problem(409))
  const port = await listen(raw)
  await talk(port, message('GET /', ['X-Tenant: t', 'Connection: close']))
  for (const path of ['problem', 'raw']) await talk(port, message(`GET /${path}`))
})
