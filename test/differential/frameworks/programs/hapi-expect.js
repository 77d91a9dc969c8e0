'use strict'
// hapi sends 100 Continue itself, when a route is about to read the payload, and not to who is refused before.
// covers: 23, 38
// breaks: check-continue-unasked

const Hapi = require('@hapi/hapi')
const { answer, dial, listening, message, play, program } = require('../../kit')

program(async () => {
  const server = Hapi.server({ port: 0, host: '127.0.0.1' })
  server.route([
    { method: 'POST', path: '/', handler: ({ payload }) => payload.toString() },
    { method: 'POST', path: '/limited', options: { payload: { maxBytes: 2 } }, handler: () => 'small' },
    { method: 'POST', path: '/stream', options: { payload: { output: 'stream', parse: false } }, handler: () => 'not read' },
  ])
  server.ext('onPreAuth', (request, h) => {
    if (request.headers['x-stop'] === undefined) return h.continue
    return h.response('refused').code(403).takeover()
  })
  await server.start()
  const port = listening(server.listener)
  const head = (path, ...more) => message(`POST ${path}`, ['Content-Type: text/plain', 'Content-Length: 4', 'Expect: 100-continue', 'Connection: close', ...more])
  for (const [path, ...more] of [['/'], ['/', 'X-Stop: 1'], ['/limited'], ['/none'], ['/stream']]) {
    const wire = await dial(port)
    await play(wire, [head(path, ...more), /HTTP\/1.1 \d+/])
    if (/ 100 /.test(wire.text)) await play(wire, ['body'])
    answer(path, ...more, await wire.untilClosed())
  }
})
