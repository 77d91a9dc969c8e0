'use strict'
// pm2 and cluster: workers share a port, take connections from the primary, and leave after disconnect().
// covers: 42, 27
// breaks: cluster-connections-lost

const cluster = require('node:cluster')
const http = require('node:http')
const { once } = require('node:events')
const { log, message, program, talk } = require('../../kit')

if (cluster.isWorker) {
  const server = http.createServer((req, res) => {
    let bytes = 0
    req.on('data', (data) => { bytes += data.length })
    req.on('end', () => res.end(`${req.url} ${bytes} ${req.socket.remoteAddress} ${req.socket.server === server}`))
  })
  process.on('disconnect', () => process.exit())
  server.listen(0, '127.0.0.1', () => process.send(`${server.listening} ${server.address().family} ${server.address().port > 0}`))
} else {
  program(async () => {
    cluster.setupPrimary({ exec: __filename })
    const workers = []
    let port = 0
    for (let i = 0; i < 2; i++) {
      const worker = cluster.fork()
      workers.push(worker)
      const [[address], [text]] = await Promise.all([once(worker, 'listening'), once(worker, 'message')])
      port ||= address.port
      log(text, address.address, address.addressType, address.port === port)
    }
    for (const path of ['/1', '/2', '/3', '/4']) {
      await talk(port, [message(`GET ${path}`, []), new RegExp(`${path} `), message(`POST ${path}`, ['Content-Length: 3', 'Connection: close'], 'abc')])
    }
    for (const worker of workers) {
      worker.disconnect()
      log('exit', ...await once(worker, 'exit'), worker.exitedAfterDisconnect)
    }
  })
}
