'use strict'
// stoppable counts the requests of each connection, ends idle ones at once and the others behind their
// answer.
// covers: 15, 16
// breaks: socket-per-request, connection-not-announced

const http = require('node:http')
const { dial, listen, log, logged, message, play, program, talk } = require('../../kit')

program(async () => {
  const pending = new Map()
  let stopping = false
  let held = null
  const server = http.createServer((req, res) => {
    pending.set(req.socket, pending.get(req.socket) + 1)
    res.once('finish', () => {
      const left = pending.get(req.socket) - 1
      pending.set(req.socket, left)
      log('pending', left)
      if (stopping && left === 0) req.socket.end()
    })
    if (req.url === '/held') held = res
    else res.end('answered')
    log('request', req.url, [...pending.values()])
  })
  server.on('connection', (socket) => {
    pending.set(socket, 0)
    socket.once('close', () => {
      pending.delete(socket)
      log('gone', pending.size)
    })
  })
  const port = await listen(server)
  const idle = await dial(port)
  await play(idle, [message('GET /idle', []), /answered/, { event: 'pending 0' }])
  const busy = await dial(port)
  await play(busy, [message('GET /held'), { event: 'request /held' }])
  stopping = true
  server.close(() => log('closed'))
  for (const [socket, count] of pending) if (count === 0) socket.end()
  await talk(idle, { event: 'gone 1' })
  held.end('at last')
  await talk(busy, { event: 'gone 0' })
  await logged('closed')
})
