'use strict'
// hapi's stop() ends connections that are idle or silent, and waits for the answer of a busy one.
// covers: 16, 15, 27
// breaks: connection-event-missing

const Hapi = require('@hapi/hapi')
const { answer, dial, listening, log, message, play, program, within } = require('../../kit')

program(async () => {
  const server = Hapi.server({ port: 0, host: '127.0.0.1' })
  let finish
  server.route([
    { method: 'GET', path: '/busy', handler: () => { log('busy'); return new Promise((resolve) => { finish = () => resolve('finished') }) } },
    { method: 'GET', path: '/quick', handler: () => 'quick' },
  ])
  server.events.on('stop', () => log('stopped'))
  server.ext('onPreStop', () => log('stopping'))
  await server.start()
  const port = listening(server.listener)
  // Nothing but stop() ends the idle one within the program.
  server.listener.keepAliveTimeout = 60_000
  const silent = await dial(port)
  const idle = await dial(port)
  await play(idle, [message('GET /quick', []), /quick/])
  const busy = await dial(port)
  await play(busy, [message('GET /busy', []), { event: 'busy' }])
  const stopped = server.stop({ timeout: 20_000 })
  answer('idle', await within(idle.untilClosed(), 'still open'))
  answer('silent', await within(silent.untilClosed(), 'still open'))
  finish?.()
  answer('busy', await within(busy.untilClosed(), 'still open'))
  await within(stopped, 'still open')
  for (const wire of [silent, idle, busy]) wire.destroy()
})
