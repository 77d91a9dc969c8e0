'use strict'
// on-headers (express-session, compression, morgan) replaces writeHead on a response; end() and write()
// must come through it, also for the shortest answers.
// covers: 8, r1
// breaks: saved-implicit-header

const http = require('node:http')
const { listen, log, message, program, talk } = require('../../kit')

program(async () => {
  const server = http.createServer((req, res) => {
    const { writeHead } = res
    res.writeHead = function (...args) {
      log('writeHead', req.url, args)
      this.setHeader('X-Late', '1')
      return writeHead.apply(this, args)
    }
    if (req.url === '/write') res.write('a')
    if (req.url === '/flush') res.flushHeaders()
    res.end('b')
  })
  const port = await listen(server)
  for (const path of ['/end', '/write', '/flush']) await talk(port, message(`GET ${path}`))
})
