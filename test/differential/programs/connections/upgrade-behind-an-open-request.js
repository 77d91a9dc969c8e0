'use strict'
// An upgrade that nobody listens to, behind a request that is still being answered, waits for its turn.
// covers: 21, 35, r9
// breaks: upgrade-claimed

const http = require('node:http')
const { listen, log, message, program, talk } = require('../../kit')

program(async () => {
  let first
  const server = http.createServer((req, res) => {
    log('request', req.url, req.upgrade)
    if (req.url === '/1') {
      first = res
      return
    }
    res.end('second;')
    first.end('first;')
  })
  await talk(await listen(server), [
    message('GET /1', []), { event: 'request /1' }, message('GET /2', ['Connection: Upgrade', 'Upgrade: x'])
  ], /second;/)
})
