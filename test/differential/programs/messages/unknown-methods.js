'use strict'
// What is no method, or one in small letters, is answered 400 without a request.
// covers: 24, 30
// breaks: refused-with-501

const http = require('node:http')
const { listen, message, program, talk } = require('../../kit')

program(async () => {
  const server = http.createServer((req, res) => res.end(req.method))
  const port = await listen(server)
  for (const method of ['FOO', 'get', 'GETT', 'G', 'POST\t']) await talk(port, message(`${method} /`))
})
