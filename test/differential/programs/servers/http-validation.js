'use strict'
// Since Node 24 httpValidation says how lenient a server is, beside the older insecureHTTPParser.
// covers: 28
// breaks: never-lenient

const http = require('node:http')
const { listen, log, message, program, talk } = require('../../kit')

program(async () => {
  for (const options of [{ httpValidation: 'relaxed' }, { httpValidation: 'insecure' }, { httpValidation: 'strict' }, { insecureHTTPParser: true }]) {
    const name = Object.values(options)[0]
    const server = http.createServer(options, (req, res) => {
      log(name, req.headers['x-a'], req.headers['transfer-encoding'])
      try {
        res.setHeader('X-B', 'c\x01d')
      } catch (error) {
        log(name, error.code)
      }
      res.end('served')
    })
    const port = await listen(server)
    log(name, server.httpValidation)
    await talk(port, message('GET /', ['X-A: a\x01b', 'Connection: close']))
    await talk(port, message('GET /', ['X-A: fine', 'Connection: close']))
    await talk(port, message('GET /', ['Connection: close', 'Transfer-Encoding: chunked', 'Transfer-Encoding: chunked'], '0\r\n\r\n'))
  }
  for (const options of [{ httpValidation: 'no' }, { httpValidation: 'strict', insecureHTTPParser: true }]) {
    try {
      http.createServer(options)
      log('no error')
    } catch (error) {
      log(error.code)
    }
  }
})
