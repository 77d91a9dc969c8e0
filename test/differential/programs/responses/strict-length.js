'use strict'
// Applications that set strictContentLength want to hear of a body of another length.
// covers: 11, 10
// breaks: strict-length-ignored

const http = require('node:http')
const { listen, log, logged, message, program, talk } = require('../../kit')

program(async () => {
  const server = http.createServer((req, res) => {
    res.strictContentLength = true
    res.setHeader('Content-Length', 4)
    res.on('close', () => log('close', req.url))
    try {
      res.end(req.url.slice(1))
      log(req.url, 'taken', res.writableEnded)
    } catch (error) {
      log(req.url, error.code, error.message, res.writableEnded, res.headersSent)
      req.socket.destroy()
    }
  })
  const port = await listen(server)
  for (const path of ['/text', '/too-long', '/no']) {
    await talk(port, message(`GET ${path}`))
    await logged(`close ${path}`)
  }
})
