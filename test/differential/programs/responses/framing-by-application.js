'use strict'
// Proxies and streaming handlers take Node's framing headers away or write their own.
// covers: 11, 10
// breaks: chunks-unframed

const http = require('node:http')
const { listen, log, message, program, talk } = require('../../kit')

program(async () => {
  const ways = {
    chunked: (res) => res.setHeader('Transfer-Encoding', 'chunked'),
    'no-length': (res) => res.removeHeader('Content-Length'),
    'no-chunks': (res) => res.removeHeader('Transfer-Encoding'),
    neither: (res) => {
      res.removeHeader('Content-Length')
      res.removeHeader('Transfer-Encoding')
    },
    'not-by-default': (res) => { res.useChunkedEncodingByDefault = false },
    'no-connection': (res) => res.removeHeader('Connection'),
    'no-date': (res) => { res.sendDate = false },
    'own-date': (res) => res.setHeader('Date', 'then'),
    length: (res) => res.setHeader('content-length', 4),
    head: (res) => res.writeHead(200, { 'Transfer-Encoding': 'chunked', 'X-A': 'b' }),
  }
  const server = http.createServer((req, res) => {
    const [, name, how] = req.url.split('/')
    ways[name](res)
    if (how === 'pieces') res.write('te')
    res.end(how === 'pieces' ? 'xt' : 'text')
    log(req.url, res._last, res.shouldKeepAlive, res.chunkedEncoding)
  })
  const port = await listen(server)
  for (const name of Object.keys(ways)) {
    for (const how of ['once', 'pieces']) await talk(port, message(`GET /${name}/${how}`))
  }
})
