'use strict'
// http-proxy and hono copy rawHeaders: names as they were sent, in order, doubles kept, values untouched;
// also when a client sends the same lines again.
// covers: 30
// breaks: raw-names-lowered

const http = require('node:http')
const { dial, listen, log, message, play, program, talk } = require('../../kit')

program(async () => {
  const server = http.createServer((req, res) => {
    log(req.rawHeaders)
    log(req.headers)
    log(req.headersDistinct)
    res.end('ok;')
  })
  const lines = ['X-CaSe: One', 'x-case: Two', 'User-Agent: Test/1.0', 'Accept:', 'X-Space:   inner  space  ', 'Cookie: a=1', 'COOKIE: b=2', 'X-Latin: \xe9\xff']
  const wire = await dial(await listen(server))
  for (let i = 1; i <= 4; i++) await play(wire, [message(`GET /${i}`, lines), new RegExp(`(?:ok;[^]*){${i}}`)])
  await talk(wire, message('GET /'))
})
