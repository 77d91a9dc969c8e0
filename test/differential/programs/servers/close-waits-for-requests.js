'use strict'
// Orchestrators stop a service with SIGTERM: close() takes no more connections and calls back after the last answer.
// covers: 27
// breaks: close-ends-busy

const http = require('node:http')
const net = require('node:net')
const { dial, listen, log, logged, message, program, talk, within } = require('../../kit')

program(async () => {
  let finish
  const server = http.createServer((req, res) => {
    log('request', req.url)
    if (req.url === '/slow') finish = () => res.end('slow')
    else res.end('quick')
  })
  // Nothing but close() ends the idle one within the program.
  server.keepAliveTimeout = 60_000
  const port = await listen(server)
  const idle = await dial(port)
  await talk(idle, [message('GET /quick', [])], /quick/)
  idle.socket.on('close', () => log('the idle one was closed'))
  const busy = await dial(port)
  const answered = talk(busy, message('GET /slow'))
  await logged('request /slow')
  log(server.close((error) => log('closed', error)) === server)
  if (await within(logged('the idle one was closed'), 'late') === 'late') log('the idle one is open')
  const late = net.connect(port, '127.0.0.1').on('error', ({ code }) => log('late', code)).on('connect', () => late.destroy())
  await logged('late')
  log('listening', server.listening)
  finish()
  await answered
  await logged('closed')
})
