'use strict'
// Middleware that comes to a request after it was answered (loggers behind an await) still gets its end.
// covers: 32, 33
// breaks: held-end-lost

const http = require('node:http')
const { setImmediate } = require('node:timers')
const { listen, log, logged, message, program, talk, watch } = require('../../kit')

program(async () => {
  const server = http.createServer((req, res) => {
    const listen = () => {
      watch(req.url, req, ['end', 'close'])
      log(req.url, req.complete, req.readable, req.readableEnded, req.destroyed)
      if (req.url !== '/tick-unread') req.resume()
    }
    res.end('ok;')
    if (req.url.startsWith('/now')) listen()
    if (req.url.startsWith('/tick')) process.nextTick(listen)
    if (req.url.startsWith('/microtask')) Promise.resolve().then(listen)
    res.on('finish', () => { if (req.url.startsWith('/finish')) listen() })
    res.on('close', () => setImmediate(() => log(req.url, 'over', req.readable, req.readableEnded, req.destroyed, req.closed)))
  })
  const port = await listen(server)
  for (const url of ['/now', '/tick', '/tick-unread', '/microtask', '/finish']) {
    await talk(port, message(`GET ${url}`))
    await logged(`${url} over`)
  }
})
