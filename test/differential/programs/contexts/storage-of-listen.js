'use strict'
// A tenant's server started inside storage.run() serves its requests inside it, and nothing of one request reaches the next connection.
// covers: 36
// breaks: requests-without-the-server-context, connections-without-the-server-context

const http = require('node:http')
const { AsyncLocalStorage } = require('node:async_hooks')
const { listen, log, message, program, talk } = require('../../kit')

const storage = new AsyncLocalStorage()

program(async () => {
  for (const tenant of ['a', 'b', undefined]) {
    const server = http.createServer((req, res) => {
      log('request', req.url, storage.getStore())
      storage.enterWith(`left by ${req.url}`)
      req.on('end', () => {
        log('end', storage.getStore())
        res.end(tenant)
      }).resume()
    })
    server.on('connection', () => log('connection', storage.getStore()))
    const port = await (tenant === undefined ? listen(server) : storage.run(tenant, () => listen(server)))
    await talk(port, message('GET /1'))
    await talk(port, message('POST /2', ['Content-Length: 3', 'Connection: close'], 'abc'))
    log('main', storage.getStore())
  }
})
