'use strict'
// What clients and proxies read at the top of an answer: Date, Connection, Keep-Alive, in Node's order and case.
// covers: 29
// breaks: always-keep-alive, head-in-lower-case

const http = require('node:http')
const { listen, log, message, program, talk } = require('../../kit')

const kHandlers = {
  '/plain': () => {},
  '/own-connection': (res) => res.setHeader('Connection', 'keep-alive'),
  '/own-close': (res) => res.setHeader('connection', 'close'),
  '/own-keep-alive': (res) => res.setHeader('Keep-Alive', 'timeout=9'),
  '/own-date': (res) => res.setHeader('date', 'yesterday'),
  '/no-date': (res) => { res.sendDate = false },
  '/removed': (res) => {
    res.removeHeader('date')
    res.removeHeader('connection')
  },
  '/raw': (res) => res.writeHead(200, ['X-b', '1', 'x-A', '2', 'CONTENT-length', '0'])
}

program(async () => {
  const server = http.createServer((req, res) => {
    kHandlers[req.url](res)
    res.end()
    log(req.url, res.shouldKeepAlive)
  })
  const port = await listen(server)
  for (const path of Object.keys(kHandlers)) {
    await talk(port, [message(`GET ${path}`, [])], /\r\n\r\n$/)
    await talk(port, `GET ${path} HTTP/1.0\r\n\r\n`)
    await talk(port, [`GET ${path} HTTP/1.0\r\nConnection: keep-alive\r\n\r\n`], /\r\n\r\n$/)
  }
})
