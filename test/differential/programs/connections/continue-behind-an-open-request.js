'use strict'
// '100 Continue' for a request whose turn has not come waits for it: it must not get between the bytes of
// the answer before it.
// covers: 23, 35
// breaks: turns-ignored

const http = require('node:http')
const { setImmediate } = require('node:timers')
const { listen, log, message, program, talk } = require('../../kit')

program(async () => {
  let first
  const server = http.createServer((req, res) => {
    log('request', req.url)
    if (req.url === '/1') {
      first = res
      res.write('begun ')
      return
    }
    req.on('data', (piece) => log(String(piece)))
    req.on('end', () => res.end('second'))
    setImmediate(() => first.end('first'))
  })
  await talk(await listen(server), [
    message('GET /1', []), /begun/, message('POST /2', ['Expect: 100-continue', 'Content-Length: 4', 'Connection: close']), /first/, /100 Continue/, 'body'
  ])
})
