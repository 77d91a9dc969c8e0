'use strict'
// hono and busboy give up an upload with req.destroy(): the connection goes with it.
// covers: 31
// breaks: destroy-keeps-the-connection

const http = require('node:http')
const { listen, log, logged, message, program, talk, watch } = require('../../kit')

program(async () => {
  const server = http.createServer((req, res) => {
    watch(req.url, req, ['aborted', 'error', 'end', 'close'])
    watch(req.url, res, ['finish', 'error', 'close'])
    req.socket.on('error', (error) => log(req.url, 'socket', error.message))
    req.socket.on('close', (hadError) => log(req.url, 'gone', hadError, req.destroyed, req.aborted, res.destroyed))
    req.once('data', () => {
      if (req.url === '/plain') req.destroy()
      if (req.url === '/error') req.destroy(new Error('mine'))
      if (req.url === '/answered') res.end('so far', () => req.destroy())
    })
  })
  const port = await listen(server)
  for (const url of ['/plain', '/error', '/answered']) {
    await talk(port, message(`POST ${url}`, ['Content-Length: 10'], 'abc'))
    await logged(`${url} gone`)
  }
})
