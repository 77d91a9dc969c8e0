'use strict'
// Frameworks hand their own listen(...args) on to the server: fastify objects, express positions, hapi both.
// covers: 26, 25
// breaks: listen-first-argument-only

const http = require('node:http')
const { once } = require('node:events')
const { log, message, program, talk, listening } = require('../../kit')

program(async () => {
  const shapes = [
    [0], ['0'], [0, '127.0.0.1'], [0, 5], [0, '127.0.0.1', 5], [{ port: 0, host: '127.0.0.1', exclusive: true, backlog: 7 }],
    [{ port: '0' }, 9], [], [undefined], [null, '127.0.0.1'], [{ port: 0, host: '127.0.0.1', unknown: 1 }]
  ]
  for (const args of shapes) {
    for (const hasCallback of [false, true]) {
      const server = http.createServer((req, res) => res.end('x'))
      const returned = server.listen(...args, ...hasCallback ? [function () { log('callback', this === server) }] : [])
      await once(server, 'listening')
      const { family, address } = server.address()
      log(args, returned === server, address, family, server.listenerCount('listening'))
      await talk(listening(server), message('HEAD /'))
      server.close()
    }
  }
})
