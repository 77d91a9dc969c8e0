'use strict'
// http-terminator destroys idle connections at once, and adds Connection: close to the answers of busy ones.
// covers: 13, 14, 16, 3
// breaks: connection-event-missing

const http = require('node:http')
const { createHttpTerminator } = require('http-terminator')
const { answer, dial, listen, log, message, play, program, within } = require('../../kit')

program(async () => {
  let finish
  const server = http.createServer((req, res) => {
    if (req.url === '/quick') return res.end('quick')
    log('busy', req.socket.server === server, req.socket._httpMessage === res)
    finish = () => res.end('finished')
  })
  server.keepAliveTimeout = 1000
  const port = await listen(server)
  const { terminate } = createHttpTerminator({ server, gracefulTerminationTimeout: 20_000 })
  const idle = await dial(port)
  await play(idle, [message('GET /quick', []), /quick/])
  const silent = await dial(port)
  const busy = await dial(port)
  await play(busy, [message('GET /busy', []), { event: 'busy' }])
  const terminated = terminate().then(() => 'terminated')
  answer(await within(idle.untilClosed(), 'not terminated'), await within(silent.untilClosed(), 'not terminated'))
  finish?.()
  answer(await within(busy.untilClosed(), 'not terminated'), await within(terminated, 'not terminated'))
})
