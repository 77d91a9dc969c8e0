'use strict'
// server.setTimeout() ends what a handler of Express never answers, or calls the application.
// covers: 28, 20, r14
// breaks: server-timeout-ignored

const express = require('express')
const http = require('node:http')
const { dial, listen, log, message, play, program, answer, within } = require('../../kit')

program(async () => {
  for (const handled of [false, true]) {
    const app = express()
    app.use((req, res) => {
      log('request', handled)
      res.on('close', () => log('close', handled, res.writableEnded))
    })
    const server = http.createServer(app)
    server.setTimeout(200)
    if (handled) {
      server.on('timeout', (socket) => {
        log('timeout', socket.timeout)
        socket.end('HTTP/1.1 503 Too Slow\r\nConnection: close\r\n\r\n')
      })
    }
    const wire = await dial(await listen(server))
    await play(wire, [message('GET /')])
    await within(wire.untilClosed())
    answer(wire.closed, wire.text)
  }
})
