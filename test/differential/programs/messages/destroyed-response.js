'use strict'
// koa destroys the response when its body fails: the client sees a connection cut short.
// covers: 31
// breaks: destroy-keeps-the-connection

const http = require('node:http')
const { setImmediate } = require('node:timers')
const { listen, log, logged, message, program, talk, watch } = require('../../kit')

program(async () => {
  const server = http.createServer((req, res) => {
    watch(req.url, req, ['aborted', 'error', 'end', 'close'])
    watch(req.url, res, ['finish', 'error', 'close'])
    req.socket.on('close', (hadError) => log(req.url, 'gone', hadError, req.destroyed, res.errored?.message))
    res.setHeader('Content-Length', 10)
    if (req.url !== '/nothing') res.write('some')
    setImmediate(() => setImmediate(() => {
      res.destroy(req.url === '/error' ? new Error('mine') : undefined)
      log(req.url, res.destroyed, res.writableEnded, req.socket.destroyed)
    }))
  })
  const port = await listen(server)
  for (const url of ['/nothing', '/plain', '/error']) {
    await talk(port, message(`GET ${url}`, []))
    await logged(`${url} gone`)
  }
})
