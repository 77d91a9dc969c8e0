'use strict'
// A WebSocket server pauses a client that sends too fast: the sender stops, and nothing is lost.
// covers: 21, r6
// breaks: upgraded-flood

const http = require('node:http')
const { clearInterval, setInterval } = require('node:timers')
const { dial, listen, log, logged, message, play, program, talk } = require('../../kit')

program(async () => {
  const total = 48 * 1024 * 1024
  const server = http.createServer()
  server.on('upgrade', (req, socket) => {
    let bytes = 0
    socket.on('data', (piece) => {
      bytes += piece.length
      if (bytes === total) socket.end()
    })
    socket.on('close', () => log('close', bytes))
    socket.pause()
    socket.write('HTTP/1.1 101 Switching Protocols\r\n\r\n')
    // Nothing says that a sender has stopped: nothing came for as long as this. A slow machine ends it early, with fewer bytes.
    let seen = -1
    const timer = setInterval(() => {
      const { bytesRead } = socket
      if (bytesRead !== seen) {
        seen = bytesRead
        return
      }
      clearInterval(timer)
      log('stopped', bytesRead < total / 2, bytes)
      socket.resume()
    }, 200)
  })
  const wire = await dial(await listen(server))
  await play(wire, [message('GET /', ['Upgrade: x', 'Connection: Upgrade']), /101/])
  wire.write(Buffer.alloc(total))
  await talk(wire, [])
  await logged('close')
})
