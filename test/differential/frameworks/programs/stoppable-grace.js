'use strict'
// stoppable counts requests per socket: it ends idle sockets, waits for busy ones, and destroys them when its grace is over.
// covers: 15, 16, r3
// breaks: socket-close-unheard

const http = require('node:http')
const stoppable = require('stoppable')
const { answer, dial, listen, log, logged, message, play, program } = require('../../kit')

program(async () => {
  for (const grace of [Infinity, 200]) {
    let finish
    const server = stoppable(http.createServer((req, res) => {
      if (req.url === '/quick') return res.end('quick')
      log('busy', grace)
      finish = () => res.end('finished')
    }), grace)
    const port = await listen(server)
    const idle = await dial(port)
    await play(idle, [message('GET /quick', []), /quick/])
    const busy = await dial(port)
    await play(busy, [message('GET /busy', []), { event: `busy ${grace}` }])
    log('pending', [...server._pendingSockets.values()])
    server.stop((error, gracefully) => log('stopped', grace, error, gracefully, server._pendingSockets.size))
    answer(await idle.untilClosed())
    if (grace === Infinity) finish?.()
    answer(await busy.untilClosed())
    await logged(`stopped ${grace}`)
  }
})
