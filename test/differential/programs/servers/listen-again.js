'use strict'
// hapi stops and starts the same server; a test runner does so with one port.
// covers: 26, 27
// breaks: forgotten-id-kept, bound-handle-not-closed

const http = require('node:http')
const { once } = require('node:events')
const { listen, log, message, program, talk, watch } = require('../../kit')

program(async () => {
  const server = http.createServer((req, res) => res.end(req.url))
  watch('server', server, ['listening', 'close', 'error', 'connection'])
  let port = 0
  for (let round = 1; round <= 3; round++) {
    port = await listen(server, port, '127.0.0.1')
    await talk(port, [message(`GET /${round}`, []), /200 OK/, message(`GET /${round}/last`)])
    server.close((error) => log('closed', error))
    await once(server, 'close')
  }
})
