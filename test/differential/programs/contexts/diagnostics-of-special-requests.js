'use strict'
// Spans must not stay open: which requests the channels tell of when there is an upgrade, an expectation, a refusal or a client that left.
// covers: 37, 23, 28
// breaks: start-not-published, sockets-not-published

const diagnostics = require('node:diagnostics_channel')
const http = require('node:http')
const { dial, listen, log, logged, message, play, program, talk } = require('../../kit')

program(async () => {
  for (const name of ['http.server.request.start', 'http.server.response.finish']) {
    diagnostics.subscribe(name, ({ request, response }) => log(name, request.method, request.url, response.statusCode))
  }
  diagnostics.subscribe('net.server.socket', ({ socket }) => log('net.server.socket', socket.server === server, socket.remoteAddress))
  const server = http.createServer((req, res) => {
    log('request', req.url)
    req.on('close', () => log('req close', req.url))
    if (req.url !== '/left') res.end()
  })
  server.on('upgrade', (req, socket) => socket.end('HTTP/1.1 101 Switching Protocols\r\n\r\n'))
  const port = await listen(server)
  await talk(port, [message('GET /upgrade', ['Connection: Upgrade', 'Upgrade: x']), null])
  await talk(port, [message('POST /continue', ['Expect: 100-continue', 'Content-Length: 3', 'Connection: close']), /100/, 'abc'])
  await talk(port, message('POST /expect', ['Expect: 200-ok', 'Content-Length: 0', 'Connection: close']))
  await talk(port, 'GET /no-host HTTP/1.1\r\nConnection: close\r\n\r\n')
  await talk(port, 'GET /malformed HTTP/1.1\r\nHost a\r\n\r\n')
  const wire = await dial(port)
  await play(wire, [message('GET /left', []), { event: 'request /left' }])
  wire.destroy()
  await logged('req close /left')
})
