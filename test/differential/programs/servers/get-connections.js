'use strict'
// Health checks (terminus, express-status-monitor) ask how many connections are open.
// covers: 27
// breaks: light-sockets-not-uncounted, upgraded-not-counted

const http = require('node:http')
const { promisify } = require('node:util')
const { dial, listen, log, logged, message, play, program } = require('../../kit')

program(async () => {
  const server = http.createServer((req, res) => {
    if (req.url === '/destroy') req.socket.destroy()
    else res.end('served')
  })
  server.on('upgrade', (req, socket) => {
    socket.write('HTTP/1.1 101 Switching Protocols\r\n\r\n')
    socket.on('end', () => socket.end()).on('close', () => log('upgraded closed')).resume()
  })
  const getConnections = promisify(server.getConnections).bind(server)
  log('before listen', await getConnections())
  const port = await listen(server)
  let isLater = false
  server.getConnections((error, count) => log('none', error, count, isLater))
  isLater = true
  const idle = await dial(port)
  await play(idle, [message('GET /', []), /served$/])
  const upgraded = await dial(port)
  await play(upgraded, [message('GET /', ['Connection: Upgrade', 'Upgrade: x']), /101/])
  log('two', await getConnections())
  const destroyed = await dial(port)
  await play(destroyed, [message('GET /destroy', [])])
  await destroyed.untilClosed()
  log('two', await getConnections())
  upgraded.socket.end()
  await logged('upgraded closed')
  log('one', await getConnections())
  server.close(() => log('closed'))
  await logged('closed')
  log('none', await getConnections())
})
