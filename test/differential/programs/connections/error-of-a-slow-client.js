'use strict'
// headersTimeout and requestTimeout: a client that does not get on is answered 408, or told to the listener.
// covers: 24, 28
// breaks: timeout-code-lost

const http = require('node:http')
const { listen, log, message, program, talk } = require('../../kit')

program(async () => {
  // Enough for the head of a request on a busy machine.
  const options = { headersTimeout: 700, requestTimeout: 700, connectionsCheckingInterval: 50 }
  for (const isHeard of [false, true]) {
    const server = http.createServer(options, (req) => {
      log('request')
      req.on('error', (error) => log('request', error.code))
    })
    if (isHeard) {
      server.on('clientError', (error, socket) => {
        log('clientError', error.name, error.code, error.message, error.rawPacket, socket.writable)
        socket.write('HTTP/1.1 418 Too Slow\r\n\r\n')
        socket.destroy()
      })
    }
    const port = await listen(server)
    await talk(port, 'GET / HTTP/1.1\r\nHost:')
    await talk(port, message('POST /', ['Content-Length: 10'], 'abc'))
  }
})
