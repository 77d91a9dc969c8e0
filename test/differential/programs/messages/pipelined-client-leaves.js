'use strict'
// A client leaves with three requests open: each of them hears it.
// covers: 31, 35, r13
// breaks: only-the-first-aborted

const http = require('node:http')
const { dial, listen, log, logged, message, play, program, watch } = require('../../kit')

program(async () => {
  const server = http.createServer((req, res) => {
    watch(req.url, req, ['aborted', 'error', 'close'])
    watch(req.url, res, ['finish', 'close'])
    log('request', req.url)
    if (req.url === '/1') req.socket.on('close', () => log('gone'))
  })
  const wire = await dial(await listen(server))
  for (const url of ['/1', '/2', '/3']) await play(wire, [message(`GET ${url}`, []), { event: `request ${url}` }])
  wire.destroy()
  await logged('/3 close')
})
