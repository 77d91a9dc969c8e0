'use strict'
// server.timeout without a listener: the connection is destroyed, and the open exchange hears of it.
// covers: 20, r14
// breaks: timeout-without-end

const http = require('node:http')
const { listen, logged, message, program, talk, watch } = require('../../kit')

program(async () => {
  const server = http.createServer((req, res) => {
    watch('request', req, ['aborted', 'error', 'close'])
    watch('response', res, ['finish', 'close'])
    watch('socket', req.socket, ['timeout', 'end', 'error', 'close'])
  })
  // The request comes within it, also on a busy machine.
  server.timeout = 500
  await talk(await listen(server), message('GET /', []))
  await logged('socket close')
})
