'use strict'
// The events of a connection's end are not those of its last request, whose store they would keep; nor is the end of a server
// that was closed behind the last answer. What a handler destroys, or answers behind close(), ends there and then.
// covers: 36
// breaks: idle-end-elsewhere

const http = require('node:http')
const { AsyncLocalStorage } = require('node:async_hooks')
const { once } = require('node:events')
const { setImmediate } = require('node:timers')
const { dial, log, message, play, program } = require('../../kit')

const storage = new AsyncLocalStorage()
const store = () => storage.getStore() ?? 'none'

/** How a handler ends a connection by itself. @type {Record<string, (req: any, res: any) => void>} */
const kEnds = {
  destroyed: (req) => req.socket.destroy(),
  'destroyed with an error': (req) => {
    req.socket.on('error', (/** @type {Error} */ error) => log(`${error.message} ${store()}`))
    req.socket.destroy(new Error('of the handler'))
  },
  'destroyed on finish': (req, res) => res.on('finish', () => req.socket?.destroy()).end('a'),
  reset: (req) => req.socket.resetAndDestroy(),
}

/** How a handler answers. @type {Record<string, (res: any, close: () => void) => void>} */
const kAnswers = {
  'at once': (res) => res.end('a'),
  later: (res) => setImmediate(() => res.end('a')),
  'in pieces': (res) => {
    res.write('a')
    setImmediate(() => res.end('b'))
  },
  'behind close()': (res, close) => {
    res.write('a')
    setImmediate(() => {
      storage.exit(close)
      setImmediate(() => res.end('b'))
    })
  },
}

/** @param {boolean} isWatched its sockets have listeners @param {(req: any, res: any, close: () => void) => void} handle */
async function serve (isWatched, handle) {
  /** @type {Set<string>} */
  const seen = new Set()
  let open = 0
  const server = http.createServer((req, res) => storage.run('request', () => handle(req, res, close)))
  const close = () => {
    if (server.listening) server.close(() => seen.add(`callback ${store()}`))
  }
  server.on('connection', (socket) => {
    if (!isWatched) return
    open++
    socket.on('close', () => {
      seen.add(`socket ${store()}`)
      if (--open === 0) server.emit('sockets closed')
    })
  })
  server.on('close', () => seen.add(`server ${store()}`))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const ended = async () => {
    if (server.listening) await once(server, 'close')
    for (let i = 0; i < 3; i++) await new Promise((resolve) => setImmediate(resolve))
    if (open !== 0) await once(server, 'sockets closed')
    return [...seen].sort()
  }
  return { port: server.address().port, close, ended }
}

program(async () => {
  for (const isWatched of [false, true]) {
    const how = isWatched ? ', watched:' : ':'
    for (const [name, end] of Object.entries(kEnds)) {
      const { port, ended } = await serve(isWatched, (req, res, close) => {
        storage.run('close', close)
        end(req, res)
      })
      const wire = await dial(port)
      const done = ended()
      await play(wire, [message('GET /', [])])
      await wire.untilClosed()
      log(`${name}${how}`, await done)
    }
    for (const [name, answer] of Object.entries(kAnswers)) {
      for (const keepAlive of [false, true]) {
        // Closed while the answer is on its way: its connection is what the server waits for.
        for (let i = 0; i < 10; i++) {
          const { port, close, ended } = await serve(isWatched, (req, res, close) => answer(res, close))
          const agent = new http.Agent({ keepAlive })
          const done = ended()
          http.get({ host: '127.0.0.1', port, agent }, (res) => {
            res.resume().on('end', () => agent.destroy())
            close()
          })
          log(`answered ${name}, ${keepAlive ? 'kept' : 'closed'}${how}`, await done)
        }
      }
    }
  }
})
