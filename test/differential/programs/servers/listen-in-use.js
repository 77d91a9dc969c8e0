'use strict'
// Development servers (webpack, vite, next) try the next port when one is in use.
// covers: 26
// breaks: port-known-later

const http = require('node:http')
const { listen, listening, log, message, program, talk, logged } = require('../../kit')

program(async () => {
  const first = http.createServer((req, res) => res.end('first'))
  const port = await listen(first)
  const second = http.createServer((req, res) => res.end('second'))
  second.on('listening', () => log('listening'))
  second.on('error', (error) => {
    log('error', error.message, { ...error })
    log(second.listening, second.address())
    second.listen(0, '127.0.0.1')
  })
  second.listen(port, '127.0.0.1', () => log('callback'))
  log('after listen')
  await logged('callback')
  await talk(listening(second), message('GET /'))
  await talk(port, message('GET /'))
})
