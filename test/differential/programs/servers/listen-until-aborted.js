'use strict'
// fastify hands a signal to listen(): aborting it closes the server.
// covers: 26, 27
// breaks: listen-signal-lost

const http = require('node:http')
const { once } = require('node:events')
const { setImmediate } = require('node:timers')
const { listen, log, message, program, talk } = require('../../kit')

program(async () => {
  const server = http.createServer((req, res) => res.end('served'))
  const controller = new AbortController()
  const port = await listen(server, { port: 0, host: '127.0.0.1', signal: controller.signal })
  await talk(port, message('GET /'))
  server.on('close', () => log('close', server.listening))
  if (!controller.signal.aborted) controller.abort()
  log('aborted', server.listening)
  if (!server.listening) await once(server, 'close')

  const late = http.createServer()
  late.on('listening', () => log('late listening'))
  late.on('close', () => log('late close'))
  late.listen({ port: 0, host: '127.0.0.1', signal: AbortSignal.abort() })
  log('late', late.listening)
  await new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
  log('late', late.listening)
  late.close()
})
