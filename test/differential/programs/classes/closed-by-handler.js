'use strict'
// Tests and workers that serve one request close the server within its handler, or when its answer is
// out.
// covers: r15, 3
// breaks: last-connection-unnoticed

const http = require('node:http')
const { listen, log, logged, message, program, talk } = require('../../kit')

program(async () => {
  for (const event of ['request', 'finish', 'close', 'end']) {
    const server = http.createServer((req, res) => {
      const close = () => {
        log('closing in', event)
        server.close(() => log('closed in', event, server.listening, server.address()))
      }
      if (event === 'request') close()
      else if (event === 'end') req.on('end', close).resume()
      else res.on(event, close)
      res.end(event)
    })
    const port = await listen(server)
    await talk(port, message('GET /'))
    await logged(`closed in ${event}`)
  }
})
