'use strict'
// fastify's route timeout: an upload that stalls is told to the request first, then to the response and
// the server.
// covers: 20, r14
// breaks: timeout-skips-request

const http = require('node:http')
const { setImmediate } = require('node:timers')
const { listen, log, message, program, talk } = require('../../kit')

/** The connection is over before so much time has passed again after the answer. */
const kTimeoutMs = 400

program(async () => {
  const server = http.createServer((req, res) => {
    req.setTimeout(kTimeoutMs, (socket) => {
      log('request timeout', socket === req.socket, req.complete)
      setImmediate(() => {
        res.writeHead(408, { Connection: 'close' })
        res.end('late')
      })
    })
    res.on('timeout', (socket) => log('response timeout', socket === req.socket))
  })
  server.on('timeout', (socket) => log('server timeout', socket.writable))
  await talk(await listen(server), message('POST /', ['Content-Length: 5'], 'ab'))
})
