'use strict'
// An upload proxy lowers the mark of a connection: its responses obey it, before their turn and while they are corked.
// covers: r10, 35
// breaks: mark-of-the-server

const http = require('node:http')
const { setImmediate } = require('node:timers')
const { listen, log, message, program, talk } = require('../../kit')

program(async () => {
  const server = http.createServer((req, res) => {
    log(req.url, res.socket === null, res.writableHighWaterMark)
    if (req.url === '/corked') res.cork()
    log(req.url, res.write('a'.repeat(10)), res.write('b'.repeat(1000)), res.writableNeedDrain)
    setImmediate(() => setImmediate(() => res.end()))
  })
  server.on('connection', (socket) => { socket._writableState.highWaterMark = 1000 })
  const port = await listen(server)
  await talk(port, message('GET /corked'))
  await talk(port, message('GET /first', []) + message('GET /waiting'))
})
