'use strict'
// Routers parse req.url themselves: it is the request target as it was sent.
// covers: 30
// breaks: target-decoded

const http = require('node:http')
const { listen, log, message, program, talk } = require('../../kit')

program(async () => {
  const server = http.createServer((req, res) => {
    log(req.url)
    res.end()
  })
  const port = await listen(server)
  const targets = ['/', '//a//b', '/a/../b/./c', '/%41%20b?x=%2f&y=a+b', '/?a?b', '/a;b=c', '/caf\xe9', '/a#b', '/[x]{y}|z^"<>`\\', 'http://other:81/path?q', '/'.padEnd(3000, 'long/')]
  for (let i = 0; i < 3; i++) for (const target of targets) await talk(port, message(`GET ${target}`))
  await talk(port, message('OPTIONS *'))
})
