'use strict'
// Next and http-proxy-middleware find the server through the first request, and listen to its "upgrade"
// and "close" from then on.
// covers: 14
// breaks: server-behind-a-copy

const http = require('node:http')
const { listen, log, logged, message, program, talk } = require('../../kit')

program(async () => {
  let found = null
  const server = http.createServer((req, res) => {
    if (found === null) {
      found = req.socket.server ?? req.connection.server
      found.on('upgrade', (upgrade, socket) => {
        log('upgrade', upgrade.url)
        socket.end('HTTP/1.1 101 Switching Protocols\r\n\r\n')
      })
      found.on('close', () => log('close'))
      found.seenBy = 'middleware'
    }
    log(found === server, server.seenBy, Object.hasOwn(server, 'seenBy'))
    res.end()
  })
  const port = await listen(server)
  await talk(port, message('GET /'))
  await talk(port, message('GET /socket', ['Connection: Upgrade', 'Upgrade: any']))
  server.close()
  await logged('close')
})
