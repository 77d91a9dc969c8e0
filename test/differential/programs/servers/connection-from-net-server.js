'use strict'
// One port for HTTP and another protocol: a net.Server looks at the first byte and passes the socket on.
// covers: 40
// breaks: engine-handles-only

const http = require('node:http')
const net = require('node:net')
const { listen, listening, log, message, program, talk, watch } = require('../../kit')
const { once } = require('node:events')

program(async () => {
  const server = http.createServer((req, res) => {
    log(req.url, req.socket.remoteAddress, req.socket.server === front, req.socket instanceof net.Socket)
    res.end('http')
  })
  watch('server', server, ['connection', 'clientError'])
  await listen(server)
  const front = net.createServer((socket) => {
    socket.once('readable', () => {
      const first = socket.read()
      if (first === null) return
      if (first[0] === 0) return socket.end('other')
      socket.unshift(first)
      server.emit('connection', socket)
    })
  })
  front.listen(0, '127.0.0.1')
  await once(front, 'listening')
  const port = listening(front)
  await talk(port, message('GET /1'))
  await talk(port, Buffer.from([0]))
  await talk(port, [message('GET /2', []), /http$/, message('GET /3')])
  await talk(server.address().port, message('GET /4'))
})
