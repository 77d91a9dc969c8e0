'use strict'
// Load shedding destroys an idle connection while a request on it is on its way: nobody sees that
// request, and other connections are served.
// covers: r15, 31
// breaks: request-after-destroy

const http = require('node:http')
const { dial, listen, log, logged, message, program, talk } = require('../../kit')

program(async () => {
  const sockets = []
  const server = http.createServer((req, res) => {
    log('request', req.url)
    res.end()
  })
  server.on('connection', (socket) => {
    socket.on('close', () => log('close'))
    log('connection', sockets.push(socket))
  })
  const port = await listen(server)
  const wire = await dial(port)
  await logged('connection')
  wire.write(message('GET /refused'))
  // The request is in the server's hands before this turn is over: no event may tell, since JavaScript must not hear of it.
  for (const until = Date.now() + 200; Date.now() < until;);
  sockets[0].destroy()
  await wire.untilClosed()
  await logged('close')
  await talk(port, message('GET /served'))
})
