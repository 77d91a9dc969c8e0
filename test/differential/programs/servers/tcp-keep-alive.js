'use strict'
// Long polls through NAT need TCP's own keep-alive: the server's option, or setKeepAlive() of the socket (hapi, sockjs, websocket).
// covers: 28, 20
// breaks: tcp-keep-alive-ignored

const fs = require('node:fs')
const http = require('node:http')
const { listen, log, message, program, talk } = require('../../kit')

// The kernel's timer of the server's end: 02 is keep-alive, followed by jiffies of 10 ms; 01 waits for an acknowledgement.
function timerOf ({ localPort, remotePort }) {
  const hex = (port) => `0100007F:${port.toString(16).toUpperCase().padStart(4, '0')}`
  const line = fs.readFileSync('/proc/net/tcp', 'utf8').split('\n').find((text) => text.includes(`${hex(localPort)} ${hex(remotePort)}`))
  const [timer, when] = line.trim().split(/\s+/)[5].split(':')
  if (timer === '01') return null
  return timer === '02' ? `within ${Math.ceil(parseInt(when, 16) / 100 / 600) * 10} minutes` : 'none'
}

program(async () => {
  const { until } = require('../../../helpers/waiting')
  for (const options of [{}, { keepAlive: true, keepAliveInitialDelay: 500_000 }]) {
    const server = http.createServer(options, async (req, res) => {
      const { socket } = req
      if (req.url === '/on') socket.setKeepAlive(true, 1_700_000)
      if (req.url === '/off') socket.setKeepAlive(false)
      // The setting was made before the answer to the request before. When the client acknowledges that one no event tells.
      if (req.url === '/look') {
        await until(() => timerOf(socket) !== null, 'the acknowledgement')
        log(timerOf(socket))
      }
      res.end(req.url)
    })
    const port = await listen(server)
    for (const path of ['/', '/on', '/off']) {
      await talk(port, [message(`GET ${path}`, []), new RegExp(`${path}$`), message('GET /look', [])], /look$/)
    }
  }
})
