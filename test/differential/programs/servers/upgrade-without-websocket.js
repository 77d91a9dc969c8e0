'use strict'
// sockjs answers a bad handshake through the socket of "upgrade" as if it were a response; docker's clients speak raw TCP after theirs.
// covers: 39, 21, r9
// breaks: upgraded-bytes-wait, upgrade-hands-no-bytes

const http = require('node:http')
const { dial, listen, log, logged, message, play, program, talk } = require('../../kit')

program(async () => {
  const server = http.createServer((req, res) => res.end('plain'))
  server.on('upgrade', (req, socket, head) => {
    log('upgrade', req.url, String(head), socket.writable, !socket._httpMessage)
    socket.on('close', () => log('close', req.url))
    if (req.url === '/refused') {
      log(socket.write('HTTP/1.1 400 Bad Request\r\nConnection: close\r\n'), socket.write('Content-Type: text/plain\r\n\r\n'))
      return socket.end('"Connection" must be "Upgrade"')
    }
    socket.write('HTTP/1.1 101 UPGRADED\r\nContent-Type: application/vnd.docker.raw-stream\r\n\r\n')
    socket.on('data', (data) => socket.write(String(data).toUpperCase()))
    socket.on('end', () => socket.end('bye'))
  })
  const port = await listen(server)
  await talk(port, message('GET /refused', ['Connection: Upgrade', 'Upgrade: websocket']))
  const wire = await dial(port)
  await play(wire, [message('POST /attach', ['Connection: Upgrade', 'Upgrade: tcp']), /101[^]*\r\n\r\n/, 'one', /ONE/, 'GET / HTTP/1.1\r\n\r\n', /HTTP\/1.1\r\n\r\n$/, null])
  await talk(wire, [])
  await logged('close /attach')
  await talk(port, message('GET /plain'))
})
