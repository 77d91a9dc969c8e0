'use strict'
// An Express application ends as orchestrators ask for it: close() lets idle connections go and waits for the busy one.
// covers: 27
// breaks: idle-connections-left-open

const express = require('express')
const { once } = require('node:events')
const { answer, dial, listening, log, message, play, program } = require('../../kit')

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
  server.keepAliveTimeout = 100
  const idle = await dial(port)
  await play(idle, [message('GET /quick', []), /quick/])
  const busy = await dial(port)
  await play(busy, [message('GET /busy', []), { event: 'busy' }])
  server.close(() => log('closed'))
  answer('idle', await Promise.race([idle.untilClosed(), new Promise((resolve) => setTimeout(resolve, 500, 'still open').unref())]))
  log('finishing', server.listening)
  finish?.()
  answer('busy', await busy.untilClosed())
  idle.destroy()
})
