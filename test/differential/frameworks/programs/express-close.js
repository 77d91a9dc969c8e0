'use strict'
// An Express application ends as orchestrators ask for it: close() lets idle connections go and waits for the busy one.
// covers: 27
// breaks: idle-connections-left-open

const express = require('express')
const { once } = require('node:events')
const { answer, dial, listening, log, message, play, program, within } = require('../../kit')

program(async () => {
  const app = express()
  let finish
  app.get('/quick', (req, res) => res.send('quick'))
  app.get('/busy', (req, res) => {
    log('busy')
    finish = () => res.send('finished')
  })
  const server = app.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const port = listening(server)
  // Nothing but close() ends the idle one within the program.
  server.keepAliveTimeout = 60_000
  const idle = await dial(port)
  await play(idle, [message('GET /quick', []), /quick/])
  const busy = await dial(port)
  await play(busy, [message('GET /busy', []), { event: 'busy' }])
  server.close(() => log('closed'))
  answer('idle', await within(idle.untilClosed(), 'still open'))
  log('finishing', server.listening)
  // The busy one is idle for a moment once it is answered.
  server.keepAliveTimeout = 100
  finish?.()
  answer('busy', await busy.untilClosed())
  idle.destroy()
})
