'use strict'
// The first of two answers closes the connection: the second request is given up.
// covers: 35, 32
// breaks: closing-answer-forgotten

const http = require('node:http')
const { setImmediate } = require('node:timers')
const { listen, log, logged, message, program, talk, watch } = require('../../kit')

program(async () => {
  let first
  const server = http.createServer((req, res) => {
    watch(req.url, req, ['aborted', 'error', 'close'])
    watch(req.url, res, ['finish', 'close'])
    log('request', req.url)
    if (req.url === '/1') {
      first = res
      return
    }
    req.socket.on('close', () => setImmediate(() => log('over', res.writableFinished, res.destroyed)))
    res.end('second')
    first.setHeader('Connection', 'close')
    first.end('first')
  })
  await talk(await listen(server), [message('GET /1', []), { event: 'request /1' }, message('GET /2', [])])
  await logged('over')
})
