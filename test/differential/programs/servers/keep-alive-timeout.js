'use strict'
// Behind a load balancer keepAliveTimeout is raised or lowered while serving: what is announced follows, and so does the close.
// covers: 28, 29, r14
// breaks: keep-alive-timeout-of-the-start, keep-alive-forever

const http = require('node:http')
const { dial, listen, log, logged, message, play, program, talk, within } = require('../../kit')

program(async () => {
  const server = http.createServer((req, res) => {
    if (req.url.startsWith('/set/')) server.keepAliveTimeout = Number(req.url.slice(5))
    res.end(req.url)
  })
  log(server.keepAliveTimeout)
  server.keepAliveTimeout = 72_000
  const port = await listen(server)
  const wire = await dial(port)
  await play(wire, [message('GET /1', []), /\/1$/, message('GET /set/3000', []), /3000$/, message('GET /2', []), /\/2$/])
  await play(wire, [message('GET /set/0', []), /\/0$/, message('GET /3', []), /\/3$/, message('GET /set/1', []), /\/1$/])
  const sent = process.hrtime.bigint()
  wire.socket.on('close', () => log('closed'))
  await play(wire, [message('GET /4', []), /\/4$/])
  if (await within(logged('closed'), 'late') === 'late') log('still open')
  log('not at once', process.hrtime.bigint() - sent > 500_000_000n)
  wire.destroy()
  await talk(wire, [], /./)
})
