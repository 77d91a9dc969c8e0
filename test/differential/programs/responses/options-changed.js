'use strict'
// Applications switch requireHostHeader and rejectNonStandardBodyWrites while serving; the next request
// follows.
// covers: r14, 28
// breaks: host-rule-read-once, body-rule-read-once

const http = require('node:http')
const { listen, log, message, program, talk } = require('../../kit')

program(async () => {
  const server = http.createServer((req, res) => {
    log('request', req.method, req.url)
    try {
      res.end('body')
    } catch (error) {
      log(error.code)
      res.end()
    }
  })
  const port = await listen(server)
  const round = async (name) => {
    log(name)
    await talk(port, `GET /${name} HTTP/1.1\r\nConnection: close\r\n\r\n`)
    await talk(port, message(`HEAD /${name}`))
  }
  await round('as-made')
  server.requireHostHeader = false
  server.rejectNonStandardBodyWrites = true
  await round('changed')
  server.requireHostHeader = true
  server.rejectNonStandardBodyWrites = false
  await round('changed-back')
})
