'use strict'
// hapi and restify limit the time an answer takes with res.setTimeout(): a whole request is not told.
// covers: 20, r14
// breaks: timeout-skips-response

const http = require('node:http')
const { listen, log, message, program, talk } = require('../../kit')

/** The connection is over before so much time has passed again after the answer. */
const kTimeoutMs = 400

program(async () => {
  const server = http.createServer((req, res) => {
    req.on('timeout', () => log('request timeout'))
    res.setTimeout(kTimeoutMs, (socket) => {
      log('response timeout', socket === res.socket)
      res.writeHead(503, { Connection: 'close' })
      res.end('slow')
    })
  })
  await talk(await listen(server), message('GET /', []))
})
