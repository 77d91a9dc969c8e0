'use strict'
// Old devices send what only insecureHTTPParser accepts; the server beside it stays strict.
// covers: 28
// breaks: never-lenient

const http = require('node:http')
const { listen, log, message, program, talk } = require('../../kit')

program(async () => {
  for (const options of [{ insecureHTTPParser: true }, {}, { insecureHTTPParser: false }]) {
    const server = http.createServer(options, (req, res) => {
      log('request', req.headers['x-a'])
      res.end('served')
    })
    const port = await listen(server)
    await talk(port, message('GET /', ['X-A: a\x01b', 'Connection: close']))
    await talk(port, message('GET /', ['X-A: fine', 'Connection: close']))
  }
})
