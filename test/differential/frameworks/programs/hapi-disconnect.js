'use strict'
// hapi tells a route that its client has left: request.events 'disconnect', request.active(), and a log of the response.
// covers: 31, r13, 32
// breaks: abort-untold

const Hapi = require('@hapi/hapi')
const { dial, listening, log, logged, message, play, program, watch, within } = require('../../kit')

program(async () => {
  const server = Hapi.server({ port: 0, host: '127.0.0.1' })
  server.route({
    method: 'GET',
    path: '/',
    handler: (request, h) => {
      log('handler', request.active())
      watch('req', request.raw.req, ['aborted', 'close'])
      return new Promise((resolve) => {
        request.events.once('disconnect', () => {
          log('disconnect', request.active())
          resolve(h.close)
        })
      })
    }
  })
  server.events.on('response', ({ response, info }) => log('response', response?.statusCode, info.completed > 0))
  await server.start()
  const wire = await dial(listening(server.listener))
  await play(wire, [message('GET /'), { event: 'handler' }])
  wire.destroy()
  await within(logged('response'))
})
