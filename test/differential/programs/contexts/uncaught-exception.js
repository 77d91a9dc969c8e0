'use strict'
// A handler that throws ends in "uncaughtException"; a service that logs and goes on answers it and serves the next.
// covers: 36, r15
// breaks: thrown-into-nothing, thrown-without-context

const http = require('node:http')
const { AsyncLocalStorage } = require('node:async_hooks')
const { dial, listen, log, message, play, program } = require('../../kit')

const storage = new AsyncLocalStorage()
let answerLast = () => {}
process.on('uncaughtException', (error, origin) => {
  log('uncaught', error.message, origin, storage.getStore())
  answerLast()
})

program(async () => {
  const server = http.createServer((req, res) => {
    storage.enterWith(req.url)
    answerLast = () => res.end(`saved ${req.url}`)
    const fail = (where) => { throw new Error(`${where} of ${req.url}`) }
    if (req.url === '/now') fail('handler')
    if (req.url === '/tick') process.nextTick(fail, 'tick')
    if (req.url === '/promise') Promise.resolve().then(() => fail('promise'))
    if (req.url === '/data') req.on('data', () => fail('data'))
    if (req.url === '/end') req.on('end', () => fail('end')).resume()
    if (req.url === '/finish') res.on('finish', () => fail('finish')).end('fine /finish')
    if (req.url === '/fine') res.end('fine /fine')
  })
  const port = await listen(server)
  for (const path of ['/now', '/tick', '/promise', '/data', '/end', '/finish']) {
    const wire = await dial(port)
    await play(wire, [message(`POST ${path}`, ['Content-Length: 3'], 'abc'), new RegExp(`(saved|fine) ${path}`)])
    await play(await dial(port), [message('GET /fine', []), /fine \/fine/])
  }
})
