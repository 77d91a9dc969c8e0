'use strict'
// connect takes a server for the handler that it holds; also one of a library that kept Node's class.
// covers: 3
// breaks: older-servers-no-instances

const http = require('node:http')
const { Server: NodeServer } = require('_http_server')
const connect = require('connect')
const { listen, log, message, program, talk } = require('../../kit')

program(async () => {
  const older = new NodeServer((req, res) => res.end(`older ${req.url}`))
  const newer = http.createServer((req, res) => res.end(`newer ${req.url}`))
  log(older instanceof http.Server, newer instanceof http.Server, newer instanceof NodeServer, {} instanceof http.Server)
  const app = connect().use('/older', older).use('/newer', newer)
  app.use((req, res) => res.end(`app ${req.url}`))
  const port = await listen(http.createServer(app))
  for (const path of ['/older/a', '/newer/b', '/c']) await talk(port, message(`GET ${path}`))
})
