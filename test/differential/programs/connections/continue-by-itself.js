'use strict'
// curl waits for '100 Continue' before it sends a large body; without a listener Node says it, before
// the handler runs.
// covers: 23
// breaks: continue-not-sent

const http = require('node:http')
const { listen, log, message, program, talk } = require('../../kit')

program(async () => {
  const server = http.createServer((req, res) => {
    log('request', req.headers.expect, req.complete, res.headersSent)
    req.on('data', (piece) => log('data', String(piece)))
    req.on('end', () => res.end('done;'))
  })
  await talk(await listen(server), [
    message('POST /', ['Expect: 100-continue', 'Content-Length: 4']), /100 Continue\r\n\r\n/, 'body', /done;/,
    message('POST /', ['EXPECT: 100-Continue', 'Transfer-Encoding: chunked']), /100 Continue[^]*100 Continue/, '1\r\na\r\n0\r\n\r\n', /done;[^]*done;/,
    message('GET /', ['Expect: 100-continue', 'Connection: close'])
  ])
})
