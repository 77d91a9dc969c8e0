'use strict'
// server.timeout and setTimeout(): silence on a connection is "timeout" at the request, the response, the server, and ends it when nobody listens.
// covers: 28, 20, r14
// breaks: server-timeout-ignored, timeout-of-the-request-is-enough

const http = require('node:http')
const { dial, listen, log, logged, message, play, program, talk } = require('../../kit')

program(async () => {
  const server = http.createServer((req, res) => {
    log('request', req.url)
    if (req.url === '/req') req.on('timeout', (socket) => log('req timeout', socket === req.socket))
    if (req.url === '/both') {
      req.on('timeout', () => log('req timeout'))
      res.on('timeout', (socket) => {
        log('res timeout', socket === res.socket)
        res.end('late')
      })
    }
  })
  log(server.setTimeout(400) === server, server.timeout)
  const port = await listen(server)
  await talk(port, [message('GET /nobody')])
  await talk(port, [message('POST /both', ['Content-Length: 3', 'Connection: close']), /late/, 'abc'])
  server.setTimeout(200, (socket) => {
    log('server timeout', socket.server === server)
    socket.destroy()
  })
  await talk(port, [message('POST /req', ['Content-Length: 3']), { event: 'server timeout' }])
  server.removeAllListeners('timeout')
  server.timeout = 0
  const wire = await dial(port)
  // Silence for longer than any timeout before.
  await play(wire, [message('GET /never', []), { event: 'request /never' }, { wait: 600 }])
  log('open', !wire.closed)
  server.timeout = 60
  await talk(port, [])
  log('the silent one is closed, the earlier one is open', !wire.closed)
  await logged('request /never')
})
