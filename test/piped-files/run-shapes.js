'use strict'

// Serves each shape once and prints what has happened, a line of JSON for each:
//
//   node --require ./watch-emit.js [--require register] run-shapes.js http1|pipelined|behind|tls|http2 [shape]

const fs = require('node:fs')
const http = require('node:http')
const https = require('node:https')
const { once } = require('node:events')
const { setTimeout: after } = require('node:timers/promises')
const { certificate } = require('../helpers/certificates')
const { piped } = require('../../packages/core-native/lib/http/piped')
const { watched } = require('./watch-emit')
const { shapes } = require('./shapes')
const { talkHttp1, talkHttp2 } = require('./client')

/** Events that depend on the network's pieces, and those of the emitter itself. */
const kQuiet = new Set(['data', 'pause', 'resume', 'drain', 'readable', 'newListener', 'removeListener', 'socket', 'prefinish'])
/** What comes late gets so long, ms. */
const kLateMs = 40
const kCloseMs = 1500
/** How long a source may need to close, ms: some never do. */
const kSourceMs = 400
/** How long a file waits behind another answer, ms: its stream is open by then. */
const kTurnMs = 20

/** @param {unknown} value @returns {string} an argument of an event */
function show (value) {
  if (value instanceof Error) {
    const { code, syscall, errno, message } = /** @type {NodeJS.ErrnoException} */ (value)
    return `${value.name}:${code}:${syscall ?? ''}:${errno ?? ''}:${syscall === 'read' ? message : ''}`
  }
  return typeof value
}

/** @param {string} name @param {string} protocol */
async function runShape (name, protocol) {
  const shape = shapes[name]
  /** The events of each source, of the response, and what the shape logs: the order between two of them is settled by threads. @type {{ sources: string[][], res: string[], rest: string[] }} */
  const logs = { sources: [], res: [], rest: [] }
  const isLoose = shape.pauseMs !== undefined || shape.destroyAfter !== undefined
  let isOn = true
  /** @type {fs.ReadStream[]} */
  const sources = []
  const see = (/** @type {string[]} */ log, /** @type {any} */ emitter, /** @type {boolean} */ isSource) => watched.set(emitter, (event, args) => {
    if (!isOn || kQuiet.has(event)) return
    const state = isSource
      ? [emitter.destroyed, emitter.closed, emitter.readableEnded, emitter.pending, emitter.bytesRead, emitter.errored?.code]
      : [emitter.destroyed, emitter.headersSent, emitter.writableEnded, emitter.writableFinished]
    const shown = state.map((value) => typeof value === 'number' && value > 0 && isLoose ? 'some' : String(value))
    log.push(`${event}(${args.map(show).join()}) ${shown.join(' ')}`)
  })
  Object.assign(piped, { taken: 0, returned: 0, reason: '' })
  const onRequest = (/** @type {any} */ req, /** @type {any} */ res) => {
    if (req.url === '/after') return res.end('after')
    if (req.url === '/before') return setTimeout(() => res.end('before'), kTurnMs)
    see(logs.res, res, false)
    res.once('close', () => setTimeout(closed, kLateMs, true))
    const log = (/** @type {unknown[]} */ ...words) => { if (isOn) logs.rest.push(words.map(String).join(' ')) }
    shape.run({
      req,
      res,
      log,
      note: (/** @type {string} */ what) => () => log('note', what),
      read: (/** @type {any} */ at, /** @type {any} */ options) => {
        const source = fs.createReadStream(at, options)
        logs.sources.push([])
        sources.push(source)
        see(logs.sources[logs.sources.length - 1], source, true)
        return source
      },
      midway: (/** @type {fs.ReadStream} */ source, /** @type {() => void} */ then) => {
        const timer = setInterval(() => {
          if (source.bytesRead === 0) return
          clearInterval(timer)
          then()
        }, 1)
      },
      expectUncaught: (/** @type {(() => void) | undefined} */ then) => process.once('uncaughtException', (error) => {
        log('uncaught', /** @type {any} */ (error).code)
        if (then !== undefined) return then()
        res.statusCode = 500
        res.end('uncaught')
      })
    })
  }
  /** @type {(isClosed: boolean) => void} */
  let closed = () => {}
  const isClosed = new Promise((resolve) => { closed = resolve })
  const options = { keepAliveTimeout: 300 }
  const server = protocol === 'tls' ? https.createServer({ ...options, ...certificate('localhost') }, onRequest) : http.createServer({ ...options, ...protocol === 'http2' ? { http2: true } : {} }, onRequest)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  const paths = protocol === 'behind' ? ['/before', '/shape', '/after'] : ['/shape', '/after']
  const methods = paths.map((at) => at === '/shape' ? shape.method ?? 'GET' : 'GET')
  const { pauseMs, destroyAfter } = shape
  const answers = protocol === 'http2'
    ? await talkHttp2({ port, methods, paths, pauseMs, destroyAfter })
    : await talkHttp1({ port, isSecure: protocol === 'tls', isPipelined: protocol === 'pipelined' || protocol === 'behind', methods, paths, file: paths.length - 2, pauseMs, destroyAfter })
  if (!await Promise.race([isClosed, after(kCloseMs, false)])) logs.rest.push('the response never closed')
  await after(kLateMs)
  for (let ms = 0; ms < kSourceMs && sources.some(({ closed }) => !closed); ms += kLateMs) await after(kLateMs)
  isOn = false
  server.closeAllConnections()
  server.close()
  return { name, ...logs, answers, piped: { ...piped } }
}

async function main () {
  const [protocol, only] = process.argv.slice(2)
  for (const name of Object.keys(shapes)) {
    if (only !== undefined && only !== name) continue
    process.stdout.write(`${JSON.stringify(await runShape(name, protocol))}\n`)
  }
  process.exit()
}

main()
