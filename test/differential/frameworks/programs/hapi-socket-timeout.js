'use strict'
// hapi's routes set the timeout of the socket; who sends the payload too slowly gets 408, an idle handler is cut.
// covers: 20, 28
// breaks: set-timeout-on-socket-ignored

const Hapi = require('@hapi/hapi')
const { answer, dial, listening, log, message, play, program, within } = require('../../kit')

program(async () => {
  const server = Hapi.server({ port: 0, host: '127.0.0.1' })
  server.route([
    { method: 'GET', path: '/socket', options: { timeout: { socket: 200, server: false } }, handler: ({ raw }) => { log('handler', raw.req.socket.timeout); return new Promise(() => {}) } },
    { method: 'GET', path: '/server', options: { timeout: { server: 100, socket: 1000 } }, handler: () => new Promise(() => {}) },
    { method: 'POST', path: '/payload', options: { payload: { timeout: 100 } }, handler: () => 'read' },
  ])
  await server.start()
  const port = listening(server.listener)
  for (const [line, ...headers] of [['GET /server'], ['POST /payload', 'Content-Length: 5'], ['GET /socket']]) {
    const wire = await dial(port)
    await play(wire, [message(line, [...headers, 'Connection: close'])])
    await within(wire.untilClosed(), undefined, 3000)
    answer(line, wire.closed, wire.text)
    wire.destroy()
  }
})
