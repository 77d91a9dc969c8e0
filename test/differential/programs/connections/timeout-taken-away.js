'use strict'
// Nest's server-sent events and sockjs take the timeout off a connection that shall stay open; the calls
// may be chained.
// covers: 20
// breaks: timeout-zero-ignored

const http = require('node:http')
const { setTimeout } = require('node:timers')
const { listen, log, message, program, talk } = require('../../kit')

program(async () => {
  const server = http.createServer((req, res) => {
    log(req.socket.timeout, req.socket.setTimeout(0).setKeepAlive(true).setNoDelay(true) === req.socket, req.socket.timeout)
    req.socket.on('timeout', () => log('timeout'))
    res.writeHead(200, { 'Content-Type': 'text/event-stream' })
    res.write('data: 1\n\n')
    // Silence for longer than the timeout that was taken away.
    setTimeout(() => res.end('data: 2\n\n'), 900)
  })
  server.timeout = 400
  await talk(await listen(server), message('GET /'))
})
