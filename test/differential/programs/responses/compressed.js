'use strict'
// compression replaces write(), end() and on(), and decides when the head is written whether it
// compresses.
// covers: 8, 9
// breaks: chunks-unframed

const http = require('node:http')
const compression = require('compression')
const connect = require('connect')
const { listen, message, program, talk } = require('../../kit')

program(async () => {
  const app = connect().use(compression({ threshold: 10 })).use((req, res) => {
    res.setHeader('Content-Type', req.url === '/image' ? 'image/png' : 'text/plain')
    if (req.url === '/short') res.end('short')
    else if (req.url === '/pieces') {
      res.write('a piece of text, ')
      res.flush()
      res.end('another one')
    } else {
      res.setHeader('Content-Length', 60)
      res.end('a text '.repeat(10).slice(0, 60))
    }
  })
  const port = await listen(http.createServer(app))
  for (const path of ['/long', '/short', '/pieces', '/image']) {
    await talk(port, message(`GET ${path}`, ['Connection: close', 'Accept-Encoding: gzip']))
  }
  await talk(port, message('HEAD /long', ['Connection: close', 'Accept-Encoding: gzip']))
})
