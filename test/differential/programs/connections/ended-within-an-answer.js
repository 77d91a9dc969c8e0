'use strict'
// An application ends the socket under a response that is being streamed: what was written arrives, the
// response is closed unfinished.
// covers: 31, 21
// breaks: open-answer-kept

const http = require('node:http')
const { setImmediate } = require('node:timers')
const { listen, log, logged, message, program, talk, watch } = require('../../kit')

program(async () => {
  const server = http.createServer((req, res) => {
    watch('request', req, ['aborted', 'error', 'close'])
    watch('response', res, ['finish', 'error', 'close'])
    req.socket.on('close', (hadError) => log('socket close', hadError, res.writableFinished))
    res.write('begun')
    setImmediate(() => {
      req.socket.end()
      log('ended', req.socket.writable, res.writable)
    })
  })
  await talk(await listen(server), message('GET /', []))
  await logged('socket close')
})
