'use strict'
// restify (handleUncaughtExceptions) runs each request in a domain: what is thrown later comes back to it with its request.
// covers: 36
// breaks: thrown-into-nothing

// eslint-disable-next-line n/no-deprecated-api -- what restify uses
const domain = require('node:domain')
const http = require('node:http')
const { setTimeout } = require('node:timers')
const { listen, log, message, program, talk } = require('../../kit')

program(async () => {
  const server = http.createServer((req, res) => {
    log(req.url, req.domain, res.domain)
    const d = domain.create()
    d.add(req)
    d.add(res)
    d.on('error', (error) => {
      log('domain', req.url, error.message, process.domain === d || process.domain === null)
      res.statusCode = 500
      res.end(`failed ${req.url}`)
    })
    d.run(() => {
      const fail = () => { throw new Error(`${req.url} failed`) }
      if (req.url === '/now') fail()
      if (req.url === '/tick') process.nextTick(fail)
      if (req.url === '/timer') setTimeout(fail, 1)
      if (req.url === '/data') req.on('data', fail)
      if (req.url === '/emit') req.emit('error', new Error('emitted'))
      if (req.url === '/later') d.exit()
    })
    if (req.url === '/later') req.on('end', () => { log('end', process.domain === d); res.end() }).resume()
  })
  process.on('uncaughtException', (error) => log('uncaught', error.message))
  const port = await listen(server)
  const left = domain.create() // A process that has left a domain has `undefined` for none.
  left.enter()
  left.exit()
  for (const path of ['/now', '/tick', '/timer', '/data', '/emit', '/later']) {
    await talk(port, message(`POST ${path}`, ['Content-Length: 3', 'Connection: close'], 'abc'))
  }
})
