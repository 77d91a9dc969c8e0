'use strict'
// Express and fastify route every method that http.METHODS lists, and QUERY.
// covers: 30
// breaks: half-the-methods

const http = require('node:http')
const { listen, log, message, program, talk } = require('../../kit')

program(async () => {
  const server = http.createServer((req, res) => {
    log(req.method, req.complete)
    res.end(`${req.method};`)
  })
  const port = await listen(server)
  for (const method of new Set([...http.METHODS, 'QUERY'])) {
    if (method !== 'CONNECT') await talk(port, message(`${method} /`))
  }
})
