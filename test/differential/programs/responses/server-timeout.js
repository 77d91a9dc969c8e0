'use strict'
// Servers hear "timeout" of connections whose request and response did not, with an answer open or
// between two requests.
// covers: r14, 20
// breaks: timeout-skips-server, idle-timeout-unheard

const http = require('node:http')
const { listen, log, message, program, talk } = require('../../kit')

program(async () => {
  const server = http.createServer((req, res) => {
    log('request', req.url)
    if (req.url === '/idle') res.end('answered')
    else if (req.url === '/res') res.setTimeout(100, (socket) => log('timeout of the response', socket === req.socket) ?? res.end('late'))
    else req.setTimeout(100)
  })
  server.keepAliveTimeout = 50
  server.on('timeout', (socket) => {
    log('timeout', socket.server === server, socket._httpMessage !== null)
    socket.destroy()
  })
  const port = await listen(server)
  await talk(port, message('GET /waiting', []))
  await talk(port, message('GET /res'))
  await talk(port, message('GET /idle', []))
})
