'use strict'
// Downloads have file names beyond ASCII in a header; how its bytes look depends on the body behind it.
// covers: 10, 7
// breaks: head-always-latin1

const http = require('node:http')
const { listen, message, program, talk } = require('../../kit')

program(async () => {
  const server = http.createServer((req, res) => {
    res.setHeader('Content-Disposition', 'attachment; filename="\u00e9\u00ff.txt"')
    if (req.url === '/text') res.end('text')
    if (req.url === '/beyond') res.end('\u00e9')
    if (req.url === '/buffer') res.end(Buffer.from('\u00e9'))
    if (req.url === '/latin1') res.end('\u00e9', 'latin1')
    if (req.url === '/empty') res.end()
    if (req.url === '/chunked') res.setHeader('Transfer-Encoding', 'chunked').end('text')
    if (req.url === '/pieces') {
      res.write('a')
      res.end('b')
    }
    if (req.url === '/flushed') {
      res.flushHeaders()
      res.end('text')
    }
  })
  const port = await listen(server)
  for (const path of ['/text', '/beyond', '/buffer', '/latin1', '/empty', '/chunked', '/pieces', '/flushed']) await talk(port, message(`GET ${path}`))
  await talk(port, message('HEAD /text'))
})
