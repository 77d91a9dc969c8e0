'use strict'
// Without a listener a malformed request gets a bare answer: 400, 431 for long heads, 413 for chunk extensions.
// covers: 24
// breaks: reply-431-lost

const http = require('node:http')
const { listen, log, message, program, talk } = require('../../kit')

program(async () => {
  const server = http.createServer((req) => req.resume().on('error', (error) => log(req.url, error.code)))
  const port = await listen(server)
  await talk(port, 'BAD\r\n\r\n')
  await talk(port, message('GET /', [`X: ${'a'.repeat(20_000)}`]))
  await talk(port, message('POST /', ['Transfer-Encoding: chunked'], `1;${'x'.repeat(17_000)}\r\n`))
  await talk(port, [message('POST /', ['Transfer-Encoding: chunked']), 'nonsense\r\n'])
})
