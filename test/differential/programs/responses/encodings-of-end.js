'use strict'
// end() takes a string in any encoding, with and without a head decided before.
// covers: 9, 10
// breaks: encoding-ignored

const http = require('node:http')
const { listen, log, message, program, talk } = require('../../kit')

program(async () => {
  const server = http.createServer((req, res) => {
    const [, encoding, how] = req.url.split('/')
    const text = { hex: '00ff41', base64: 'AP9B', base64url: '__8', latin1: '\u00e9\u00ff', binary: '\u00e9', ascii: 'abc', utf16le: 'ab', utf8: '\u00e9', 'utf-8': '\u00e9', UTF8: '\u00e9' }[encoding]
    if (how === 'head') res.writeHead(200, { 'X-A': 'b' })
    try {
      res.end(text, encoding)
    } catch (error) {
      log(error.code)
      res.end()
    }
    log(req.url, res._contentLength)
  })
  const port = await listen(server)
  for (const encoding of ['hex', 'base64', 'base64url', 'latin1', 'binary', 'ascii', 'utf16le', 'utf8', 'utf-8', 'UTF8']) {
    for (const how of ['', 'head']) await talk(port, message(`GET /${encoding}/${how}`))
  }
})
