'use strict'
// Routers answer HEAD with the handler of GET, and handlers give bodies to statuses that have none.
// covers: 11
// breaks: body-of-a-head-sent

const http = require('node:http')
const { listen, log, message, program, talk } = require('../../kit')

program(async () => {
  const server = http.createServer((req, res) => {
    res.statusCode = Number(req.url.slice(1))
    log(req.method, req.url, res._hasBody)
    if (req.headers.by === 'writing') res.write('a body')
    res.end('a body')
    log(res._hasBody, res.writableFinished)
  })
  const port = await listen(server)
  for (const line of ['HEAD /200', 'GET /204', 'GET /304', 'HEAD /404', 'GET /205']) {
    await talk(port, message(line))
    await talk(port, message(line, ['Connection: close', 'By: writing']))
  }
  await talk(port, [message('HEAD /200', []), /\r\n\r\n$/, message('GET /304', []), /304[^]*\r\n\r\n$/, message('GET /200')])
})
