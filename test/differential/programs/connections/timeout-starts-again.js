'use strict'
// A download that makes progress is not idle: each write starts the socket's timeout again.
// covers: 20
// breaks: activity-unnoticed

const http = require('node:http')
const { clearInterval, setInterval } = require('node:timers')
const { listen, log, message, program, talk } = require('../../kit')

program(async () => {
  const server = http.createServer((req, res) => {
    res.setTimeout(600, () => log('timeout'))
    let pieces = 0
    const timer = setInterval(() => {
      res.write(`${++pieces}`)
      if (pieces < 5) return
      clearInterval(timer)
      res.end()
    }, 200)
  })
  await talk(await listen(server), message('GET /'))
})
