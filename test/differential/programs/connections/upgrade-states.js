'use strict'
// ws and engine.io look into the streams' states of a socket: at the upgrade, after a write, at both ends.
// covers: 21, r4
// breaks: raw-not-counted

const http = require('node:http')
const { listen, log, logged, message, program, talk } = require('../../kit')

program(async () => {
  const server = http.createServer()
  server.on('upgrade', (req, socket) => {
    const look = (when) => {
      const { _readableState: r, _writableState: w } = socket
      log(when, socket.readable, socket.writable, socket.readyState, socket.destroyed)
      log('  read', r.length, r.ended, r.endEmitted, socket.bytesRead, 'written', w.length, w.ended, w.finished, w.errorEmitted, socket.bytesWritten)
    }
    look('upgrade')
    socket.write('HTTP/1.1 101 Switching Protocols\r\n\r\n')
    look('written')
    socket.on('data', () => look('data'))
    socket.on('end', () => {
      look('end')
      socket.end('last')
      look('ended')
    })
    socket.on('finish', () => look('finish'))
    socket.on('close', () => look('close'))
  })
  await talk(await listen(server), [message('GET /', ['Upgrade: x', 'Connection: Upgrade']), /101/, 'abc', { event: 'data' }, null])
  await logged('close')
})
