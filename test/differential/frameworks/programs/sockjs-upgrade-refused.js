'use strict'
// sockjs answers an upgrade that is no WebSocket through an imitation of a response, which writes to the socket.
// covers: 39, 22
// breaks: only-upgrade-listener-overlooked

const http = require('node:http')
const sockjs = require('sockjs')
const { answer, dial, listen, log, message, play, program, within } = require('../../kit')

program(async () => {
  const echo = sockjs.createServer({ log: (severity, text) => log(severity, text.replace(/\d+ms/, 'ms')) })
  const server = http.createServer((req, res) => res.end('application'))
  echo.installHandlers(server, { prefix: '/echo' })
  const port = await listen(server)
  for (const [line, ...headers] of [
    ['GET /echo/websocket', 'Upgrade: other'], ['GET /echo/0/s/websocket', 'Upgrade: websocket', 'Sec-WebSocket-Version: 1'],
    ['POST /echo/websocket', 'Upgrade: websocket'], ['GET /echo/nothing/here', 'Upgrade: websocket']
  ]) {
    const wire = await dial(port)
    await play(wire, [message(line, ['Connection: Upgrade', ...headers])])
    await within(wire.untilClosed())
    answer(line, wire.closed, wire.text)
    wire.destroy()
  }
})
