'use strict'
// http-terminator tells busy connections to close behind their answer and destroys those that answer
// nothing.
// covers: 13, 14
// breaks: message-cleared-late, message-kept

const http = require('node:http')
const { dial, listen, log, logged, message, play, program, talk } = require('../../kit')

program(async () => {
  const sockets = new Set()
  let held = null
  const server = http.createServer((req, res) => {
    if (req.url === '/held') held = res
    else res.end('answered')
    res.on('finish', () => log('finish', req.url, req.socket._httpMessage))
    log('request', req.url, req.socket._httpMessage === res)
  })
  server.on('connection', (socket) => sockets.add(socket))
  const port = await listen(server)
  const idle = await dial(port)
  await play(idle, [message('GET /idle', []), { event: 'finish /idle' }])
  const busy = await dial(port)
  await play(busy, [message('GET /held', []), { event: 'request /held' }])
  server.close(() => log('closed'))
  for (const socket of sockets) {
    const res = socket._httpMessage
    if (socket.server instanceof http.Server && res) {
      log('busy', res.headersSent)
      if (!res.headersSent) res.setHeader('connection', 'close')
    } else {
      log('idle')
      socket.destroy()
    }
  }
  await talk(idle, [])
  held.end('at last')
  await talk(busy, { event: 'finish /held' })
  await logged('closed')
})
