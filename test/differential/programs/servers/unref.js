'use strict'
// A metrics endpoint must not keep a command line tool alive: unref() before or after listen().
// covers: 27
// breaks: unref-ignored

const http = require('node:http')
const { setTimeout } = require('node:timers')
const { log, program } = require('../../kit')

program(async () => {
  process.prependListener('exit', () => log('exit', before.listening, after.listening, again.listening))
  const before = http.createServer()
  log(before.unref() === before)
  before.listen(0, '127.0.0.1')
  const after = http.createServer().listen(0, '127.0.0.1', () => {
    log('listening')
    after.unref()
  })
  const again = http.createServer().listen(0)
  again.ref()
  log(again.unref().unref() === again)
  // Ends the process that lives on; one that does not is over before.
  setTimeout(() => {
    log('still running')
    process.exit()
  }, 9000).unref()
})
