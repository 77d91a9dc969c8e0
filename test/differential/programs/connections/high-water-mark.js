'use strict'
// createServer({ highWaterMark }) is that of the connection, of its requests and of its responses.
// covers: r10
// breaks: mark-of-the-socket

const http = require('node:http')
const { listen, log, message, program, talk } = require('../../kit')

program(async () => {
  for (const highWaterMark of [undefined, 10, 100]) {
    const server = http.createServer({ highWaterMark }, (req, res) => {
      const { socket } = req
      log(socket.readableHighWaterMark, socket.writableHighWaterMark, req.readableHighWaterMark, res.writableHighWaterMark)
      socket.on('close', () => {})
      log(socket.readableHighWaterMark, socket.writableHighWaterMark, socket._writableState.highWaterMark)
      log(res.write('abcde'), res.write('a'.repeat(20)), res.writableNeedDrain)
      res.on('drain', () => {
        log('drain')
        res.end()
      })
      if (!res.writableNeedDrain) res.end()
    })
    await talk(await listen(server), message('GET /'))
  }
})
