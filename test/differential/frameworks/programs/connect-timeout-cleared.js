'use strict'
// connect-timeout answers 503 after its time, and stops its clock when the head of the answer is written in time.
// The page of the error shows a stack, with the class of the request in it.
// covers: 8, 20
// breaks: saved-implicit-header, stack-names-a-class-of-ours

const connect = require('connect')
const http = require('node:http')
const timeout = require('connect-timeout')
const { listen, log, message, program, talk } = require('../../kit')

program(async () => {
  const app = connect()
  app.use(timeout(100))
  app.use((req, res) => {
    req.on('timeout', (ms) => log(req.url, 'timeout', ms))
    const { writeHead } = res
    res.writeHead = function (...args) {
      log(req.url, 'head', req.timedout)
      return writeHead.apply(this, args)
    }
    if (req.url === '/fast') res.end('in time')
  })
  app.use((error, req, res, next) => {
    log('error', error.code, error.timeout, error.status)
    next(error)
  })
  const port = await listen(http.createServer(app))
  await talk(port, message('GET /fast'))
  await talk(port, message('GET /slow'))
})
