'use strict'

// Two processes on one queue, of which one is blocked by one of many requests that come at once: how many of the others
// wait for it? The blocked thread sleeps: it takes no CPU from those that answer. The same requests without the block, in turn with
// the others, show what the machine and the client make late by themselves.

const http2 = require('node:http2')
const net = require('node:net')
const tls = require('node:tls')
const v8 = require('node:v8')
const vm = require('node:vm')
const { once } = require('node:events')
const fs = require('node:fs')
const { spread } = require('../lib/statistics')
const { keyPair } = require('../tls/measure')
const { Group } = require('./group')

const kAtOnce = 64
const kRuns = 20
const kBlockMs = 1500
/** Who waits longer has waited for the blocked thread. */
const kLateMs = 20
/** The request that blocks is not among them. */
const kTarget = 2
/** So that V8 has optimized both sides. */
const kWarmRounds = 100
const kSessions = 8

/** @typedef {(path: string) => Promise<void>} Ask */
/** @typedef {{ late: number, longest: number }} Run `longest`: ms */
/** @typedef {{ title: string, isSecure: boolean, open: (port: number, trust: tls.ConnectionOptions) => Promise<{ asks: Ask[], close: () => void }> }} Form */

/** @param {net.Socket} socket @param {string} path @returns {Promise<void>} */
function askOn (socket, path) {
  return new Promise((resolve, reject) => {
    let text = ''
    const done = (/** @type {Error | undefined} */ error) => {
      socket.removeAllListeners('data')
      socket.removeAllListeners('close')
      if (error === undefined) resolve()
      else reject(error)
    }
    socket.on('data', (piece) => {
      text += piece.toString('latin1')
      const end = text.indexOf('\r\n\r\n')
      if (end === -1 || text.length < end + 4 + Number(/content-length: (\d+)/i.exec(text)?.[1])) return
      done(text.startsWith('HTTP/1.1 200 ') ? undefined : new Error(`pulled requests: ${text.slice(0, 100)}`))
    })
    socket.on('close', () => done(new Error('pulled requests: a connection was closed')))
    socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`)
  })
}

/** @param {() => net.Socket} connect @param {string} event */
async function keptConnections (connect, event) {
  const sockets = await Promise.all(Array.from({ length: kAtOnce }, async () => {
    const socket = connect()
    await once(socket, event)
    return socket.setNoDelay(true)
  }))
  return {
    asks: sockets.map((socket) => (/** @type {string} */ path) => askOn(socket, path)),
    close: () => { for (const socket of sockets) socket.destroy() },
  }
}

/** @type {Form[]} */
const kForms = [
  {
    title: 'new connections',
    isSecure: false,
    open: async (port) => ({
      asks: Array.from({ length: kAtOnce }, () => async (path) => {
        const socket = net.connect({ port, host: '127.0.0.1', noDelay: true })
        await once(socket, 'connect')
        await askOn(socket, path)
        socket.destroy()
      }),
      close: () => {},
    }),
  },
  { title: 'kept connections', isSecure: false, open: (port) => keptConnections(() => net.connect({ port, host: '127.0.0.1' }), 'connect') },
  { title: 'kept connections with TLS', isSecure: true, open: (port, trust) => keptConnections(() => tls.connect({ port, host: '127.0.0.1', ...trust }), 'secureConnect') },
  {
    title: 'streams of HTTP/2',
    isSecure: true,
    open: async (port, trust) => {
      const sessions = await Promise.all(Array.from({ length: kSessions }, async () => {
        const session = http2.connect(`https://127.0.0.1:${port}`, trust)
        await once(session, 'remoteSettings')
        return session
      }))
      return {
        asks: Array.from({ length: kAtOnce }, (_, index) => async (path) => {
          const stream = sessions[index % kSessions].request({ ':path': path, ':authority': 'localhost' })
          const [headers] = await once(stream, 'response')
          if (headers[':status'] !== 200) throw new Error(`pulled requests: answered ${headers[':status']}`)
          await once(stream.resume(), 'end')
        }),
        close: () => { for (const session of sessions) session.destroy() },
      }
    },
  },
]

/** @param {Ask} ask @param {string} path @returns {Promise<number>} ms */
async function timeOf (ask, path) {
  const start = performance.now()
  await ask(path)
  return performance.now() - start
}

/** The client collects its garbage before it measures, not meanwhile. */
function garbageCollector () {
  v8.setFlagsFromString('--expose-gc')
  return /** @type {() => void} */ (vm.runInNewContext('gc'))
}

/**
 * @param {Ask[]} asks @param {number} run @param {string} path what one of them asks for
 * @returns {Promise<Run>} of the others
 */
async function measureOnce (asks, run, path) {
  const at = run % asks.length
  const all = asks.map((ask, index) => timeOf(ask, index === at ? path : '/'))
  const [blocking] = all.splice(at, 1)
  const times = await Promise.all(all)
  await blocking
  return { late: times.filter((ms) => ms > kLateMs).length, longest: Math.max(...times) }
}

/** @param {Form} form */
async function measureForm ({ title, isSecure, open }) {
  const files = isSecure ? keyPair('ec') : null
  const group = await Group.queue({ members: 2, files })
  try {
    const trust = files === null ? {} : { ca: fs.readFileSync(files.cert), servername: 'localhost' }
    const { asks, close } = await open(group.port, trust)
    for (let round = 0; round < kWarmRounds; round++) await Promise.all(asks.map((ask) => ask('/')))
    const collectGarbage = garbageCollector()
    /** @type {Run[]} */
    const runs = []
    /** @type {Run[]} */
    const unblocked = []
    for (let run = 0; run < kRuns; run++) {
      for (const [results, path] of /** @type {const} */ ([[unblocked, '/'], [runs, `/sleep/${kBlockMs}`]])) {
        await Promise.all(asks.map((ask) => ask('/')))
        collectGarbage()
        results.push(await measureOnce(asks, run, path))
      }
    }
    close()
    const summary = (/** @type {Run[]} */ of) => ({ late: spread(of.map(({ late }) => late)), longest: spread(of.map(({ longest }) => longest)) })
    const text = (/** @type {Run[]} */ of) =>
      `late ${of.map(({ late }) => late).join(' ')}; longest wait ${of.map(({ longest }) => longest.toFixed(0)).join(' ')} ms`
    console.log(`  ${title}: ${text(runs)}\n  ${title}, nothing blocked: ${text(unblocked)}`)
    const measured = { title, ...summary(runs), unblocked: summary(unblocked) }
    return measured
  } finally {
    await group.stop()
  }
}

/** On all CPUs. */
async function measurePulled () {
  const forms = []
  for (const form of kForms) forms.push(await measureForm(form))
  return {
    title: `${kAtOnce} requests at once to two processes on one queue, one of which blocks its JavaScript thread for ${kBlockMs / 1000} s, ${kRuns} times: how many of the others wait longer than ${kLateMs} ms`,
    forms,
    target: kTarget,
  }
}

module.exports = { measurePulled }
