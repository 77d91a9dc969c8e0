'use strict'

// Programs that fast-path.test.js runs in a process or a thread of their own.

const { PerformanceObserver, constants } = require('node:perf_hooks')
const { isMainThread, parentPort } = require('node:worker_threads')
const { WebSocketServer } = require('../..')

const kMessages = 500
const kClients = 3

const say = (/** @type {any} */ message) => isMainThread ? process.send?.(message) : parentPort?.postMessage(message)

/** @type {Record<string, (wss: any) => void>} */
const programs = {
  echo (wss) {
    wss.on('connection', (/** @type {any} */ socket) => {
      socket.on('message', (/** @type {Buffer} */ data, /** @type {boolean} */ isBinary) => socket.send(data, { binary: isBinary }))
    })
  },
  // Answers each message with a byte, and says how often garbage was collected meanwhile.
  sink (wss) {
    const counts = { minor: 0, major: 0 }
    const observer = new PerformanceObserver((list) => {
      for (const { detail } of list.getEntries()) {
        counts[/** @type {any} */ (detail).kind === constants.NODE_PERFORMANCE_GC_MINOR ? 'minor' : 'major']++
      }
    })
    observer.observe({ entryTypes: ['gc'] })
    wss.on('connection', (/** @type {any} */ socket) => {
      socket.on('message', (/** @type {Buffer} */ data) => {
        if (data.length !== 0) socket.send('.')
        else setImmediate(() => socket.send(JSON.stringify(counts)))
      })
    })
  },
  exit (wss) {
    wss.on('connection', () => {
      if (wss.clients.size < kClients) return
      for (const client of wss.clients) for (let i = 0; i < kMessages; i++) client.send(`message ${i}`)
      process.exit(0)
    })
  },
  'broadcast-exit' (wss) {
    wss.on('connection', () => {
      if (wss.clients.size < kClients) return
      for (let i = 0; i < kMessages - 1; i++) wss.broadcast(`message ${i}`)
      process.on('exit', () => wss.broadcast('message on exit'))
      process.exit(0)
    })
  },
  throw (wss) {
    /** @type {string[]} */
    const thrown = []
    process.on('uncaughtException', (error) => thrown.push(error.message))
    process.on('message', () => say(thrown))
    wss.on('connection', (/** @type {any} */ socket) => {
      socket.on('message', (/** @type {Buffer} */ data) => {
        if (String(data) === 'throw') throw new Error('thrown by a handler')
        socket.send(String(data))
      })
    })
  }
}

const wss = new WebSocketServer({ port: 0, host: '127.0.0.1' }, () => say(wss.address().port))
programs[process.argv[2]](wss)
