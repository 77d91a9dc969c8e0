'use strict'
// hapi listens for checkContinue and asks for the body when a route wants its payload.
// covers: 23
// breaks: continue-too-early

const http = require('node:http')
const { setImmediate } = require('node:timers')
const { listen, log, message, program, talk } = require('../../kit')

program(async () => {
  const server = http.createServer(() => log('request'))
  server.on('checkContinue', (req, res) => {
    log('checkContinue', req.url, req.readableFlowing, res.headersSent)
    setImmediate(() => {
      log('continue')
      res.writeContinue(() => log('sent'))
      req.on('data', (piece) => log('data', String(piece)))
      req.on('end', () => {
        res.setHeader('X-Waited', 'yes')
        res.end('done')
      })
    })
  })
  await talk(await listen(server), [message('POST /', ['Expect: 100-continue', 'Content-Length: 4', 'Connection: close']), /100 Continue/, 'body'])
})
