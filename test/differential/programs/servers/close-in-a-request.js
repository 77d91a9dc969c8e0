'use strict'
// An endpoint that stops the service: the answer arrives, and the requests behind it on the connection do too.
// covers: 27, 29
// breaks: close-ends-busy

const http = require('node:http')
const { setImmediate } = require('node:timers')
const { listen, log, logged, message, program, talk } = require('../../kit')

program(async () => {
  const server = http.createServer((req, res) => {
    log(req.url, server.listening)
    if (req.url === '/stop') server.close(() => log('closed'))
    res.on('close', () => log(req.url, 'answered'))
    setImmediate(() => res.end(`${req.url} answered`))
  })
  const port = await listen(server)
  await talk(port, [message('GET /before', []), /before answered/, message('GET /stop', []), /stop answered/, message('GET /last')])
  await logged('closed')
})
