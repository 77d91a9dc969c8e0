'use strict'
// Test runners close a server twice, or one that never listened.
// covers: 27
// breaks: close-callback-at-once

const http = require('node:http')
const { drained } = require('../../../helpers/waiting')
const { listen, log, logged, message, program, talk, watch } = require('../../kit')

program(async () => {
  const server = http.createServer((req, res) => res.end())
  watch('server', server, ['close', 'error'])
  log(server.close((error) => log('never listened', error.name, error.code, error.message)) === server)
  await logged('never listened')
  await talk(await listen(server), message('GET /'))
  // How often 'close' comes depends on it.
  await drained(server)
  server.close((error) => log('first', error))
  server.close((error) => log('second', error?.code))
  log('returned')
  await logged('first')
  await logged('second')
  await listen(server)
  await server[Symbol.asyncDispose]()
  log('disposed', server.listening)
  server.closeIdleConnections()
  server.closeAllConnections()
  log(server.close() === server)
})
