'use strict'
// An upload that is too large is refused without '100 Continue': the client gets the answer alone.
// covers: 23, 32
// breaks: continue-too-early

const http = require('node:http')
const { listen, log, logged, message, program, talk, watch } = require('../../kit')

program(async () => {
  const server = http.createServer(() => log('request'))
  server.on('checkContinue', (req, res) => {
    watch('request', req, ['end', 'close'])
    watch('response', res, ['finish', 'close'])
    res.writeHead(413, { Connection: 'close' })
    res.end('too large')
  })
  await talk(await listen(server), message('PUT /', ['Expect: 100-continue', 'Content-Length: 100000000']))
  await logged('response close')
})
