'use strict'
// Handlers and guards drop a client from within any event of an exchange; others are served on.
// covers: r15, 15
// breaks: destroy-of-a-handler-lost

const http = require('node:http')
const { listen, log, logged, message, program, talk } = require('../../kit')

program(async () => {
  const server = http.createServer((req, res) => {
    const drop = (event) => {
      log('drop', req.url, event, req.socket.destroyed)
      req.socket.destroy()
      log('dropped', req.socket.destroyed, req.socket.writable)
    }
    res.on('close', () => log('close', req.url))
    if (req.url === '/request') drop('request')
    else if (req.url === '/data') req.on('data', () => drop('data'))
    else if (req.url === '/end') req.on('end', () => drop('end')).resume()
    else if (req.url === '/finish') res.on('finish', () => drop('finish')).end('finished')
    else res.end('served')
  })
  const port = await listen(server)
  for (const path of ['/request', '/data', '/end']) {
    await talk(port, message(`POST ${path}`, ['Content-Length: 2'], 'ab'))
    await logged(`close ${path}`)
  }
  await talk(port, message('GET /finish', []))
  await talk(port, message('GET /'))
})
