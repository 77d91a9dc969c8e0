'use strict'
// A connection that asks nothing more is closed when its keep-alive time is over, counted from the last
// answer.
// covers: r11, r14
// breaks: idle-connection-kept

const http = require('node:http')
const { dial, listen, log, message, play, program, talk } = require('../../kit')

program(async () => {
  const server = http.createServer({ keepAliveTimeout: 60_000 }, (req, res) => {
    log('request', req.url)
    res.end('text')
  })
  const port = await listen(server)
  // The next request comes within it, also on a busy machine.
  server.keepAliveTimeout = 1000
  const wires = [await dial(port), await dial(port)]
  await play(wires[1], [message('GET /a', []), /text/])
  for (const [i, wire] of wires.entries()) {
    await play(wire, [message(`GET /b${i}`, []), /text$/])
  }
  for (const wire of wires) await talk(wire, [])
})
