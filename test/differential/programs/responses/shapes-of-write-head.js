'use strict'
// Frameworks call writeHead() in all its shapes: hono with an array, graphql-http with a reason, others
// chained.
// covers: 10
// breaks: reason-from-the-table, names-lowered

const http = require('node:http')
const { listen, log, message, program, talk } = require('../../kit')

program(async () => {
  const shapes = {
    status: (res) => res.writeHead(202),
    reason: (res) => res.writeHead(200, 'All Right'),
    object: (res) => res.writeHead(200, { 'X-UPPER': '1', 'x-lower': 2, 'Set-Cookie': ['a=1', 'b=2'] }),
    both: (res) => res.writeHead(299, 'Own Words', { 'X-Mixed-Case': 'a' }),
    flat: (res) => res.writeHead(200, ['X-A', '1', 'x-a', '2', 'Set-Cookie', 'a', 'Set-Cookie', 'b']),
    nested: (res) => res.writeHead(200, [['X-A', '1'], ['X-B', '2']]),
    merged: (res) => res.setHeader('X-A', 'set').setHeader('X-B', 'set').writeHead(200, { 'x-a': 'head' }),
    field: (res) => {
      res.statusMessage = 'By Field'
      return res.writeHead(200)
    },
    empty: (res) => res.writeHead(200, '', { 'X-A': '1' }),
    unknown: (res) => res.writeHead(599),
  }
  const server = http.createServer((req, res) => {
    const returned = shapes[req.url.slice(1)](res)
    log(req.url, returned === res, res.statusCode, res.statusMessage, res.getHeaderNames())
    returned.end('.')
  })
  const port = await listen(server)
  for (const name of Object.keys(shapes)) await talk(port, message(`GET /${name}`))
})
