'use strict'
// A long poll: the client leaves before there is an answer. Whoever holds the response hears of it at once.
// covers: 31
// breaks: leaving-unnoticed

const http = require('node:http')
const { setImmediate } = require('node:timers')
const { dial, listen, log, logged, message, play, program, watch } = require('../../kit')

program(async () => {
  const server = http.createServer((req, res) => {
    watch('request', req, ['aborted', 'error', 'end', 'close'])
    watch('response', res, ['finish', 'error', 'close'])
    log('request', req.complete, req.destroyed)
    res.on('close', () => {
      log(req.aborted, req.destroyed, req.complete, res.destroyed, res.writableEnded)
      res.end('too late', () => log('callback'))
    })
    req.socket.on('close', () => setImmediate(() => setImmediate(() => log('gone', res.writableFinished))))
  })
  const wire = await dial(await listen(server))
  await play(wire, [message('GET /', []), { event: 'request' }])
  wire.destroy()
  await logged('gone')
})
