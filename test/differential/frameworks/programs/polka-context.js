'use strict'
// A Polka application enters its trace's context without a callback: another connection's request is not in it.
// covers: 36
// breaks: request-outside-its-resource

const http = require('node:http')
const { AsyncLocalStorage } = require('node:async_hooks')
const polka = require('polka')
const { listen, log, message, program, talk } = require('../../kit')

program(async () => {
  const trace = new AsyncLocalStorage()
  const app = polka()
  app.use((req, res, next) => {
    log(req.url, 'before', trace.getStore())
    if (req.headers['x-trace']) trace.enterWith(req.headers['x-trace'])
    next()
  })
  app.get('/:name', async (req, res) => {
    await new Promise((resolve) => setImmediate(resolve))
    res.on('finish', () => log(req.url, 'finish', trace.getStore()))
    res.end(String(trace.getStore()))
  })
  const port = await listen(http.createServer(app.handler))
  await talk(port, message('GET /one', ['X-Trace: a', 'Connection: close']))
  await talk(port, message('GET /two'))
  await talk(port, message('GET /three', ['X-Trace: c', 'Connection: close']))
})
