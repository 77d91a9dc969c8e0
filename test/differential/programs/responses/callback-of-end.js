'use strict'
// Handlers pass a callback to end() in each of its shapes, and to write().
// covers: 9, 10
// breaks: callback-of-end-lost

const http = require('node:http')
const { listen, log, logged, message, program, talk } = require('../../kit')

program(async () => {
  const shapes = {
    only: (res, done) => res.end(done),
    chunk: (res, done) => res.end('text', done),
    all: (res, done) => res.end('text', 'utf8', done),
    null: (res, done) => res.end(null, null, done),
    written: (res, done) => {
      res.write('te', () => log('written'))
      return res.end('xt', 'utf8', done)
    },
  }
  const server = http.createServer((req, res) => {
    res.on('finish', () => log('finish', req.url))
    res.on('close', () => log('close', req.url))
    const returned = shapes[req.url.slice(1)](res, (...args) => log('done', req.url, args))
    log(returned === res, res.writableEnded, res.writableFinished)
  })
  const port = await listen(server)
  for (const name of Object.keys(shapes)) {
    await talk(port, message(`GET /${name}`))
    await logged(`close /${name}`)
  }
})
