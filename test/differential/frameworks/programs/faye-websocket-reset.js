'use strict'
// faye-websocket after an upgrade: an echo, and a peer that resets the connection is no 'clientError' of the server.
// covers: 21, r9, 24
// breaks: http-error-listener-left-after-upgrade

const http = require('node:http')
const FayeWebSocket = require('faye-websocket')
const { answer, dial, listen, log, logged, message, play, program } = require('../../kit')

program(async () => {
  const server = http.createServer()
  server.on('clientError', (error) => log('clientError', error.code))
  server.on('upgrade', (req, socket, head) => {
    const ws = new FayeWebSocket(req, socket, head)
    ws.on('message', ({ data }) => ws.send(`${data}!`))
    ws.on('close', ({ code }) => log('close', code))
    socket.on('error', (error) => log('socket error', error.code))
    socket.on('close', (hadError) => log('socket close', hadError))
  })
  const wire = await dial(await listen(server))
  await play(wire, [
    message('GET /', ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==']), /\r\n\r\n/,
    '\x81\x82\0\0\0\0hi', /hi!/
  ])
  answer(wire.text)
  wire.socket.resetAndDestroy()
  await logged('socket close')
})
