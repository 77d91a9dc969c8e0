'use strict'
// http-proxy and websocket turn on TCP keep-alive: the kernel then has a timer for the connection
// (seen where /proc/net/tcp exists).
// covers: 20
// breaks: probes-not-sent

const http = require('node:http')
const fs = require('node:fs')
const { clearInterval, setInterval } = require('node:timers')
const { listen, message, program, talk } = require('../../kit')

/** @param {import('node:net').Socket} socket @returns {boolean | undefined} */
function isProbing (socket) {
  const port = (number) => `:${number.toString(16).toUpperCase().padStart(4, '0')}`
  const line = fs.readFileSync('/proc/net/tcp', 'latin1').split('\n')
    .find((text) => text.includes(`${port(socket.localPort)} 0100007F${port(socket.remotePort)}`))
  return line?.trim().split(/\s+/)[5].startsWith('02')
}

program(async () => {
  const server = http.createServer((req, res) => {
    if (!fs.existsSync('/proc/net/tcp')) return res.end('unknown')
    const before = isProbing(req.socket)
    req.socket.setKeepAlive(true, 60_000)
    let tries = 0
    const timer = setInterval(() => {
      const now = isProbing(req.socket)
      if (!now && ++tries < 500) return
      clearInterval(timer)
      res.end(`${before} ${now}`)
    }, 20)
  })
  await talk(await listen(server), message('GET /'))
})
