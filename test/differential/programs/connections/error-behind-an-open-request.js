'use strict'
// hapi: a malformed request behind ones that are being answered. Those are given up, the reply is 400.
// covers: 24, 31, r12, r13
// breaks: only-the-first-aborted

const http = require('node:http')
const { listen, log, logged, message, program, talk, watch } = require('../../kit')

program(async () => {
  const server = http.createServer((req, res) => {
    watch(req.url, req, ['aborted', 'error', 'close'])
    if (req.url === '/1') watch(req.url, res, ['finish', 'close'])
    req.socket.once('close', (hadError) => log('socket close', hadError))
    log('request', req.url)
  })
  await talk(await listen(server), [message('GET /1', []), { event: 'request /1' }, message('GET /2', []), { event: 'request /2' }, 'garbage\r\n\r\n'])
  await logged('socket close')
})
