'use strict'
// A request logger runs each request in storage.run(): requests of one segment, answered in another order, keep their own store.
// covers: 36, 35
// breaks: finish-in-another-context

const http = require('node:http')
const { AsyncLocalStorage } = require('node:async_hooks')
const { setImmediate } = require('node:timers')
const { listen, log, logged, message, program, talk } = require('../../kit')

const storage = new AsyncLocalStorage()

program(async () => {
  const open = []
  const heard = { '/1': [], '/2': [], '/3': [] }
  const server = http.createServer((req, res) => storage.run({ url: req.url }, () => {
    const note = (what) => heard[req.url].push(`${what} ${storage.getStore()?.url}`)
    note('request')
    res.on('finish', () => note('finish')).on('close', () => note('close'))
    open.push(() => {
      note('answering')
      res.end(req.url)
      Promise.resolve().then(() => note('promise'))
    })
    log('request', req.url)
    if (open.length === 3) setImmediate(() => open.reverse().forEach((answer) => answer()))
  }))
  await talk(await listen(server), message('GET /1', []) + message('GET /2', []) + message('GET /3'))
  await logged('request /3')
  for (const [path, notes] of Object.entries(heard)) log(path, notes)
})
