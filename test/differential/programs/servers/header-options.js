'use strict'
// uniqueHeaders joins what is set as an array, joinDuplicateHeaders what a client sends twice.
// covers: 28, 30
// breaks: unique-headers-ignored, duplicates-not-joined

const http = require('node:http')
const { listen, log, message, program, talk } = require('../../kit')

program(async () => {
  for (const options of [{}, { uniqueHeaders: ['X-Once', 'Set-Cookie'], joinDuplicateHeaders: true }]) {
    const server = http.createServer(options, ({ headers, rawHeaders }, res) => {
      log(headers.authorization, headers['user-agent'], headers['x-a'], headers['set-cookie'], headers.cookie, rawHeaders.length)
      res.setHeader('X-Once', ['1', '2'])
      res.setHeader('X-Many', ['1', '2'])
      res.setHeader('Set-Cookie', ['a=1', 'b=2'])
      res.end()
    })
    const twice = ['Authorization: 1', 'User-Agent: u', 'X-A: 1', 'Set-Cookie: 1', 'Cookie: a']
    await talk(await listen(server), message('GET /', [...twice, ...twice.map((line) => `${line}2`), 'Connection: close']))
  }
})
