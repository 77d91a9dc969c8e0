'use strict'
// A download that makes progress is not idle: each write starts the socket's timeout again.
// covers: 20
// breaks: activity-unnoticed

const http = require('node:http')
const { clearInterval, setInterval } = require('node:timers')
const { listen, log, message, program, talk } = require('../../kit')

const kTimeoutMs = 600

program(async () => {
  const server = http.createServer((req, res) => {
    let written = performance.now()
    // On a machine that keeps the process from writing for so long the timeout is right.
    res.setTimeout(kTimeoutMs, () => { if (performance.now() - written < kTimeoutMs) log('timeout') })
    let pieces = 0
    const timer = setInterval(() => {
      written = performance.now()
      res.write(`${++pieces}`)
      if (pieces < 5) return
      clearInterval(timer)
      res.end()
    }, 200)
  })
  await talk(await listen(server), message('GET /'))
})
