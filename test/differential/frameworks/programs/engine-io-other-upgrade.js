'use strict'
// engine.io ends upgrades of other paths that nobody has written to after a while, which it sees at bytesWritten.
// covers: 21, r4
// breaks: bytes-written-said-zero

const http = require('node:http')
const { Server } = require('socket.io')
const { answer, dial, listen, message, play, program } = require('../../kit')

program(async () => {
  const server = http.createServer()
  const io = new Server(server, { destroyUpgradeTimeout: 100 })
  const sockets = []
  server.on('upgrade', (req, socket) => {
    sockets.push(socket)
    if (req.url === '/served') socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: other\r\nConnection: Upgrade\r\n\r\n')
  })
  const port = await listen(server)
  const upgrade = ['Connection: Upgrade', 'Upgrade: other']
  const served = await dial(port)
  await play(served, [message('GET /served', upgrade), /\r\n\r\n/])
  const ignored = await dial(port)
  await play(ignored, [message('GET /ignored', upgrade)])
  answer('ignored', await ignored.untilClosed())
  answer('served', served.text, served.ended, sockets.map(({ bytesWritten }) => bytesWritten))
  served.destroy()
  io.close()
})
