'use strict'
// stoppable, terminator and server-destroy forget a connection on its 'close', however it came to its end.
// covers: r3, 16
// breaks: socket-close-lost

const http = require('node:http')
const { listen, log, logged, message, program, talk } = require('../../kit')

program(async () => {
  const ends = {
    '/answered': (socket, res) => res.end(),
    '/destroyed': (socket) => socket.destroy(),
    '/failed': (socket) => socket.destroy(new Error('mine')),
    '/reset': (socket) => socket.resetAndDestroy(),
    '/ended': (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'),
    '/soon': (socket) => socket.destroySoon(),
  }
  let ended = 0
  const server = http.createServer((req, res) => {
    const { socket } = req
    for (const type of ['finish', 'error']) socket.on(type, () => log(req.url, type))
    socket.on('close', (hadError) => {
      log(req.url, 'close', hadError, socket.destroyed, socket.closed)
      log(`closed ${++ended}`)
    })
    ends[req.url](socket, res)
  })
  const port = await listen(server)
  let number = 0
  for (const url of Object.keys(ends)) {
    await talk(port, message(`GET ${url}`))
    await logged(`closed ${++number}`)
  }
})
