'use strict'
// hapi answers malformed requests itself, by listening to 'clientError', and logs them.
// covers: 24, r12
// breaks: client-error-not-emitted

const Hapi = require('@hapi/hapi')
const { listening, log, message, program, talk } = require('../../kit')

program(async () => {
  const server = Hapi.server({ port: 0, host: '127.0.0.1' })
  server.route({ method: '*', path: '/{p*}', handler: () => 'fine' })
  server.events.on('log', ({ tags, error }) => log(tags, error?.code, error?.reason))
  await server.start()
  const port = listening(server.listener)
  await talk(port, 'nonsense\r\n\r\n')
  await talk(port, 'GET / HTTP/1.1\r\nHost: a\r\nBad Name: 1\r\n\r\n')
  await talk(port, `GET / HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`)
  await talk(port, [message('GET /', []), /fine/, 'BREW / HTTP/1.1\r\n\r\n'])
})
