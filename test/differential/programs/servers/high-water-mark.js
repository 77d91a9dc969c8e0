'use strict'
// A proxy that carries large bodies raises highWaterMark for sockets, requests and responses.
// covers: 28, r10
// breaks: high-water-mark-of-requests, high-water-mark-of-responses

const http = require('node:http')
const { setImmediate } = require('node:timers')
const { listen, log, message, program, talk } = require('../../kit')

program(async () => {
  for (const highWaterMark of [undefined, 100_000, 10]) {
    const server = http.createServer(highWaterMark === undefined ? {} : { highWaterMark }, (req, res) => {
      const { socket } = req
      log(req.url, res.socket === null, req.readableHighWaterMark, res.writableHighWaterMark, socket.readableHighWaterMark, socket.writableHighWaterMark)
      log('write', res.write('x'.repeat(50)), res.writableNeedDrain)
      setImmediate(() => res.end())
      socket.on('end', () => {})
      log(socket.readableHighWaterMark, socket.writableHighWaterMark)
    })
    await talk(await listen(server), message('GET /1', []) + message('GET /2'))
  }
})
