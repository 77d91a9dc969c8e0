'use strict'

// Lets an unmodified program serve on the engine:
//
//   node --require @httpsys/core-native/register app.js
//
// or --import, which has compile hooks of CommonJS skip the program on Node 20 (docs/register.md).
//
// Replaces what node:http and node:https export for servers, `Server` and `createServer`. Everything else stays
// Node's: requests and responses are Node's classes anyway, and node:http2 has servers of its own, of which a warning tells.

const fs = require('node:fs')
const os = require('node:os')
const http = require('node:http')
const http2 = require('node:http2')
const https = require('node:https')
const { syncBuiltinESMExports } = require('node:module')
const { setImmediate } = require('node:timers')
const { isMainThread, threadId } = require('node:worker_threads')
const core = require('./index.js')
const { loadBinding } = require('./lib/backend/binding')
const { setPinning } = require('./lib/http/insert-prototype')
const { served } = require('./lib/http/served')
const { readListenVariable } = require('./lib/listen/listen-variable')
const { standIn } = require('./lib/options/stand-in')

const kNames = /** @type {const} */ (['Server', 'createServer'])
const kFaces = [
  { of: http, ours: core, StockServer: http.Server },
  { of: https, ours: core.https, StockServer: https.Server }
]

// Their handlers get other requests and responses than those of node:http.
const kHttp2Names = /** @type {const} */ (['createServer', 'createSecureServer'])
// What ends a process that does not handle it.
const kSignals = /** @type {const} */ (['SIGHUP', 'SIGINT', 'SIGQUIT', 'SIGTERM'])

/** What was there before; null when it still is. @type {{ face: any, name: string, original: PropertyDescriptor }[] | null} */
let originals = null

/**
 * Puts our servers in the place of Node's, for `require`, `import` and what has already been imported.
 * Idempotent. Servers that exist already stay what they are.
 */
function register () {
  if (originals !== null) return
  // Before anything is replaced: a value that cannot be used ends the process.
  standIn.mappings = readListenVariable()
  originals = []
  standIn.isRegistered = true
  setPinning(true)
  for (const face of kFaces) {
    for (const name of kNames) {
      const original = /** @type {PropertyDescriptor} */ (Object.getOwnPropertyDescriptor(face.of, name))
      originals.push({ face, name, original })
      Object.defineProperty(face.of, name, { ...original, value: face.ours[name] })
    }
    // Servers of the time before are still servers; so are those of libraries that kept Node's class.
    Object.defineProperty(face.ours.Server, Symbol.hasInstance, { configurable: true, value: isServer })
  }
  if (core.backend === 'engine') {
    const face = { of: http2, ours: Object.fromEntries(kHttp2Names.map((name) => [name, warning(name)])) }
    for (const name of kHttp2Names) {
      const original = /** @type {PropertyDescriptor} */ (Object.getOwnPropertyDescriptor(http2, name))
      originals.push({ face, name, original })
      Object.defineProperty(http2, name, { ...original, value: face.ours[name] })
    }
  }
  syncBuiltinESMExports()
}

let isWarned = false

/**
 * A function of node:http2 that warns of what it does; once for the whole process.
 *
 * @param {typeof kHttp2Names[number]} name
 */
function warning (name) {
  const stock = http2[name]
  /** @this {unknown} @param {...any} args */
  const create = function (...args) {
    if (!isWarned) {
      isWarned = true
      process.emitWarning(`http2.${name}() of this program runs on Node's own code, which @httpsys/core-native/register leaves as it is. ` +
        'A server of node:https is served by the engine, over HTTP/2, too', { code: 'HTTPSYS_HTTP2_STOCK' })
    }
    return Reflect.apply(stock, this, args)
  }
  Object.defineProperties(create, { name: { value: stock.name, configurable: true }, length: { value: stock.length, configurable: true } })
  return create
}

/**
 * Undoes register(); idempotent. What another program has put over ours meanwhile, such as
 * instrumentation, is left alone.
 *
 * @returns {boolean} whether nothing of ours is left
 */
function unregister () {
  if (originals === null) return true
  let isClean = true
  for (const { face, name, original } of originals) {
    if (face.of[name] === face.ours[name]) Object.defineProperty(face.of, name, original)
    else isClean = false
  }
  for (const { ours } of kFaces) Reflect.deleteProperty(ours.Server, Symbol.hasInstance)
  originals = null
  standIn.isRegistered = false
  setPinning(false)
  syncBuiltinESMExports()
  return isClean
}

/** @this {Function} @param {unknown} value */
function isServer (value) {
  const face = kFaces.find(({ ours }) => this === ours.Server)
  if (face !== undefined) return value instanceof face.StockServer
  return Function.prototype[Symbol.hasInstance].call(this, value)
}

/** Appends what this process or worker has served. @param {string} file */
function reportTo (file) {
  fs.appendFileSync(file, `${JSON.stringify({ pid: process.pid, threadId, backend: core.backend, ...served })}\n`)
}

/**
 * Reports when a signal is about to end the process, and lets it. A program that listens for the signal decides by itself.
 *
 * @param {string} file
 */
function reportSignals (file) {
  const { watchSignal } = loadBinding()
  if (watchSignal === undefined) return
  // A signal is watched while nobody listens for it. A watch beside a listener of once() would find nobody there either: who hears a signal
  // is decided when it comes.
  /** @type {Map<string | symbol, (() => void) | undefined>} */
  const watches = new Map()
  const watch = (/** @type {typeof kSignals[number]} */ name) => {
    const end = watchSignal(os.constants.signals[name], () => {
      reportTo(file)
      end?.()
      process.kill(process.pid, name)
    })
    watches.set(name, end)
  }
  for (const name of kSignals) watch(name)
  process.on('newListener', (name) => {
    watches.get(name)?.()
    watches.delete(name)
  })
  process.on('removeListener', (name) => {
    const signal = kSignals.find((one) => one === name)
    if (signal !== undefined && !watches.has(signal) && process.listenerCount(signal) === 0) watch(signal)
  })
  // A program may send the signal to itself as the last thing that it does. The watch takes the signal, and keeps no loop running: the loop
  // turns once more for it.
  let hasTurned = false
  process.on('beforeExit', () => {
    hasTurned = !hasTurned
    if (hasTurned) setImmediate(() => {})
  })
}

// A run that never reached the engine must not pass for one that did.
const { HTTPSYS_REGISTER_REPORT: report } = process.env
if (report) {
  process.on('exit', () => reportTo(report))
  // Signals are the main thread's.
  if (isMainThread && core.backend === 'engine') reportSignals(report)
}

register()

module.exports = { register, unregister, served }
