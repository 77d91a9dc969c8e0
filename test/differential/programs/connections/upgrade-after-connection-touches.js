'use strict'
// An upgrade or a tunnel as the second or third request of a connection whose socket was used in 'connection': the bytes behind it
// arrive, whatever kind of request came before.
// covers: 21, 35, r9
// breaks: reading-stays

const http = require('node:http')
const { setImmediate } = require('node:timers')
const { dial, listen, log, message, play, program } = require('../../kit')
const { kEarlierRequests, kSocketTouches } = require('../../touches')

/** @type {Record<string, string>} */
const kUpgrades = {
  websocket: message('GET /', ['Connection: Upgrade', 'Upgrade: websocket']),
  x: message('GET /', ['Connection: Upgrade', 'Upgrade: x']),
  CONNECT: message('CONNECT a:1', []),
}

program(async () => {
  let touch = ''
  const server = http.createServer((req, res) => {
    req.on('end', () => res.end(`plain ${req.url[1]}.`))
    setImmediate(() => req.resume())
  })
  server.on('connection', (socket) => kSocketTouches[touch](socket))
  for (const type of ['upgrade', 'connect']) {
    server.on(type, (req, socket) => {
      socket.write('HTTP/1.1 101 Switching Protocols\r\n\r\n')
      socket.on('data', (piece) => socket.end(`echo ${piece}`))
    })
  }
  const port = await listen(server)
  for (touch of Object.keys(kSocketTouches)) {
    for (const [kind, request] of Object.entries(kEarlierRequests)) {
      for (const [to, upgrade] of Object.entries(kUpgrades)) {
        for (const before of [1, 2]) {
          const wire = await dial(port)
          for (let i = 1; i <= before; i++) await play(wire, [...request(`/${i}`), new RegExp(`plain ${i}\\.`)])
          await play(wire, [upgrade, /101[^]*\r\n\r\n/, 'bytes'])
          await wire.untilClosed()
          log(`${touch}, ${before} × ${kind}, ${to}:`, wire.text.slice(-10))
        }
      }
    }
  }
})
