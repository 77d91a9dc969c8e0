'use strict'
// Which of two lines with the same name counts: the first of the single ones, lists joined, Set-Cookie an
// array, Cookie joined with a semicolon.
// covers: 30
// breaks: doubles-joined

const http = require('node:http')
const { listen, log, message, program, talk } = require('../../kit')

program(async () => {
  const lines = [
    'Content-Type: a/1', 'Content-Type: b/2', 'Authorization: first', 'Authorization: second', 'Referer: r1', 'Referer: r2',
    'Set-Cookie: a', 'Set-Cookie: b', 'Cookie: a=1', 'Cookie: b=2', 'X-Forwarded-For: 10.0.0.1', 'X-Forwarded-For: 10.0.0.2',
    'Accept: x/1', 'Accept: x/2', 'Age: 1', 'Age: 2', 'constructor: c', '__proto__: p', 'Connection: close'
  ]
  for (const joinDuplicateHeaders of [false, true]) {
    const server = http.createServer({ joinDuplicateHeaders }, (req, res) => {
      log(Object.entries(req.headers))
      log(Object.entries(req.headersDistinct))
      res.end()
    })
    await talk(await listen(server), message('GET /', lines))
  }
})
