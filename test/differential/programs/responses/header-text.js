'use strict'
// inject() of fastify and hapi reads the text of res._header, and error handlers ask headersSent, from
// before the head is decided until after the end.
// covers: 7
// breaks: header-forgotten

const http = require('node:http')
const { listen, log, message, program, talk } = require('../../kit')

program(async () => {
  const server = http.createServer((req, res) => {
    const tell = (when) => log(req.url, when, res._header, res.headersSent, res.statusCode)
    tell('before')
    res.setHeader('X-A', 'b')
    if (req.url === '/implicit') res._implicitHeader()
    if (req.url === '/head') res.writeHead(201, 'Made', { 'X-B': 'c' })
    if (req.url === '/write') res.write('w')
    if (req.url === '/flush') res.flushHeaders()
    tell('decided')
    res.on('finish', () => tell('finish'))
    res.end('e')
    tell('ended')
    log(res.getHeader('x-a'), /\r\nConnection: (.*)\r\n/i.exec(res._header)?.[1])
  })
  const port = await listen(server)
  for (const path of ['/none', '/implicit', '/head', '/write', '/flush']) await talk(port, message(`GET ${path}`))
})
