'use strict'
// fastify listens on each address of "localhost": a second server with the same handler passes its upgrades to the first.
// covers: 26, 39
// breaks: servers-no-head

const http = require('node:http')
const { listen, log, message, program, talk } = require('../../kit')

program(async () => {
  const handler = (req, res) => res.end(`${req.socket.localAddress} ${req.socket.server === main}`)
  const main = http.createServer(handler)
  main.on('upgrade', (req, socket, head) => {
    log('upgrade', req.socket.server === main, socket.localAddress, Buffer.isBuffer(head), String(head))
    socket.end('HTTP/1.1 101 Switching Protocols\r\n\r\nbye')
  })
  const port = await listen(main)
  const second = http.createServer(handler)
  second.on('upgrade', main.emit.bind(main, 'upgrade'))
  main.on('close', () => second.close(() => log('second closed')))
  await listen(second, port, '127.0.0.2')
  for (const host of ['127.0.0.1', '127.0.0.2']) {
    await talk({ port, host }, message('GET /'))
    await talk({ port, host }, [message('GET /', ['Connection: Upgrade', 'Upgrade: x']), /bye/, null])
  }
})
