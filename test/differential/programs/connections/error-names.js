'use strict'
// hapi, restify and fastify map the code of a 'clientError' to an answer of their own, and log its details.
// covers: 24, r12
// breaks: own-error-names

const http = require('node:http')
const { listen, log, message, program, talk } = require('../../kit')

program(async () => {
  const server = http.createServer((req) => req.resume().on('error', () => {}))
  server.on('clientError', (error, socket) => {
    log(error.name, error.code, error.message, error.reason, error.bytesParsed, error.rawPacket?.length, error.rawPacket?.toString('latin1').slice(0, 30))
    socket.destroy()
  })
  const port = await listen(server)
  const post = (...lines) => message('POST /', lines)
  for (const bytes of [
    'FOO / HTTP/1.1\r\n\r\n', 'get / HTTP/1.1\r\n\r\n', 'GET \x01 HTTP/1.1\r\n\r\n', 'GET / HTTX/1.1\r\n\r\n', 'GET / HTTP/1.9\r\n\r\n',
    'GET / HTTP/1.1\r\nno colon\r\n\r\n', 'GET / HTTP/1.1\r\nHost : a\r\n\r\n', 'GET / HTTP/1.1\r\nX: a\x01b\r\n\r\n', 'GET / HTTP/1.1\nX\r\n\r\n',
    post('Content-Length: x'), post('Content-Length: 1', 'Content-Length: 2'), post('Content-Length: 1', 'Transfer-Encoding: chunked'),
    `${post('Transfer-Encoding: chunked')}z\r\n`, `${post('Transfer-Encoding: chunked')}2\r\nabc\r\n`,
    message('GET /', [`X: ${'a'.repeat(20_000)}`]),
  ]) await talk(port, bytes)
})
