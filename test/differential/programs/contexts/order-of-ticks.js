'use strict'
// What is put off with nextTick, a promise or setImmediate in a handler runs where it does on Node: between a body's data and its end.
// covers: 36, 32
// breaks: no-ticks-before-the-end

const http = require('node:http')
const { setImmediate } = require('node:timers')
const { listen, log, logged, message, program, talk } = require('../../kit')

program(async () => {
  const server = http.createServer((req, res) => {
    const later = (what) => {
      log(what)
      process.nextTick(() => log(`${what}: tick`))
      Promise.resolve().then(() => log(`${what}: promise`))
      queueMicrotask(() => log(`${what}: microtask`))
    }
    later(`request ${req.url} ${req.complete}`)
    process.nextTick(() => log('complete in a tick', req.complete))
    req.on('data', () => later('data')).on('end', () => later('end')).on('close', () => later('req close'))
    res.on('finish', () => later('finish')).on('close', () => later('close'))
    setImmediate(() => {
      later('immediate')
      res.end(req.url)
    })
  })
  const port = await listen(server)
  await talk(port, message('GET /none'))
  await logged('close: microtask')
  await talk(port, message('POST /body', ['Content-Length: 3', 'Connection: close'], 'abc'))
})
