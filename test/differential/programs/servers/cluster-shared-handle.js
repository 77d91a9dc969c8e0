'use strict'
// With SCHED_NONE each worker accepts by itself on the shared descriptor; a worker that is gone leaves the port to the others.
// covers: 42, 26
// breaks: shared-handles-not-heard

const cluster = require('node:cluster')
const http = require('node:http')
const { once } = require('node:events')
const { log, message, program, talk } = require('../../kit')

cluster.schedulingPolicy = cluster.SCHED_NONE
if (cluster.isWorker) {
  const server = http.createServer((req, res) => res.end(`${req.url} ${req.socket.localAddress}`))
  process.on('disconnect', () => process.exit())
  server.on('error', ({ code }) => process.send(code)).listen(Number(process.env.PORT_OF_TEST), '127.0.0.1')
} else {
  program(async () => {
    cluster.setupPrimary({ exec: __filename })
    const first = cluster.fork({ PORT_OF_TEST: '0' })
    const [{ port, address }] = await once(first, 'listening')
    log('listening', address, port > 0)
    await talk(port, message('GET /1'))
    const second = cluster.fork({ PORT_OF_TEST: String(port) })
    const [reported] = await Promise.race([once(second, 'listening'), once(second, 'message')])
    log('second', reported.address ?? reported)
    second.kill()
    await once(second, 'exit')
    await talk(port, message('GET /2'))
    first.disconnect()
    log('exit', ...await once(first, 'exit'))
  })
}
