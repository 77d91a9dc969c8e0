'use strict'
// A server that was closed may listen again while a request of before is still being answered.
// covers: 26, 27
// breaks: close-ends-busy

const http = require('node:http')
const { dial, listen, log, logged, message, program, talk } = require('../../kit')

program(async () => {
  let finish
  const server = http.createServer((req, res) => {
    log('request', req.url)
    if (req.url === '/slow') finish = () => res.end('slow')
    else res.end('quick')
  })
  server.on('close', () => log('close'))
  const wire = await dial(await listen(server))
  const answered = talk(wire, [message('GET /slow', []), /slow/, message('GET /again')])
  await logged('request /slow')
  server.close((error) => log('close callback', error))
  const port = await listen(server)
  await talk(port, message('GET /quick'))
  finish()
  await answered
  log('listening', server.listening)
  server.close()
  await logged('close')
})
