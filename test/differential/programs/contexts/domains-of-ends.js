'use strict'
// The events of a connection's end, and of a server that waited for it, are in no domain of its last request (restify runs
// each request in one), and the socket that a handler is the first to use belongs to none.
// covers: 36
// breaks: end-in-the-last-domain, socket-in-a-domain

// eslint-disable-next-line n/no-deprecated-api -- what restify uses
const domain = require('node:domain')
const http = require('node:http')
const { once } = require('node:events')
const { setImmediate } = require('node:timers')
const { listen, log, program } = require('../../kit')

const where = () => process.domain === undefined || process.domain === null ? 'none' : 'a domain'

/** What makes the socket a stream within the domain of a request. @type {Record<string, (req: any, res: any) => void>} */
const kTouches = {
  'res.write': (req, res) => res.write('a'),
  'socket.on': (req) => req.socket.on('close', () => {}),
  'socket.setTimeout': (req) => req.socket.setTimeout(60_000, () => {}),
}

async function serveTouched () {
  for (const isListening of [false, true]) {
    for (const [name, touch] of Object.entries(kTouches)) {
      const own = domain.create()
      const server = http.createServer((req, res) => domain.create().run(() => setImmediate(() => {
        process.domain.run(() => touch(req, res))
        log(`${name}, socket:`, req.socket.domain === null ? 'none' : req.socket.domain === own ? 'of listen()' : 'of the request', where())
        res.end('b')
      })))
      const port = await (isListening ? own.run(() => listen(server)) : listen(server))
      const agent = new http.Agent({ keepAlive: true })
      const [res] = await once(http.get({ host: '127.0.0.1', port, agent }), 'response')
      await once(res.resume(), 'end')
      agent.destroy()
      server.close()
      await once(server, 'close')
    }
  }
}

program(async () => {
  await serveTouched()
  for (const isWatched of [false, true]) {
    for (let i = 0; i < 10; i++) {
      const server = http.createServer((req, res) => domain.create().run(() => setImmediate(() => res.end('a'))))
      const seen = new Set()
      const ends = []
      server.on('connection', (socket) => {
        if (!isWatched) return
        socket.on('close', () => seen.add(`socket ${where()}`))
        ends.push(once(socket, 'close'))
      })
      server.on('close', () => seen.add(`server ${where()}`))
      const port = await listen(server)
      const closed = once(server, 'close')
      http.get({ host: '127.0.0.1', port, agent: false }, (res) => {
        res.resume()
        server.close(() => seen.add(`callback ${where()}`))
      })
      await closed
      await Promise.all(ends)
      await new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
      log(isWatched ? 'watched' : 'unwatched', [...seen].filter((event) => !event.startsWith('socket') || isWatched).sort())
    }
  }
})
