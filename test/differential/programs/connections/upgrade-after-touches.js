'use strict'
// An upgrade as the second or third request of a connection: whatever the earlier ones did with their request, response or
// socket, the bytes behind the upgrade arrive.
// covers: 21, 35, r9
// breaks: reading-stays

const http = require('node:http')
const { setImmediate } = require('node:timers')
const { dial, listen, log, message, play, program } = require('../../kit')
const { kEarlierRequests, kRequestTouches } = require('../../touches')

program(async () => {
  const server = http.createServer((req, res) => {
    kRequestTouches[decodeURIComponent(req.url.slice(2))](req, res)
    // The body has to have been read: what comes behind it is the next request.
    req.on('end', () => res.end(`plain ${req.url[1]}.`))
    setImmediate(() => req.resume())
  })
  server.on('upgrade', (req, socket, head) => {
    const states = [socket.readableFlowing, socket.isPaused(), socket.readableLength, socket.timeout ?? 0, head.length]
    socket.write(`HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nStates: ${states}\r\n\r\n`)
    socket.on('data', (piece) => socket.end(`echo ${piece}`))
  })
  const port = await listen(server)
  for (const [kind, request] of Object.entries(kEarlierRequests)) {
    for (const name of Object.keys(kRequestTouches)) {
      for (const before of [1, 2]) {
        const wire = await dial(port)
        for (let i = 1; i <= before; i++) {
          await play(wire, [...request(`/${i}${encodeURIComponent(name)}`), new RegExp(`plain ${i}\\.`)])
        }
        await play(wire, [message('GET /', ['Connection: Upgrade', 'Upgrade: websocket']), /States[^]*\r\n\r\n/, 'bytes'])
        await wire.untilClosed()
        log(kind, `${before} × ${name}:`, /** @type {RegExpExecArray} */ (/States: .*/.exec(wire.text))[0], wire.text.slice(-10))
      }
    }
  }
})
