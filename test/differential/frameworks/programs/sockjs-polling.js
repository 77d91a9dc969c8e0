'use strict'
// sockjs takes over the server's 'request' and 'upgrade' listeners; sessions over xhr polling, the application answers the rest.
// covers: 6, 17, 19
// breaks: listeners-captured-at-creation

const http = require('node:http')
const sockjs = require('sockjs')
const { answer, dial, listen, log, message, play, program } = require('../../kit')

program(async () => {
  const echo = sockjs.createServer({ log: () => {}, disconnect_delay: 2000, heartbeat_delay: 60_000 })
  echo.on('connection', (connection) => {
    log('connection', connection.protocol, connection.remoteAddress, typeof connection.remotePort, connection.pathname, connection.headers['x-forwarded-for'])
    connection.on('data', (text) => connection.write(text.toUpperCase()))
    connection.on('close', () => log('close'))
  })
  const server = http.createServer((req, res) => res.end(`application ${req.url}`))
  echo.installHandlers(server, { prefix: '/echo' })
  const port = await listen(server)
  const ask = async (line, body) => {
    const wire = await dial(port)
    await play(wire, [message(line, ['Origin: http://b', 'Connection: close', ...body === undefined ? [] : [`Content-Length: ${body.length}`]], body)])
    answer(line, (await wire.untilClosed()).replace(/\w+(\r\n.*"entropy":)\d+/, 'size$1number').replace(/Expires: .*GMT/, 'Expires: in a year'))
  }
  await ask('GET /page')
  await ask('GET /echo')
  await ask('GET /echo/info')
  await ask('OPTIONS /echo/info')
  await ask('POST /echo/0/s/xhr', '')
  await ask('POST /echo/0/s/xhr_send', '["word"]')
  await ask('POST /echo/0/s/xhr', '')
  await ask('POST /echo/0/s/xhr_send', 'broken')
  await ask('POST /echo/0/none/xhr_send', '["word"]')
  await ask('GET /echo/0/s/xhr')
})
