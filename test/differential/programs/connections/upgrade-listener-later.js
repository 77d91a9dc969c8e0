'use strict'
// http-proxy-middleware and Next listen for 'upgrade' when their first request comes, found through
// req.socket.server; whether one listens is asked at each upgrade.
// covers: 14, 22
// breaks: upgrade-decided-once

const http = require('node:http')
const { listen, log, message, program, talk } = require('../../kit')

program(async () => {
  const server = http.createServer((req, res) => {
    log('request', req.url, req.upgrade, req.socket.server.listenerCount('upgrade'))
    if (req.url === '/install') {
      req.socket.server.on('upgrade', (req, socket) => {
        log('upgrade', req.url)
        socket.end('HTTP/1.1 101 Switching Protocols\r\n\r\nupgraded')
      })
    }
    if (req.url === '/remove') req.socket.server.removeAllListeners('upgrade')
    res.end(`answered ${req.url};`)
  })
  const port = await listen(server)
  const upgrade = (path) => message(`GET ${path}`, ['Connection: Upgrade', 'Upgrade: x'])
  await talk(port, [upgrade('/1'), /\/1;/, message('GET /install', []), /install;/, upgrade('/2')])
  await talk(port, [message('GET /remove', []), /remove;/, upgrade('/3'), /\/3;/, message('GET /4')])
})
