'use strict'
// The client leaves before restify answers: 'after' comes with a RequestCloseError, which audit logs show as 444.
// covers: 31, r13
// breaks: abort-untold

const restify = require('restify')
const { dial, listening, log, logged, message, play, program, within } = require('../../kit')
const { once } = require('node:events')

program(async () => {
  const server = restify.createServer({ log: restify.logger({ level: 'silent' }) })
  let goOn
  server.get('/', (req, res, next) => {
    req.on('aborted', () => log('aborted'))
    goOn = next
    log('handler')
  })
  server.on('after', (req, res, route, error) => log('after', error?.name, res.statusCode, req.connectionState()))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const wire = await dial(listening(server.server))
  await play(wire, [message('GET /'), { event: 'handler' }])
  wire.destroy()
  for (const event of ['aborted', 'after']) {
    await within(logged(event))
    goOn()
    goOn = () => {}
  }
})
