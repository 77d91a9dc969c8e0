'use strict'
// An address of another machine, or a path that cannot be, is an "error" event a tick later (fastify rejects its promise with it).
// covers: 26
// breaks: bind-error-at-once

const http = require('node:http')
const { setImmediate } = require('node:timers')
const { listen, log, message, program, talk, logged } = require('../../kit')

program(async () => {
  const server = http.createServer((req, res) => res.end('fine'))
  for (const args of [[0, '192.0.2.1'], [{ port: 8080, host: '192.0.2.1' }], ['no/such/folder/app.sock']]) {
    server.listen(...args)
    log('listen returned', args)
    server.once('error', (error) => log(`error of ${args.length} ${error.syscall}`, error.message, { ...error }, server.listening))
    process.nextTick(() => log('tick'))
    await logged(`error of ${args.length} listen`)
    await new Promise(setImmediate)
  }
  await talk(await listen(server), message('GET /'))
})
