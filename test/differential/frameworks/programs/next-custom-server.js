'use strict'
// Next behind a server of the application's own: pages, rendered and built, API routes with bodies and cookies, a stream, 404.
// covers: 14, 18, 28, 38
// breaks: no-peer-name

process.env.NODE_ENV = 'production'
const next = require('next')
const http = require('node:http')
const fs = require('node:fs')
const path = require('node:path')
const { listen, log, message, program, talk } = require('../../kit')

program(async () => {
  // Built beside what it requires, by npm run compat.
  const dir = path.join(path.dirname(fs.realpathSync(path.join(__dirname, '..', 'node_modules'))), 'site')
  const server = http.createServer((req, res) => {
    res.on('finish', () => log(req.method, req.url, res.statusCode))
    handle(req, res)
  })
  const app = next({ dev: false, dir, httpServer: server, quiet: true })
  const handle = app.getRequestHandler()
  // Says how long it took.
  console.log = () => {}
  await app.prepare()
  const port = await listen(server)
  for (const url of ['/?name=me', '/plain', '/api/stream', '/none', '//doubled']) await talk(port, message(`GET ${url}`))
  await talk(port, message('POST /api/echo?a=1&a=2', ['Content-Type: application/json', 'Cookie: c=1', 'Content-Length: 7', 'Connection: close'], '{"b":2}'))
  await talk(port, message('HEAD /plain'))
  await app.close()
})
