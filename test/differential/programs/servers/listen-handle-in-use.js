'use strict'
// A server listens on a handle whose address is in use. The handle tells that only when it listens.
// covers: 26
// breaks: delayed-bind-error-lost

const http = require('node:http')
const net = require('node:net')
const { listen, listening, log, logged, message, program, talk } = require('../../kit')

program(async () => {
  const port = await listen(http.createServer((req, res) => res.end('first')))
  const handle = net._createServerHandle('127.0.0.1', port, 4)
  log(typeof handle)
  const second = http.createServer((req, res) => res.end('second'))
  second.on('listening', () => log('listening'))
  second.on('error', (error) => {
    log('error', error.message.replace(/\d+/g, 'n'), error.code, error.syscall)
    log(second.listening, second.address())
    second.listen(0, '127.0.0.1', () => log('callback'))
  })
  second.listen(handle)
  log('after listen')
  await logged('callback')
  await talk(listening(second), message('GET /'))
  await talk(port, message('GET /'))
})
