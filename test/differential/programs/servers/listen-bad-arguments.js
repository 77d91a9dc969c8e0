'use strict'
// A wrong port in the environment has to be said at once, by listen() itself.
// covers: 26
// breaks: objects-are-prefixes

const http = require('node:http')
const { listen, log, message, program, talk } = require('../../kit')

program(async () => {
  const server = http.createServer((req, res) => res.end())
  for (const args of [[-1], [65536], [1.5], [{}], [{ port: -1 }], [{ port: 'x' }], [true], [{ path: 1 }], [{ fd: -1 }], [Symbol.iterator], [() => {}, 3]]) {
    try {
      server.listen(...args)
      log(args, 'accepted')
      server.close()
    } catch (error) {
      log(args, error.name, error.code, error.message)
    }
    log(server.listening, server.address())
  }
  await talk(await listen(server), message('GET /'))
  try {
    server.listen(0)
  } catch (error) {
    log(error.name, error.code, error.message)
  }
  await talk(server.address().port, message('GET /'))
})
