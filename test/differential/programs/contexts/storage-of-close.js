'use strict'
// A server whose connections are idle when close() is called ends in the context of that call, whatever its requests were
// in; one that waits for a last answer ends where that was given.
// covers: 27, 36
// breaks: idle-end-elsewhere

const http = require('node:http')
const https = require('node:https')
const { AsyncLocalStorage } = require('node:async_hooks')
const { once } = require('node:events')
const { setImmediate } = require('node:timers')
const { log, program } = require('../../kit')
const { certificate } = require('../../../helpers/certificates')

const storage = new AsyncLocalStorage()
const store = () => storage.getStore() ?? 'none'
const turn = () => new Promise((resolve) => setImmediate(resolve))

/** @type {Record<string, { make: (listener: any) => any, get: any, Agent: any }>} */
const kSchemes = {
  http: { make: (listener) => http.createServer(listener), get: http.get, Agent: http.Agent },
  https: { make: (listener) => https.createServer(certificate('a.test'), listener), get: https.get, Agent: https.Agent },
}

/** The call that closes a server. @type {Record<string, (server: any, close: () => void) => void>} */
const kCalls = {
  'close()': (server, close) => close(),
  'closeIdleConnections() behind close()': (server, close) => {
    close()
    storage.run('idle', () => server.closeIdleConnections())
  },
  'closeIdleConnections() before close()': (server, close) => {
    storage.run('idle', () => server.closeIdleConnections())
    close()
  },
  'closeAllConnections() behind close()': (server, close) => {
    close()
    storage.run('all', () => server.closeAllConnections())
  },
}

/** @param {{ scheme: string, idle: number, busy: number, isWatched: boolean, call: string }} what */
async function close ({ scheme, idle, busy, isWatched, call }) {
  const { make, get, Agent } = kSchemes[scheme]
  /** @type {string[]} */
  const seen = []
  /** @type {any[]} */
  const waiting = []
  const server = make((/** @type {any} */ req, /** @type {any} */ res) => storage.run('request', () => {
    if (req.url === '/busy') waiting.push(res)
    else res.end('a')
  }))
  let open = 0
  server.on(scheme === 'https' ? 'secureConnection' : 'connection', (/** @type {any} */ socket) => {
    if (!isWatched) return
    open++
    socket.on('close', () => {
      seen.push(`socket ${store()}`)
      if (--open === 0) server.emit('sockets closed')
    })
  })
  server.on('close', () => seen.push(`server ${store()}`))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address()
  const agent = new Agent({ keepAlive: true })
  /** @param {string} path @param {any} by false: its connection ends with the answer */
  const ask = (path, by) => new Promise((resolve) => {
    const options = { host: '127.0.0.1', port, path, agent: by, rejectUnauthorized: false }
    get(options, (/** @type {any} */ res) => res.resume().on('end', resolve)).on('error', resolve)
  })
  const busyOnes = Array.from({ length: busy }, () => ask('/busy', false))
  while (waiting.length < busy) await turn()
  await Promise.all(Array.from({ length: idle }, () => ask('/idle', agent)))
  const isClosed = once(server, 'close')
  storage.run('close', () => kCalls[call](server, () => server.close(() => seen.push(`callback ${store()}`))))
  if (waiting.length !== 0) {
    for (let i = 0; i < 5; i++) await turn()
    for (const res of waiting) storage.run('answer', () => res.end('b'))
    await Promise.all(busyOnes)
  }
  await isClosed
  for (let i = 0; i < 3; i++) await turn()
  if (open !== 0) await once(server, 'sockets closed')
  agent.destroy()
  return seen.sort()
}

program(async () => {
  for (const scheme of Object.keys(kSchemes)) {
    for (const call of Object.keys(kCalls)) {
      for (const isWatched of [false, true]) {
        for (const [idle, busy] of [[0, 0], [1, 0], [3, 0], [0, 1], [2, 1]]) {
          const seen = await close({ scheme, idle, busy, isWatched, call })
          log(`${scheme} ${call}, ${idle} idle, ${busy} busy, ${isWatched ? 'watched' : 'unwatched'}:`, seen)
        }
      }
    }
  }
})
