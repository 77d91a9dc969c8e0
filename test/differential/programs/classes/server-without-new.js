'use strict'
// Old code calls http.Server as a function, the way createServer() does.
// covers: 3
// breaks: server-needs-new

const http = require('node:http')
const { EventEmitter } = require('node:events')
const net = require('node:net')
const { listen, log, message, program, talk } = require('../../kit')

program(async () => {
  const handler = (req, res) => res.end(req.url)
  const makers = {
    call: () => http.Server(handler),
    options: () => http.Server({ keepAliveTimeout: 1234 }, handler),
    new: () => new http.Server(handler),
    create: () => http.createServer(handler),
    none: () => http.Server().on('request', handler),
  }
  for (const [name, make] of Object.entries(makers)) {
    const server = make()
    log(name, server instanceof http.Server, server instanceof net.Server, server instanceof EventEmitter, server instanceof http.Agent)
    log(server.constructor === http.Server, server.constructor.name, server.keepAliveTimeout, server.listenerCount('request'))
    await talk(await listen(server), message(`GET /${name}`))
  }
})
