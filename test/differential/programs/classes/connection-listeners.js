'use strict'
// Applications prepare each connection when it comes, before its first request, also one that never
// asks anything.
// covers: 16, 15
// breaks: connection-not-announced

const http = require('node:http')
const { dial, listen, log, logged, message, play, program, talk } = require('../../kit')

program(async () => {
  let count = 0
  const server = http.createServer((req, res) => {
    log('request', req.socket.number, req.url)
    res.end(`${req.socket.number}`)
  })
  server.prependListener('connection', (socket) => {
    socket.number = ++count
    log('connection', socket.number, socket.readyState, socket.destroyed, socket._httpMessage)
  })
  server.on('connection', (socket) => {
    const { number } = socket
    socket.setNoDelay(true)
    socket.setKeepAlive(true, 1000)
    socket.once('close', () => log('close', number))
  })
  const port = await listen(server)
  await talk(port, message('GET /a'))
  await logged('close 1')
  const silent = await dial(port)
  await play(silent, [{ event: 'connection 2' }, null, { event: 'close 2' }])
  await talk(port, [message('GET /b', []), /1 200 OK[^]*3$/, message('GET /c')])
  await logged('close 3')
})
