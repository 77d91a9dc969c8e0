'use strict'
// Sticky sessions: a parent accepts with net, picks a worker by address and sends it the socket, where emit("connection") serves it.
// covers: 42, 40
// breaks: engine-handles-only

const { fork } = require('node:child_process')
const http = require('node:http')
const net = require('node:net')
const { once } = require('node:events')
const { log, listening, message, program, talk } = require('../../kit')

if (process.argv[2] === 'child') {
  const server = http.createServer((req, res) => {
    res.end(`${req.url} in the worker ${req.socket.remoteAddress}`)
  })
  server.listen(0, '127.0.0.1', () => process.send('ready'))
  process.on('disconnect', () => process.exit())
  process.on('message', (text, socket) => {
    if (text === 'leave') return server.close(() => process.disconnect())
    server.emit('connection', socket)
    socket.resume()
  })
} else {
  program(async () => {
    const child = fork(__filename, ['child'])
    await once(child, 'message')
    const front = net.createServer({ pauseOnConnect: true }, (socket) => child.send('sticky-session:connection', socket))
    front.listen(0, '127.0.0.1')
    await once(front, 'listening')
    const port = listening(front)
    await talk(port, message('GET /1'))
    await talk(port, [message('GET /2', []), /worker/, message('GET /3')])
    child.send('leave')
    log('exit', ...await once(child, 'exit'))
    front.close()
  })
}
