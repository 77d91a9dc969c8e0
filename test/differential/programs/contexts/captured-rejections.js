'use strict'
// With captureRejections an async handler that rejects is answered 500 by the server, or handed to the application's own method.
// covers: 36, 4
// breaks: request-not-emitted

const events = require('node:events')
const http = require('node:http')
const { listen, log, message, program, talk } = require('../../kit')

events.captureRejections = true
process.on('unhandledRejection', (error) => log('unhandled', error.message))

program(async () => {
  const server = http.createServer(async (req, res) => {
    log('request', req.url)
    res.setHeader('X-Before', '1')
    if (req.url === '/begun') res.write('begun')
    await null
    if (req.url === '/fine') return res.end('fine')
    throw new Error(`rejected ${req.url}`)
  })
  const port = await listen(server)
  for (const path of ['/fine', '/rejected', '/begun']) await talk(port, message(`GET ${path}`))
  server[Symbol.for('nodejs.rejection')] = (error, event, req, res) => {
    log('captured', error.message, event, req.url)
    res.writeHead(418).end(error.message)
  }
  await talk(port, message('GET /own'))
})
