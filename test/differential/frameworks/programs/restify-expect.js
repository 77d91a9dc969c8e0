'use strict'
// restify decides about Expect: 100-continue: by itself, or in the application's listener.
// covers: 23, 38
// breaks: check-continue-unasked

const restify = require('restify')
const { once } = require('node:events')
const { answer, dial, listening, log, message, play, program } = require('../../kit')

program(async () => {
  for (const own of [false, true]) {
    const server = restify.createServer({ log: restify.logger({ level: 'silent' }) })
    server.use(restify.plugins.bodyReader())
    server.post('/', (req, res, next) => {
      res.send({ body: req.body })
      next()
    })
    if (own) {
      server.on('checkContinue', (req, res) => {
        log('asked', req.headers.expect)
        res.writeHead(413, { Connection: 'close' })
        res.end()
      })
    }
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const wire = await dial(listening(server.server))
    await play(wire, [message('POST /', ['Content-Type: text/plain', 'Content-Length: 4', 'Expect: 100-continue', 'Connection: close']), /HTTP\/1.1 \d+/])
    if (/ 100 /.test(wire.text)) await play(wire, ['body'])
    answer(await wire.untilClosed())
  }
})
