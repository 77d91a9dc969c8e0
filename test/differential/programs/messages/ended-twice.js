'use strict'
// Middleware that ends a response which has been ended already (Express error handlers, proxies): its
// callback is told, and writableFinished says what finished() of node:stream asks.
// covers: 32
// breaks: finish-before-its-state

const http = require('node:http')
const stream = require('node:stream')
const { setImmediate } = require('node:timers')
const { listen, log, logged, message, program, talk } = require('../../kit')

program(async () => {
  const server = http.createServer((req, res) => {
    res.on('finish', () => log('finish', res.writableFinished))
    res.end('ok')
    log('ended', res.writableFinished)
    process.nextTick(() => {
      res.end((error) => log('second callback', error?.code))
      log('tick', res.writableFinished)
    })
    setImmediate(() => {
      res.end((error) => log('late callback', error?.code))
      stream.finished(res, (error) => log('finished', error?.code))
      log('later', res.writableFinished)
    })
  })
  await talk(await listen(server), message('GET /'))
  await logged('finished')
})
