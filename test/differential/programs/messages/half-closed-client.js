'use strict'
// A client that ends its side behind its request (echo ... | nc): who answers at once is heard, later
// answers are lost, unless the server allows half-open connections.
// covers: 31, 32
// breaks: leaving-unnoticed

const http = require('node:http')
const { setImmediate } = require('node:timers')
const { listen, log, logged, message, program, talk, watch } = require('../../kit')

program(async () => {
  for (const allowHalfOpen of [false, true]) {
    const server = http.createServer((req, res) => {
      watch(req.url, req, ['aborted', 'error', 'close'])
      watch(req.url, res, ['finish', 'close'])
      req.socket.on('end', () => {
        log(req.url, 'socket end')
        if (req.url === '/late') setImmediate(() => res.end('late'))
      })
      req.socket.on('close', () => log(`${allowHalfOpen} ${req.url} gone`))
      log(`${allowHalfOpen} ${req.url}`)
      if (req.url === '/now') res.end('now')
    })
    server.httpAllowHalfOpen = allowHalfOpen
    const port = await listen(server)
    await talk(port, [message('GET /now', []), /now/, null])
    await logged(`${allowHalfOpen} /now gone`)
    await talk(port, [message('GET /late', []), { event: `${allowHalfOpen} /late` }, null])
    await logged(`${allowHalfOpen} /late gone`)
  }
})
