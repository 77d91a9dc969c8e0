'use strict'
// faye-websocket ends with destroySoon(): what was written before, also more than fits a socket buffer,
// arrives first.
// covers: 21
// breaks: soon-is-now

const http = require('node:http')
const { answer, dial, listen, log, logged, message, play, program, watch } = require('../../kit')

program(async () => {
  const server = http.createServer()
  server.on('upgrade', (req, socket) => {
    watch('socket', socket, ['finish', 'close'])
    socket.write('HTTP/1.1 101 Switching Protocols\r\n\r\n')
    for (let i = 0; i < 64; i++) socket.write(Buffer.alloc(256 * 1024, i))
    socket.destroySoon()
    log('soon', socket.destroyed, socket.writable)
  })
  const wire = await dial(await listen(server))
  await play(wire, [message('GET /', ['Upgrade: x', 'Connection: Upgrade'])])
  await wire.untilClosed()
  answer(wire.text.length)
  await logged('socket close')
})
