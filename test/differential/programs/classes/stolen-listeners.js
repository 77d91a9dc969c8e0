'use strict'
// engine.io and socket.io take the listeners of "request" of a server that already serves and call them
// for what is not theirs.
// covers: 6
// breaks: listeners-kept

const http = require('node:http')
const { listen, log, message, program, talk } = require('../../kit')

program(async () => {
  const server = http.createServer((req, res) => res.end('application'))
  const port = await listen(server)
  await talk(port, message('GET /engine.io/before'))
  const listeners = server.listeners('request').slice(0)
  server.removeAllListeners('request')
  server.on('request', (req, res) => {
    if (req.url.startsWith('/engine.io/')) res.end('engine')
    else for (const listener of listeners) listener.call(server, req, res)
  })
  log(listeners.length, server.listenerCount('request'))
  for (const path of ['/engine.io/after', '/other']) await talk(port, message(`GET ${path}`))
})
