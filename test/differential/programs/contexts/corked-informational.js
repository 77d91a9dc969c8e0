'use strict'
// A framework that corks the socket around hints and an answer still sends them in that order.
// covers: 38, 21
// breaks: corks-overtaken

const http = require('node:http')
const { setImmediate } = require('node:timers')
const { listen, log, message, program, talk } = require('../../kit')

program(async () => {
  const server = http.createServer((req, res) => {
    const { socket } = res
    socket.cork()
    res.writeEarlyHints({ link: '</a.css>; rel=preload' })
    if (req.url === '/write') res.write('piece')
    if (req.url === '/processing') res.writeProcessing()
    log(req.url, socket.writableCorked, socket.writableLength > 0)
    res.end('final')
    setImmediate(() => {
      log(req.url, socket.writableCorked)
      socket.uncork()
    })
  })
  const port = await listen(server)
  for (const path of ['/end', '/write', '/processing']) {
    await talk(port, [message(`GET ${path}`, []), /final/, message(`GET ${path}`)])
  }
})
