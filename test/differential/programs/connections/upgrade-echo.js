'use strict'
// ws gives the bytes that came behind the handshake back to the socket, reads it as a stream and closes it.
// covers: 21, r9
// breaks: head-lost

const http = require('node:http')
const { listen, log, logged, message, program, talk, watch } = require('../../kit')

program(async () => {
  const server = http.createServer(() => log('request'))
  server.on('upgrade', (req, socket, head) => {
    log('upgrade', req.method, req.url, req.upgrade, req.complete, req.headers.upgrade, head.toString())
    watch('socket', socket, ['end', 'finish', 'close'])
    socket.setTimeout(0)
    socket.setNoDelay()
    if (head.length > 0) socket.unshift(head)
    socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: echo\r\nConnection: Upgrade\r\n\r\n')
    socket.on('data', (piece) => {
      log('data', piece.toString())
      socket.write(`<${piece}>`)
      if (String(piece) === 'bye') socket.end()
    })
  })
  const first = message('GET /chat', ['Upgrade: echo', 'Connection: Upgrade'], 'head')
  await talk(await listen(server), [first, /101/, 'more', /more/, 'bye'])
  await logged('socket close')
})
