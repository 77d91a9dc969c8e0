'use strict'

// Lets an unmodified program serve on the engine:
//
//   node --require @httpsys/core-native/register app.js
//
// or --import, with which compile hooks of CommonJS skip the program on Node 20 (docs/register.md).
//
// Replaces the exports `Server` and `createServer` of node:http and node:https. Everything else stays Node's:
// requests and responses are Node's classes anyway, and servers of node:http2 stay Node's, with a warning.

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

// Functions of node:http2 to which register() only adds a warning, because their handlers get requests and responses of other classes.
const kHttp2Names = /** @type {const} */ (['createServer', 'createSecureServer'])
// Signals that end a process without a handler; reportSignals() writes the report before that.
const kSignals = /** @type {const} */ (['SIGHUP', 'SIGINT', 'SIGQUIT', 'SIGTERM'])

/**
 * Node's replaced exports, for unregister(); null: nothing is replaced.
 *
 * @type {{ face: any, name: string, original: PropertyDescriptor }[] | null}
 */
let originals = null

/**
 * Replaces Node's servers by ours, for `require`, `import` and names that are already imported.
 * Idempotent. Existing servers do not change.
 */
function register () {
  if (originals !== null) return
  // Read the variable before anything is replaced, because an invalid value throws.
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
    // Earlier servers, and those of libraries that kept Node's class, must still be `instanceof Server`.
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
 * Makes a replacement for a function of node:http2: it warns that Node's own code serves, once per process, and calls Node's.
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
 * Undoes register(); idempotent. An export that other code (such as instrumentation) has replaced
 * meanwhile stays.
 *
 * @returns {boolean} false: such an export stays, which may still use ours
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

/** Appends the counters of what this process or worker has served to a file. @param {string} file */
function reportTo (file) {
  fs.appendFileSync(file, `${JSON.stringify({ pid: process.pid, threadId, backend: core.backend, ...served })}\n`)
}

/**
 * Makes the process write the report before a signal ends it. If the program listens for the signal, the program decides what happens.
 *
 * @param {string} file
 */
function reportSignals (file) {
  const { watchSignal } = loadBinding()
  if (watchSignal === undefined) return
  // Watch a signal only while the program has no listener for it. To watch always, and check for listeners when the signal comes, would
  // fail with once(): its listener is removed before the watch runs.
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
  // If the program's last action is to send the signal to itself, the event loop must turn once more for the watch to run: the watch
  // takes the signal, but does not keep the loop alive.
  let hasTurned = false
  process.on('beforeExit', () => {
    hasTurned = !hasTurned
    if (hasTurned) setImmediate(() => {})
  })
}

// With HTTPSYS_REGISTER_REPORT each process reports what it served, so that a test run that never used the engine is noticed.
const { HTTPSYS_REGISTER_REPORT: report } = process.env
if (report) {
  process.on('exit', () => reportTo(report))
  // Only the main thread can watch signals.
  if (isMainThread && core.backend === 'engine') reportSignals(report)
}

register()

module.exports = { register, unregister, served }
