'use strict'
// The events of a connection's end, and of a server that waited for it, are in no domain of its last request (restify runs
// each request in one).
// covers: 36
// breaks: end-in-the-last-domain

// eslint-disable-next-line n/no-deprecated-api -- what restify uses
const domain = require('node:domain')
const http = require('node:http')
const { once } = require('node:events')
const { setImmediate } = require('node:timers')
const { listen, log, program } = require('../../kit')

const where = () => process.domain === undefined || process.domain === null ? 'none' : 'a domain'

program(async () => {
  for (const isWatched of [false, true]) {
    for (let i = 0; i < 10; i++) {
      const server = http.createServer((req, res) => domain.create().run(() => setImmediate(() => res.end('a'))))
      const seen = new Set()
      server.on('connection', (socket) => {
        if (isWatched) socket.on('close', () => seen.add(`socket ${where()}`))
      })
      server.on('close', () => seen.add(`server ${where()}`))
      const port = await listen(server)
      const closed = once(server, 'close')
      http.get({ host: '127.0.0.1', port, agent: false }, (res) => {
        res.resume()
        server.close(() => seen.add(`callback ${where()}`))
      })
      await closed
      await new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
      log(isWatched ? 'watched' : 'unwatched', [...seen].filter((event) => !event.startsWith('socket') || isWatched).sort())
    }
  }
})
