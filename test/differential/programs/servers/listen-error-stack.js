'use strict'
// The stack of a failed listen() shows who called it.
// covers: 27
// breaks: stack-of-listen-inside

const http = require('node:http')
const { once } = require('node:events')
const { listen, log, program } = require('../../kit')

program(async () => {
  const port = await listen(http.createServer(), 0)
  const second = http.createServer()
  const failed = once(second, 'error').then(([error]) => error)
  ;(function application () {
    second.listen(port)
  })()
  const error = await failed
  const frames = error.stack.split('\n').filter((/** @type {string} */ line) => line.startsWith('    at '))
  log(error.code, frames.some((/** @type {string} */ frame) => frame.includes('application')), /^\w+: listen EADDRINUSE/.test(error.stack))
})
