'use strict'
// busboy and pino read with 'readable' and read(): sizes as asked for, null in between, then the end.
// covers: 34
// breaks: body-before-its-reader

const http = require('node:http')
const { listen, log, message, program, talk } = require('../../kit')

program(async () => {
  const server = http.createServer((req, res) => {
    req.on('readable', () => {
      log('readable', req.readableLength)
      for (let piece; (piece = req.read(3)) !== null;) log('read', String(piece))
    })
    req.on('end', () => {
      log('end', req.readableEnded)
      res.end()
    })
    req.on('close', () => log('close'))
    log('request', req.readableLength, req.read())
  })
  const port = await listen(server)
  await talk(port, message('POST /', ['Connection: close', 'Content-Length: 8'], 'abcdefgh'))
  await talk(port, [message('POST /', ['Connection: close', 'Transfer-Encoding: chunked']), '2\r\nab\r\n', { event: 'readable 2' }, '2\r\ncd\r\n0\r\n\r\n'])
})
