'use strict'
// Tests of handlers emit "request" themselves, and a proxy hands a request on to another server.
// covers: 4
// breaks: handler-called-directly

const http = require('node:http')
const { listen, log, message, program, talk } = require('../../kit')

program(async () => {
  const inner = http.createServer((req, res) => res.end(`inner ${req.url}`))
  const outer = http.createServer()
  outer.on('request', function (req, res) {
    log('outer', req.url, this === outer)
    if (req.url === '/inner') log('handled', inner.emit('request', req, res))
    else res.end('outer')
  })
  outer.once('request', () => log('once'))
  const port = await listen(outer)
  for (const path of ['/inner', '/']) await talk(port, message(`GET ${path}`))
  log(outer.emit('request', { url: '/made' }, { end: (text) => log('made', text) }))
  log(http.createServer().emit('request'))
})
