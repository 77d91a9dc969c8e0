'use strict'
// A keep-alive connection is upgraded after ordinary requests: the same socket, and what was set on it
// is still there.
// covers: 21, 35
// breaks: head-lost

const http = require('node:http')
const { listen, log, message, program, talk } = require('../../kit')

program(async () => {
  const server = http.createServer((req, res) => {
    req.socket.mark = [...req.socket.mark ?? [], req.url]
    res.end('plain')
  })
  const seen = new Set()
  server.on('connection', (socket) => seen.add(socket))
  server.on('upgrade', (req, socket, head) => {
    log(socket.mark, seen.has(socket), socket.bytesRead, head.length)
    socket.end('HTTP/1.1 101 Switching Protocols\r\n\r\n')
  })
  await talk(await listen(server), [
    message('GET /1', []), /plain/, message('GET /2', []), /plain[^]*plain/,
    message('GET /3', ['Connection: Upgrade', 'Upgrade: x'], 'head')
  ])
})
