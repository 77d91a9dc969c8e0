'use strict'
// maxConnections = 0 is no limit until Node 20, and drops every connection since 21.
// covers: 28
// breaks: zero-connections-unlimited

const http = require('node:http')
const { dial, listen, log, message, play, program } = require('../../kit')

program(async () => {
  const server = http.createServer((req, res) => res.end('served'))
  server.maxConnections = 0
  server.on('drop', () => log('drop'))
  const wire = await dial(await listen(server))
  wire.write(message('GET /'))
  await wire.untilClosed()
  log(wire.text.endsWith('served'))
  await play(wire, [])
})
