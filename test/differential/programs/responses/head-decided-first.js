'use strict'
// engine.io, graphql-http and Restify write the head, look at it, and end the response later.
// covers: 8, 7
// breaks: header-made-again

const http = require('node:http')
const { setImmediate } = require('node:timers')
const { listen, log, message, program, talk } = require('../../kit')

program(async () => {
  const server = http.createServer((req, res) => {
    const { writeHead } = res
    let heads = 0
    res.writeHead = function (...args) {
      heads++
      return Reflect.apply(writeHead, this, args)
    }
    res.on('finish', () => log(req.url, heads))
    if (req.url === '/chain') res.writeHead(400, { 'Content-Type': 'text/plain' }).end('no')
    else if (req.url === '/implicit') {
      res._implicitHeader()
      res.end('decided')
    } else {
      res.writeHead(200, { 'Content-Length': '5' })
      setImmediate(() => res.end('later'))
    }
  })
  const port = await listen(server)
  for (const path of ['/chain', '/implicit', '/later']) await talk(port, message(`GET ${path}`))
})
