'use strict'
// An upgrade that nobody listens to (h2c probes) is an ordinary request, also with a body, and the
// connection goes on.
// covers: 22
// breaks: upgrade-claimed

const http = require('node:http')
const { listen, log, message, program, talk } = require('../../kit')

program(async () => {
  const server = http.createServer((req, res) => {
    let body = ''
    log(req.method, req.url, req.upgrade, req.headers.upgrade, req.headers.connection, res.shouldKeepAlive)
    req.on('data', (piece) => { body += piece })
    req.on('end', () => {
      log('end', req.complete)
      res.end(`got ${body};`)
    })
  })
  await talk(await listen(server), [
    message('GET /1', ['Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABkAAQAAP__']), /got ;/,
    message('POST /2', ['Connection: Upgrade', 'Upgrade: x', 'Content-Length: 4'], 'body'), /got body;/,
    message('GET /3')
  ])
})
