'use strict'
// With rejectNonStandardBodyWrites a body where there must be none throws instead of being dropped; it may be turned on later.
// covers: 28
// breaks: body-writes-never-rejected

const http = require('node:http')
const { listen, log, message, program, talk } = require('../../kit')

program(async () => {
  const server = http.createServer((req, res) => {
    if (req.url === '/204') res.statusCode = 204
    for (const method of ['write', 'end']) {
      try {
        res[method]('body')
        log(req.method, req.url, method, 'accepted')
      } catch (error) {
        log(req.method, req.url, method, error.code, error.message)
      }
    }
    if (!res.writableEnded) res.end()
  })
  log(server.rejectNonStandardBodyWrites)
  const port = await listen(server)
  for (const isStrict of [false, true, false]) {
    server.rejectNonStandardBodyWrites = isStrict
    for (const line of ['HEAD /', 'GET /204', 'GET /']) await talk(port, message(line))
  }
})
