'use strict'
// A debugging proxy answers CONNECT by serving what comes through the tunnel itself: the socket goes back to the server.
// covers: 40, 39, 22
// breaks: tunnels-are-ours

const http = require('node:http')
const { dial, listen, log, message, play, program, talk } = require('../../kit')

program(async () => {
  const server = http.createServer((req, res) => {
    log(req.method, req.url, req.headers.host, req.socket.remoteAddress)
    req.on('data', (data) => log(String(data))).on('end', () => res.end(`intercepted ${req.url}`))
  })
  server.on('connect', (req, socket, head) => {
    log('connect', req.url, String(head))
    socket.write('HTTP/1.1 200 Connection Established\r\n\r\n')
    socket.unshift(head)
    server.emit('connection', socket)
  })
  const port = await listen(server)
  const wire = await dial(port)
  await play(wire, ['CONNECT b:80 HTTP/1.1\r\nHost: b:80\r\n\r\n', /Established\r\n\r\n/])
  await play(wire, [message('POST /1', ['Content-Length: 3'], 'abc'), /intercepted \/1/])
  await talk(wire, [message('GET /2')])
})
